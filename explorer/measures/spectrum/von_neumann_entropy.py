"""Von Neumann entropy of the trace-normalised covariance."""

from __future__ import annotations

import math

import torch

from explorer.linalg import covariance_spectrum, entropy, uncentred_spectrum, unit_rows
from explorer.measures.registry import Measure, Parameter, Preset, Result


def compute(x: torch.Tensor, of: str) -> Result:
    """Entropy (nats) of the eigenvalues' shares; ``details`` also has it over log d, its largest value."""
    eigenvalues = covariance_spectrum(x) if of == "covariance" else uncentred_spectrum(unit_rows(x))
    value = max(float(entropy(eigenvalues)), 0.0)
    d = x.shape[1]
    return Result(value, details={"over_log_features": value / math.log(d) if d > 1 else float("nan")})


MEASURE = Measure(
    id="von_neumann_entropy",
    name="Von Neumann entropy",
    family="spectrum",
    kind="single",
    authors="Kim, Kang, Hwang, Shin & Rhee",
    year=2023,
    title="VNE: An Effective Method for Improving Deep Representation by Manipulating Eigenvalue Distribution",
    formula=r"-\sum_i p_i \log p_i, \quad p_i = \lambda_i / \sum_j \lambda_j",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="In nats. The source takes unit rows and does not centre, which is another number: say which.",
    parameters=(
        Parameter("of", "covariance", "covariance, or the autocorrelation of unit rows", ("covariance", "unit_rows")),
    ),
    presets=(Preset("Kim et al. (2023)", {"of": "unit_rows"}, "autocorrelation of unit rows, without centring"),),
    compute=compute,
)
