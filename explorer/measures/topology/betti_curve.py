"""Betti curve: how many holes there are at each radius."""

from __future__ import annotations

import numpy as np
import torch

from explorer.homology import betti_curve, rips
from explorer.measures.registry import Measure, Result
from explorer.measures.topology.persistence import DEGREE, PARAMETERS

POINTS = 201


def compute(x: torch.Tensor, degree: int, metric: str, max_points: int, seed: int) -> Result:
    """Area under the curve over radius / diameter; ``details`` holds ``radii`` (of the diameter) and ``counts``."""
    found = rips(x, max(degree, 1), metric, max_points, seed)
    bars = found.bars(degree)
    radii = np.linspace(0, 1, POINTS)
    details = {"radii": radii, "counts": betti_curve(bars, radii)}
    return Result(float((bars[:, 1] - bars[:, 0]).sum()), details=details, notes=found.notes(len(x)))


MEASURE = Measure(
    id="betti_curve",
    name="Betti curve",
    family="topology",
    kind="single",
    authors="Giusti, Pastalkova, Curto & Itskov",
    year=2015,
    title="Clique topology reveals intrinsic geometric structure in neural correlations",
    formula=r"\beta_q(r) = \#\{j : b_j \le r < d_j\}",
    range=(0.0, float("inf")),
    higher_means="more holes over more radii",
    cost="that of persistence",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="The area equals total persistence at power 1; the curve itself is in the details. Needs a null to read.",
    parameters=(DEGREE, *PARAMETERS),
    min_items=3,
    compute=compute,
)
