"""Uniformity: how evenly unit-length items spread over the sphere."""

from __future__ import annotations

import math

import torch

from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import chunk_rows


def compute(x: torch.Tensor, t: float) -> Result:
    """log of the mean over pairs i < j of exp(-t |u_i - u_j|^2), in row blocks."""
    unit = unit_rows(x).double()
    n = len(unit)
    total = 0.0
    rows = chunk_rows(n)
    for start in range(0, n, rows):
        block = unit[start : start + rows]
        squared = (2 - 2 * (block @ unit.T)).clamp(min=0)
        total += float(torch.exp(-t * squared).sum())
    # Every item meets itself once, at distance zero.
    return Result(math.log(max((total - n) / (n * (n - 1)), math.ulp(0.0))))


MEASURE = Measure(
    id="uniformity",
    name="Uniformity",
    family="isotropy",
    kind="single",
    authors="Wang & Isola",
    year=2020,
    title="Understanding Contrastive Representation Learning through Alignment and Uniformity on the Hypersphere",
    formula=r"\log \frac{2}{n(n-1)}\sum_{i<j} e^{-t \lVert u_i - u_j \rVert^2}",
    range=(-math.inf, 0.0),
    higher_means="less uniform",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="Lower is more uniform; the value for perfect uniformity depends on the dimension.",
    parameters=(Parameter("t", 2.0, "sharpness of the kernel", minimum=1e-3, maximum=100.0),),
    compute=compute,
)
