"""Persistent entropy: how evenly the total length is spread over the bars."""

from __future__ import annotations

import math

import numpy as np
import torch

from explorer.homology import lifetimes, rips
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.measures.topology.persistence import DEGREE, PARAMETERS


def compute(x: torch.Tensor, degree: int, normalise: bool, metric: str, max_points: int, seed: int) -> Result:
    """Shannon entropy (nats) of the finite bars' shares of the total length."""
    found = rips(x, max(degree, 1), metric, max_points, seed)
    bars = lifetimes(found.bars(degree))
    bars = bars[bars > 0]
    if not len(bars):
        raise Undefined(f"there is no finite bar in dimension {degree}, so there is nothing to share")
    share = bars / bars.sum()
    value = float(-(share * np.log(share)).sum())
    if normalise:
        value = value / math.log(len(bars)) if len(bars) > 1 else 0.0
    return Result(max(value, 0.0), details={"bars": len(bars)}, notes=found.notes(len(x)))


MEASURE = Measure(
    id="persistence_entropy",
    name="Persistent entropy",
    family="topology",
    kind="single",
    authors="Atienza, Gonzalez-Diaz & Rucco",
    year=2019,
    title="Persistent entropy for separating topological features from noise in Vietoris-Rips complexes",
    formula=r"-\sum_j p_j \log p_j,\quad p_j = (d_j - b_j) / \sum_i (d_i - b_i)",
    range=(0.0, float("inf")),
    higher_means="more bars of like length",
    cost="that of persistence",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Ignores how long the bars are; bars that never die are left out.",
    parameters=(DEGREE, Parameter("normalise", False, "divide by the log of the number of bars"), *PARAMETERS),
    min_items=3,
    compute=compute,
)
