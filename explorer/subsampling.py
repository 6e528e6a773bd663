"""How sure is a measure of one representation, and how does it depend on the number of items? From subsets of items.

Subsets are drawn without replacement: copies of an item would be its own neighbours and fill every Gram matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import torch

from explorer.api import matrix_of
from explorer.errors import ExplorerError
from explorer.measures.registry import Measure, get_measure
from explorer.neighbors import nearest
from explorer.sharing import shared_work

Report = Callable[[float, str], None]
Task = tuple[Measure, dict[str, Any]]
SHARE = 0.632
LEAST_ITEMS = 20


def values_together(tasks: Sequence[Task], x: torch.Tensor, inputs: dict[str, Any] | None = None) -> list[float]:
    """Several measures of one matrix, with one search for neighbours and one spectrum; NaN where one is undefined."""
    found = []
    with shared_work():
        search_once(tasks, x)
        for measure, params in tasks:
            assert measure.compute is not None
            try:
                given = measure.take_inputs(dict(inputs or {}), x)
                found.append(float(measure.compute(x, **given, **params).value))
            except ExplorerError:
                found.append(float("nan"))
    return found


def search_once(tasks: Sequence[Task], x: torch.Tensor) -> None:
    """Look for the most neighbours that any of the measures needs; the others take the first of them."""
    asked: dict[str, int] = {}
    for measure, params in tasks:
        if measure.neighbours is not None:
            k, metric = measure.neighbours(**params)
            if k < len(x):
                asked[metric] = max(k, asked.get(metric, 0))
    for metric, k in asked.items():
        try:
            nearest(x, k, metric)
        except ExplorerError:
            continue  # the measure that needs it will say so


def bands(
    tasks: Sequence[Task], x: torch.Tensor, draws: int = 20, seed: int = 0, inputs: dict[str, Any] | None = None
) -> np.ndarray:
    """Half-widths of 95 % intervals over items, (n_tasks,): the spread over subsets of 63 %, scaled to all items.

    Delete-d jackknife; Shao & Wu (1989), "A General Theory for Jackknife Variance Estimation".
    """
    n = len(x)
    if n < LEAST_ITEMS:
        return np.full(len(tasks), np.nan)
    m = round(SHARE * n)
    found = _on_subsets(tasks, x, m, draws, np.random.default_rng(seed), inputs)
    return 1.96 * math.sqrt(m / (n - m)) * np.nanstd(found, axis=0, ddof=1)


def _on_subsets(
    tasks: Sequence[Task],
    x: torch.Tensor,
    size: int,
    draws: int,
    rng: np.random.Generator,
    inputs: dict[str, Any] | None,
) -> np.ndarray:
    rows = []
    for _ in range(draws):
        chosen = np.sort(rng.choice(len(x), size, replace=False))
        given = {name: np.asarray(value)[chosen] for name, value in (inputs or {}).items()}
        rows.append(values_together(tasks, x[torch.from_numpy(chosen).to(x.device)], given))
    return np.array(rows)


def subsample_curve(
    measures: Sequence[str],
    X: Any,
    sizes: Sequence[int] | None = None,
    draws: int = 10,
    seed: int = 0,
    params: dict[str, dict[str, Any]] | None = None,
    report: Report | None = None,
) -> pl.DataFrame:
    """Measures against the number of items: columns measure, n, mean, low, high (the 5th and 95th of 100 subsets).

    Parameters
    ----------
    sizes : sequence of int, optional
        By default halvings of n down to 50 items, and n itself.
    """
    x = matrix_of(X, "X", LEAST_ITEMS)
    tasks = [(m, m.resolve((params or {}).get(m.id, {}))) for m in (get_measure(i, "single") for i in measures)]
    n = len(x)
    sizes = list(sizes) if sizes is not None else sorted({n, *(n // 2**i for i in range(1, 12) if n // 2**i >= 50)})
    if min(sizes) < 4 or max(sizes) > n:
        raise ExplorerError(f"sizes run from {min(sizes)} to {max(sizes)}; they must lie between 4 and {n} items.")
    rng, rows = np.random.default_rng(seed), []
    for done, size in enumerate(sizes, start=1):
        found = _on_subsets(tasks, x, size, 1 if size == n else draws, rng, None)
        for (measure, _), column in zip(tasks, found.T):
            kept = column[np.isfinite(column)]
            if len(kept):
                low, high = np.quantile(kept, [0.05, 0.95])
                rows.append((measure.id, size, float(kept.mean()), float(low), float(high)))
        if report is not None:
            report(done / len(sizes), f"{size} of {n} items")
    schema = {"measure": pl.String, "n": pl.Int64, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
