"""Matrix-based Renyi entropy of the trace-normalised Gram matrix: prompt entropy, dataset entropy."""

from __future__ import annotations

import math

import torch

from explorer.linalg import covariance_spectrum, entropy, uncentred_spectrum
from explorer.measures.registry import Measure, Parameter, Preset, Result


def renyi(shares: torch.Tensor, alpha: float) -> float:
    """Renyi entropy (nats) of shares that sum to one; alpha = 1 is Shannon's."""
    if alpha == 1.0:
        return max(float(entropy(shares)), 0.0)
    positive = shares[shares > shares[0] * torch.finfo(shares.dtype).eps]
    return max(float(positive.pow(alpha).sum().log()) / (1 - alpha), 0.0)


def compute(x: torch.Tensor, alpha: float, centre: bool, normalise: str) -> Result:
    """Entropy over items: the Gram matrix and the covariance share their spectrum."""
    eigenvalues = covariance_spectrum(x) if centre else uncentred_spectrum(x)
    value = renyi(eigenvalues / eigenvalues.sum(), alpha)
    return Result(value / math.log(len(x)) if normalise == "log_items" else value)


MEASURE = Measure(
    id="matrix_entropy",
    name="Matrix-based entropy (Renyi)",
    family="spectrum",
    kind="single",
    authors="Giraldo, Rao & Principe (2015); for layers Skean et al. (2025)",
    year=2015,
    title="Measures of Entropy From Data Using Infinitely Divisible Kernels",
    formula=r"S_\alpha = \frac{1}{1-\alpha}\log\sum_i \lambda_i^\alpha\Big(\frac{XX^\top}{\mathrm{tr}\,XX^\top}\Big)",
    range=(0.0, float("inf")),
    higher_means="more spread over items",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation"}),
    caveat="Without centring a common offset dominates. For alpha below 1 the smallest eigenvalues weigh most.",
    parameters=(
        Parameter("alpha", 1.0, "order; 1 is Shannon (von Neumann)", minimum=0.01, maximum=100.0),
        Parameter("centre", False, "subtract the mean item first"),
        Parameter("normalise", "none", "divide by log n, the largest value, or not", ("none", "log_items")),
    ),
    presets=(
        Preset("Layer by Layer (Skean et al. 2025)", {"normalise": "log_items"}, "alpha = 1 over log n, not centred"),
    ),
    compute=compute,
)
