"""Interference: how much directions overlap, against random directions in the same space."""

from __future__ import annotations

import torch

from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Result


def compute(x: torch.Tensor) -> Result:
    """Mean squared cosine over pairs, times d; ``items`` holds each item's own."""
    unit = unit_rows(x).double()
    n, d = unit.shape
    # Sums of squared inner products come from the d x d moment, without the n x n matrix.
    moment = unit.T @ unit if d <= n else None
    squares = ((unit @ moment) * unit).sum(dim=1) if moment is not None else (unit @ unit.T).square().sum(dim=1)
    items = (squares - unit.square().sum(dim=1).square()) / (n - 1)
    mean = float(items.mean())
    return Result(
        max(mean * d, 0.0), items=(items * d).cpu().numpy(), details={"mean_squared_cosine": mean, "random": 1 / d}
    )


MEASURE = Measure(
    id="interference",
    name="Interference",
    family="isotropy",
    kind="single",
    authors="Elhage, Hume, Olsson, Schiefer, Henighan, Kravec, et al.",
    year=2022,
    title="Toy Models of Superposition",
    formula=r"\frac{d}{n(n-1)}\sum_{i \ne j}\cos^2(x_i, x_j)",
    range=(0.0, float("inf")),
    higher_means="more overlap",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="1 is what random directions give; the Welch bound allows (n - d) / (n - 1) at least where n exceeds d.",
    compute=compute,
    per_item=True,
)
