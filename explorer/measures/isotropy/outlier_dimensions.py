"""Outlier dimensions: features whose variance is many times that of the others."""

from __future__ import annotations

import torch

from explorer.linalg import Undefined, centred_and_scaled, covariance_spectrum
from explorer.measures.isotropy.mean_cosine import compute as mean_cosine
from explorer.measures.registry import Measure, Parameter, Result


def outliers(x: torch.Tensor, factor: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions of the features with more than ``factor`` times the mean variance, largest first; all shares."""
    variance = centred_and_scaled(x).double().square().mean(dim=0)
    order = variance.argsort(descending=True)
    return order[variance[order] > factor * variance.mean()], variance / variance.sum()


def compute(x: torch.Tensor, factor: float) -> Result:
    """How many there are; ``details`` names them and says what their removal changes."""
    found, shares = outliers(x, factor)
    kept = torch.ones(x.shape[1], dtype=torch.bool, device=x.device)
    kept[found] = False
    details = {
        "features": found.cpu().numpy(),
        "shares": shares[found].cpu().numpy(),
        "variance_share": float(shares[found].sum()),
        "mean_cosine_with": _cosine(x),
        "mean_cosine_without": _cosine(x[:, kept]),
        "participation_ratio_with": _participation(x),
        "participation_ratio_without": _participation(x[:, kept]),
    }
    return Result(float(len(found)), details=details)


def _cosine(x: torch.Tensor) -> float:
    try:
        return mean_cosine(x).value
    except Undefined:
        return float("nan")


def _participation(x: torch.Tensor) -> float:
    try:
        eigenvalues = covariance_spectrum(x)
    except Undefined:
        return float("nan")
    return float(eigenvalues.sum().square() / eigenvalues.square().sum())


MEASURE = Measure(
    id="outlier_dimensions",
    name="Outlier dimensions",
    family="isotropy",
    kind="single",
    authors="Rudman, Chen & Eickhoff (2023); Timkey & van Schijndel (2021)",
    year=2023,
    title="Outlier Dimensions Encode Task-Specific Knowledge",
    formula=r"\#\{j : \mathrm{Var}(x_j) > c\ \overline{\mathrm{Var}}\}",
    range=(0.0, float("inf")),
    higher_means="more dominant features",
    cost="n d min(n, d)",
    invariances=frozenset({"isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "A property of the basis: a rotation hides them. They dominate cosine and Euclidean distances, so compare "
        "what a measure says with and without them."
    ),
    parameters=(Parameter("factor", 5.0, "how many times the mean variance", minimum=1.0, maximum=1e6),),
    compute=compute,
)
