"""Power law of the eigenspectrum: how fast variance falls off with rank."""

from __future__ import annotations

import torch

from explorer.linalg import Undefined, covariance_spectrum
from explorer.measures.registry import Measure, Parameter, Result

FEWEST = 5


def compute(x: torch.Tensor, first: int, last: int) -> Result:
    """Slope of log variance on log rank, by least squares with weights 1 / rank.

    ``details`` holds the spectrum, the fitted ranks (from 1), the intercept and the share of variance explained.
    """
    eigenvalues = covariance_spectrum(x)
    noise = float(eigenvalues[0]) * max(x.shape) * torch.finfo(x.dtype).eps
    count = int((eigenvalues > noise).sum())
    stop = min(last, count)
    start = min(first, max(1, stop // 4))
    if stop - start + 1 < FEWEST:
        raise Undefined(f"only {count} directions carry variance; a power law needs at least {FEWEST} of them")
    rank = torch.arange(start, stop + 1, dtype=torch.float64, device=x.device)
    log_rank, log_value, weight = rank.log(), eigenvalues[start - 1 : stop].log(), 1 / rank
    weight = weight / weight.sum()
    a, b = log_rank - (weight * log_rank).sum(), log_value - (weight * log_value).sum()
    slope = float((weight * a * b).sum() / (weight * a * a).sum())
    total = float((weight * b * b).sum())
    rest = float((weight * (b - slope * a).square()).sum())
    quality = 1 - rest / total if total > 0 else float("nan")
    intercept = float((weight * log_value).sum() - slope * (weight * log_rank).sum())
    details = {"spectrum": eigenvalues.cpu().numpy(), "first": start, "last": stop, "r2": quality}
    return Result(-slope, details=details | {"intercept": intercept})


MEASURE = Measure(
    id="power_law_exponent",
    name="Power-law exponent of the spectrum",
    family="spectrum",
    kind="single",
    authors="Stringer, Pachitariu, Steinmetz, Carandini & Harris",
    year=2019,
    title="High-dimensional geometry of population responses in visual cortex",
    formula=r"\lambda_r \propto r^{-\alpha}",
    range=(-1e-6, float("inf")),
    higher_means="variance in fewer directions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Depends on the fitted ranks, which are shown; look at the plot and the fit quality before quoting it. With few "
        "items the tail of a sample spectrum falls too fast."
    ),
    parameters=(
        Parameter("first", 11, "first rank of the fit (lowered where there are few)", minimum=1, maximum=10_000),
        Parameter("last", 500, "last rank of the fit", minimum=5, maximum=100_000),
    ),
    compute=compute,
)
