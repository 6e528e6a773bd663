"""Participation ratio: how many principal components share the variance."""

from __future__ import annotations

import torch

from explorer.linalg import covariance_spectrum
from explorer.measures.registry import Measure, Result


def compute(x: torch.Tensor) -> Result:
    """(sum of eigenvalues)^2 / sum of squared eigenvalues of the covariance."""
    eigenvalues = covariance_spectrum(x)
    value = float(eigenvalues.sum().square() / eigenvalues.square().sum())
    shares = (eigenvalues / eigenvalues.sum()).cpu().numpy()
    return Result(value, details={"variance_shares": shares})


MEASURE = Measure(
    id="participation_ratio",
    name="Participation ratio",
    family="spectrum",
    kind="single",
    authors="Gao, Trautmann, Yu, Santhanam, Ryu, Shenoy & Ganguli",
    year=2017,
    title="A theory of multineuronal dimensionality, dynamics and measurement",
    formula=r"\frac{(\sum_i \lambda_i)^2}{\sum_i \lambda_i^2}",
    range=(1.0, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="A linear dimension: one outlier feature with most of the variance brings it close to 1.",
    compute=compute,
)
