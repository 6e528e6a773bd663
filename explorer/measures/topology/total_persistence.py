"""Total persistence: the summed lengths of all bars."""

from __future__ import annotations

import torch

from explorer.homology import lifetimes, rips
from explorer.measures.registry import Measure, Parameter, Result
from explorer.measures.topology.persistence import DEGREE, PARAMETERS


def compute(x: torch.Tensor, degree: int, power: float, metric: str, max_points: int, seed: int) -> Result:
    """Sum over the finite bars of (length / diameter) ^ power."""
    found = rips(x, max(degree, 1), metric, max_points, seed)
    bars = lifetimes(found.bars(degree))
    return Result(float((bars**power).sum()), details={"bars": len(bars)}, notes=found.notes(len(x)))


MEASURE = Measure(
    id="total_persistence",
    name="Total persistence",
    family="topology",
    kind="single",
    authors="Cohen-Steiner, Edelsbrunner, Harer & Mileyko",
    year=2010,
    title="Lipschitz Functions Have Lp-Stable Persistence",
    formula=r"\sum_j \big((d_j - b_j) / \mathrm{diam}\,X\big)^p",
    range=(0.0, float("inf")),
    higher_means="more and longer bars",
    cost="that of persistence",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Many short bars of noise weigh as much as one long one at power 1; one far item changes the diameter.",
    parameters=(DEGREE, Parameter("power", 1.0, "power of each length", minimum=0.1, maximum=10.0), *PARAMETERS),
    min_items=3,
    compute=compute,
)
