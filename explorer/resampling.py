"""How sure is a number? Intervals over items, and the dependence of neighbour measures on how many items there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch

from explorer.api import matrix_of
from explorer.arrays import check_same_items
from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, get_measure

Report = Callable[[float, str], None]
LEAST_ITEMS = 20


@dataclass(frozen=True)
class Interval:
    """A value with its interval over items, and how that was found."""

    value: float
    low: float
    high: float
    level: float
    method: str
    draws: int


def interval(
    measure: str,
    X: Any,
    Y: Any,
    level: float = 0.95,
    draws: int = 200,
    share: float = 0.632,
    seed: int = 0,
    report: Report | None = None,
    **params: Any,
) -> Interval:
    """Interval of a pairwise measure over items.

    Where the value is a mean over items (neighbour measures), the items' values are bootstrapped with the gallery
    kept: resampling the items themselves would put copies of an item among its own neighbours. Elsewhere subsets of
    ``share`` of the items are drawn without replacement and the spread is scaled to all items (delete-d jackknife;
    Shao & Wu 1989): copies in a bootstrap sample would inflate the diagonal of every Gram matrix.

    Raises
    ------
    ExplorerError
        With fewer than 20 items.
    """
    chosen = get_measure(measure, "pairwise")
    resolved = chosen.resolve(params)
    x, y = _pair(chosen, X, Y)
    if not 0.5 <= level < 1 or draws < 20 or not 0.1 <= share <= 0.9:
        raise ExplorerError(
            f"level = {level}, draws = {draws}, share = {share}: level must lie in [0.5, 1), share in [0.1, 0.9], and "
            "at least 20 draws are needed."
        )
    value, items = _value(chosen, x, y, resolved)
    rng = np.random.default_rng(seed)
    tails = [(1 - level) / 2, (1 + level) / 2]
    if chosen.agree is not None and chosen.agree_is_mean and chosen.id != "cka":
        means = [items[rng.integers(len(items), size=len(items))].mean() for _ in range(draws)]
        low, high = np.quantile(means, tails)
        return Interval(value, float(low), float(high), level, "bootstrap of the items' values", draws)
    found = _subsampled(chosen, x, y, resolved, share, draws, rng, report)
    m = round(share * len(x))
    widened = math.sqrt(m / (len(x) - m)) * (np.quantile(found, tails) - found.mean())
    return Interval(value, value + float(widened[0]), value + float(widened[1]), level, f"subsets of {m} items", draws)


def _pair(measure: Measure, X: Any, Y: Any) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = matrix_of(X, "X", measure.min_items), matrix_of(Y, "Y", measure.min_items)
    check_same_items(x, y)
    if len(x) < LEAST_ITEMS:
        raise ExplorerError(f"{len(x)} items are too few to resample; at least {LEAST_ITEMS} are needed.")
    return x, y


def _value(measure: Measure, x: torch.Tensor, y: torch.Tensor, params: dict[str, Any]) -> tuple[float, np.ndarray]:
    assert measure.prepare is not None and measure.compare is not None
    sx, sy = measure.prepare(x, **params), measure.prepare(y, **params)
    items = measure.agree(sx, sy, **params).cpu().numpy() if measure.agree is not None else np.empty(0)
    return float(measure.compare(sx, sy, **params)), items


def _subsampled(
    measure: Measure,
    x: torch.Tensor,
    y: torch.Tensor,
    params: dict[str, Any],
    share: float,
    draws: int,
    rng: np.random.Generator,
    report: Report | None,
) -> np.ndarray:
    assert measure.prepare is not None and measure.compare is not None
    n, found = len(x), []
    for done in range(1, draws + 1):
        chosen = torch.from_numpy(np.sort(rng.choice(n, round(share * n), replace=False))).to(x.device)
        try:
            states = [measure.prepare(v[chosen], **params) for v in (x, y)]
            found.append(measure.compare(*states, **params))
        except Undefined:
            continue
        if report is not None:
            report(done / draws, f"subset {done} of {draws}")
    if len(found) < 20:
        raise ExplorerError(f"{measure.id} has a value on only {len(found)} of {draws} subsets: no interval.")
    return np.array(found)


def gallery_curve(
    measure: str,
    X: Any,
    Y: Any,
    points: int = 6,
    draws: int = 10,
    level: float = 0.95,
    k_share: float | None = None,
    seed: int = 0,
    report: Report | None = None,
    **params: Any,
) -> pl.DataFrame:
    """A neighbour measure as a function of how many items there are.

    Agreement falls as items are added, since every added item competes to be a neighbour: 0.47 at 100 items and 0.20
    at 4,000 for one pair with a fixed signal. So a number at 1,000 items says little about one at 100,000.

    Parameters
    ----------
    points : int
        Sizes on a logarithmic grid from about 3 k to all items.
    draws : int
        Random subsets at each size.
    k_share : float, optional
        Let k be this share of the size instead of a fixed number.

    Returns
    -------
    polars.DataFrame with columns n, k, mean, low, high, chance.
    """
    chosen = get_measure(measure, "pairwise")
    if not any(p.name == "k" for p in chosen.parameters):
        raise ExplorerError(f"{measure} has no neighbours, so it has no gallery; this curve is for measures with k.")
    resolved = chosen.resolve(params)
    x, y = _pair(chosen, X, Y)
    sizes = _sizes(len(x), 0 if k_share else resolved["k"], points)
    rng = np.random.default_rng(seed)
    rows = []
    for done, size in enumerate(sizes, start=1):
        k = resolved["k"] if k_share is None else max(1, round(k_share * size))
        values, chance = _at_size(chosen, x, y, resolved | {"k": k}, size, draws, rng)
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
        rows.append((size, k, float(values.mean()), float(low), float(high), chance))
        if report is not None:
            report(done / len(sizes), f"{size} items")
    return pl.DataFrame(rows, schema=["n", "k", "mean", "low", "high", "chance"], orient="row")


def _sizes(n: int, k: int, points: int) -> list[int]:
    least = min(max(3 * k, LEAST_ITEMS), n)
    return sorted({int(size) for size in np.geomspace(least, n, max(points, 2)).round()})


def _at_size(
    measure: Measure,
    x: torch.Tensor,
    y: torch.Tensor,
    params: dict[str, Any],
    size: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    assert measure.prepare is not None and measure.compare is not None and measure.permute is not None
    values, chances = [], []
    for _ in range(1 if size == len(x) else draws):
        chosen = torch.from_numpy(np.sort(rng.choice(len(x), size, replace=False))).to(x.device)
        sx, sy = (measure.prepare(v[chosen], **params) for v in (x, y))
        values.append(measure.compare(sx, sy, **params))
        shuffled = measure.permute(sy, torch.from_numpy(rng.permutation(size)).to(x.device))
        chances.append(measure.compare(sx, shuffled, **params))
    exact = measure.null_moments(sx, sy, **params)[0] if measure.null_moments is not None else float("nan")
    return np.array(values), exact if np.isfinite(exact) else float(np.mean(chances))
