"""PCA dimension: how many principal components carry a share of the variance."""

from __future__ import annotations

import torch

from explorer.linalg import covariance_spectrum
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, share: float) -> Result:
    """The fewest components whose variances sum to the share."""
    eigenvalues = covariance_spectrum(x)
    cumulative = (eigenvalues / eigenvalues.sum()).cumsum(0)
    # A sum that equals the share up to rounding has reached it.
    return Result(float(min(int((cumulative < share - 1e-12).sum()) + 1, len(cumulative))))


MEASURE = Measure(
    id="pca_dimension",
    name="PCA dimension",
    family="spectrum",
    kind="single",
    authors="Jolliffe",
    year=2002,
    title="Principal Component Analysis",
    formula=r"\min\Big\{m : \sum_{i \le m}\lambda_i \ge s \sum_i \lambda_i\Big\}",
    range=(1.0, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="A linear dimension that grows with n and with noise; the share is a convention.",
    parameters=(Parameter("share", 0.9, "share of the variance", minimum=0.01, maximum=1.0),),
    compute=compute,
)
