"""Stable rank: total variance over the largest variance of a direction."""

from __future__ import annotations

import torch

from explorer.linalg import covariance_spectrum
from explorer.measures.registry import Measure, Result


def compute(x: torch.Tensor) -> Result:
    """Squared Frobenius norm over squared spectral norm of the centred features."""
    eigenvalues = covariance_spectrum(x)
    return Result(float(eigenvalues.sum() / eigenvalues[0]))


MEASURE = Measure(
    id="stable_rank",
    name="Stable rank",
    family="spectrum",
    kind="single",
    authors="Rudelson & Vershynin",
    year=2007,
    title="Sampling from large matrices: An approach through geometric functional analysis",
    formula=r"\lVert X_c \rVert_F^2 / \lVert X_c \rVert_2^2",
    range=(1.0, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Robust to many small directions, but one outlier direction alone brings it to 1.",
    compute=compute,
)
