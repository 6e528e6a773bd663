"""Effective rank: the exponential of the entropy of the normalised spectrum."""

from __future__ import annotations

import torch

from explorer.linalg import covariance_spectrum, entropy
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, of: str) -> Result:
    """exp(entropy) of the singular values of the centred features, or of the covariance eigenvalues."""
    eigenvalues = covariance_spectrum(x)
    weights = eigenvalues.sqrt() if of == "singular_values" else eigenvalues
    return Result(float(entropy(weights).exp()))


MEASURE = Measure(
    id="effective_rank",
    name="Effective rank",
    family="spectrum",
    kind="single",
    authors="Roy & Vetterli",
    year=2007,
    title="The effective rank: A measure of effective dimensionality",
    formula=r"\exp\Big(-\sum_i p_i \log p_i\Big), \quad p_i = \sigma_i / \sum_j \sigma_j",
    range=(1.0, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Of singular values (the original) and of covariance eigenvalues are different numbers; say which.",
    parameters=(Parameter("of", "singular_values", "which spectrum is normalised", ("singular_values", "covariance")),),
    compute=compute,
)
