"""TwoNN: intrinsic dimension from the ratio of the distances to the first two neighbours."""

from __future__ import annotations

import torch

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import count_duplicates, nearest


def compute(x: torch.Tensor, discard: float, method: str) -> Result:
    """Fit, or maximise the likelihood of, the Pareto law of the ratio mu = r2 / r1."""
    found = nearest(x, 2, "euclidean")
    duplicates = count_duplicates(found)
    first, second = found.distance.T
    kept = first > 1e-6 * first.median()
    if int(kept.sum()) < 3:
        raise Undefined(f"{duplicates} of {len(x)} items coincide with another; too few distinct items are left")
    log_ratio = torch.sort(torch.log(second[kept] / first[kept])).values
    value = _fit(log_ratio, discard) if method == "fit" else _likelihood(log_ratio, method)
    notes = (f"{duplicates} items coincide with another and were left out",) if duplicates else ()
    return Result(value, details={"duplicates": duplicates, "items_used": len(log_ratio)}, notes=notes)


def _fit(log_ratio: torch.Tensor, discard: float) -> float:
    """Slope through the origin of -log(1 - F) on log mu, with F = i / n counted from 1."""
    n = len(log_ratio)
    used = min(max(int(n * (1 - discard)), 2), n - 1)
    share = torch.arange(1, used + 1, dtype=torch.float64, device=log_ratio.device) / n
    x, y = log_ratio[:used], -torch.log1p(-share)
    if float(x @ x) == 0:
        raise Undefined("the first two neighbours are equally far for all items: there is no ratio to fit")
    return float((x @ y) / (x @ x))


def _likelihood(log_ratio: torch.Tensor, method: str) -> float:
    total = float(log_ratio.sum())
    if total == 0:
        raise Undefined("the first two neighbours are equally far for all items: there is no ratio to fit")
    return (len(log_ratio) - (method == "unbiased")) / total


MEASURE = Measure(
    id="twonn",
    name="Two nearest neighbours dimension (TwoNN)",
    family="dimension",
    kind="single",
    authors="Facco, d'Errico, Rodriguez & Laio",
    year=2017,
    title="Estimating the intrinsic dimension of datasets by a minimal neighborhood information",
    formula=r"1 - F(\mu) = \mu^{-d}, \quad \mu = r_2 / r_1",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Looks at the smallest scale only, where noise lives: a circle with noise of 2% in 384 dimensions reads as 72. "
        "Items that coincide are left out and counted."
    ),
    parameters=(
        Parameter("discard", 0.1, "share of the largest ratios left out of the fit", minimum=0.0, maximum=0.9),
        Parameter(
            "method",
            "fit",
            "regression through the origin, maximum likelihood, or its unbiased form",
            ("fit", "likelihood", "unbiased"),
        ),
    ),
    min_items=4,
    compute=compute,
    neighbours=lambda **_: (2, "euclidean"),
)
