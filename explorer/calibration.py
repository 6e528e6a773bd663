"""Is it more than chance? A permutation null shared by all layers, p-values, thresholds and calibrated scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.measures.registry import Measure, get_measure

MAX_PERMUTATIONS = 10_000
REPORT_EVERY = 5
AGGREGATES: dict[str, Callable[..., Any]] = {"max": np.nanmax, "mean": np.nanmean}


@dataclass(frozen=True)
class Calibration:
    """A similarity of two lists of layers with its null.

    ``statistic`` is the aggregate (max or mean; for distances the smallest) over ``matrix``, ``null`` the same
    statistic under each permutation. ``p_value`` = (1 + #{null >= statistic}) / (K + 1); ``threshold`` is the
    ceil((1 - alpha)(K + 1))-th smallest of the statistic and its nulls; ``score`` =
    clip((statistic - threshold) / (best - threshold), 0, 1). ``null_mean`` and ``null_sd`` are per cell (exact where the measure knows them in closed form),
    ``corrected`` = (matrix - null_mean) / (best - null_mean), ``z`` = (matrix - null_mean) / null_sd and
    ``cell_p`` the p-value of each cell against the null of the best cell (so it holds for all cells at once).
    ``own_p`` is the p-value of each cell against its own null, and ``q`` the same after Benjamini & Hochberg over
    the table (the share of false discoveries among cells with a q at most this).
    """

    measure: str
    params: dict[str, Any]
    statistic: float
    score: float
    p_value: float
    threshold: float
    matrix: np.ndarray
    null: np.ndarray
    null_mean: np.ndarray
    null_sd: np.ndarray
    corrected: np.ndarray
    z: np.ndarray
    cell_p: np.ndarray
    own_p: np.ndarray
    q: np.ndarray
    permutations: int
    seed: int


def calibrate(
    measure: str,
    X_layers: Any,
    Y_layers: Any,
    permutations: int = 200,
    alpha: float = 0.05,
    aggregate: str = "max",
    seed: int = 0,
    groups: Any = None,
    report: Callable[[float, str], None] | None = None,
    **params: Any,
) -> Calibration:
    """Compare two lists of layers (or two matrices) and calibrate against row permutations of Y.

    The same permutation is applied to all layers of Y, and the statistic is the best (or mean) cell, so that
    "the best pair of layers" is judged against the best pair under chance.

    Parameters
    ----------
    permutations : int
        K, up to 10,000; the smallest possible p-value is 1 / (K + 1).
    aggregate : str
        ``max`` (the best pair of layers) or ``mean``.
    seed : int
        The k-th permutation is the k-th draw of ``numpy.random.default_rng(seed).permutation(n)``.
    groups : array_like, shape (n,), optional
        Restricts permutations to items of the same group (class, session, image). The stricter null: what the groups
        alone bring about is then part of chance. Closed forms of chance do not hold, so moments come from the draws.
    report : callable, optional
        Called as ``report(share_done, sentence)``; may raise to cancel.

    References
    ----------
    Groeger, Wen & Brbic (2026), on calibrating representational similarity.
    """
    chosen = get_measure(measure, "pairwise")
    resolved = chosen.resolve(params)
    from explorer.api import prepare_states

    states_x, states_y, n = prepare_states(chosen, X_layers, Y_layers, resolved)
    return calibrate_states(
        chosen, resolved, states_x, states_y, n, permutations, alpha, aggregate, seed, groups, report
    )


def calibrate_states(
    chosen: Measure,
    resolved: dict[str, Any],
    states_x: list[Any],
    states_y: list[Any],
    n: int,
    permutations: int = 200,
    alpha: float = 0.05,
    aggregate: str = "max",
    seed: int = 0,
    groups: Any = None,
    report: Callable[[float, str], None] | None = None,
) -> Calibration:
    """As :func:`calibrate`, of states that are already prepared (of given RDMs, for example)."""
    _check(permutations, alpha, aggregate)
    matrix = chosen.matrix(states_x, states_y, **resolved)
    orders = _permutations(n, permutations, seed, groups)
    nulls = _null_matrices(chosen, states_x, states_y, orders, resolved, report)
    moments = _null_moments(chosen, states_x, states_y, nulls, resolved, exact=groups is None)
    return _summarise(chosen, resolved, matrix, nulls, moments, alpha, aggregate, seed)


def _check(permutations: int, alpha: float, aggregate: str) -> None:
    if not 1 <= permutations <= MAX_PERMUTATIONS:
        raise ExplorerError(f"permutations = {permutations} must lie between 1 and {MAX_PERMUTATIONS:,}.")
    if not 0 < alpha < 1:
        raise ExplorerError(f"alpha = {alpha} must lie between 0 and 1.")
    if aggregate not in AGGREGATES:
        raise ExplorerError(f"aggregate = {aggregate!r} is not one of {', '.join(map(repr, AGGREGATES))}.")


def _permutations(n: int, count: int, seed: int, groups: Any) -> torch.Tensor:
    from explorer.device import compute_device

    generator = np.random.default_rng(seed)
    if groups is None:
        drawn = np.stack([generator.permutation(n) for _ in range(count)])
    else:
        drawn = np.stack([_within(members, n, generator) for members in [_members(groups, n)] for _ in range(count)])
    return torch.from_numpy(drawn).to(compute_device())


def _members(groups: Any, n: int) -> list[np.ndarray]:
    """Positions of the items of each group; refuses groups that leave nothing to permute."""
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ExplorerError(f"groups has shape {labels.shape}; one label for each of the {n} items is needed.")
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    if max(len(m) for m in members) < 2:
        raise ExplorerError("Every group holds one item, so nothing can be permuted within groups.")
    return members


def _within(members: list[np.ndarray], n: int, generator: np.random.Generator) -> np.ndarray:
    order = np.arange(n)
    for positions in members:
        order[positions] = positions[generator.permutation(len(positions))]
    return order


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values that control the false discovery rate (Benjamini & Hochberg 1995); NaN stays NaN."""
    flat = np.asarray(p, dtype=np.float64).ravel()
    known = np.flatnonzero(~np.isnan(flat))
    order = known[np.argsort(flat[known])]
    scaled = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return adjusted.reshape(np.shape(p))


def _null_matrices(
    measure: Measure,
    states_x: list[Any],
    states_y: list[Any],
    orders: torch.Tensor,
    params: dict[str, Any],
    report: Callable[[float, str], None] | None,
) -> np.ndarray:
    sample = _sampler(measure, states_x, states_y, params)
    found = []
    for done, order in enumerate(orders, start=1):
        found.append(sample(order))
        if report is not None and (done % REPORT_EVERY == 0 or done == len(orders)):
            report(done / len(orders), f"permutation {done} of {len(orders)}")
    return np.stack(found)


def _sampler(
    measure: Measure, states_x: list[Any], states_y: list[Any], params: dict[str, Any]
) -> Callable[[torch.Tensor], np.ndarray]:
    sampler = measure.null_sampler(states_x, states_y, **params) if measure.null_sampler is not None else None
    if sampler is not None:
        return sampler
    permute = measure.permute
    assert permute is not None
    return lambda order: measure.matrix(states_x, [permute(state, order) for state in states_y], **params)


def _null_moments(
    measure: Measure,
    states_x: list[Any],
    states_y: list[Any],
    nulls: np.ndarray,
    params: dict[str, Any],
    exact: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of chance in each cell: in closed form where the measure has one, else from the draws."""
    mean = nulls.mean(axis=0)
    deviation = nulls.std(axis=0, ddof=1) if len(nulls) > 1 else np.full(mean.shape, np.nan)
    if exact and measure.null_moments is not None:
        pairs = [[measure.null_moments(sx, sy, **params) for sy in states_y] for sx in states_x]
        exact_mean, exact_deviation = np.moveaxis(np.array(pairs), -1, 0)
        mean = np.where(np.isfinite(exact_mean), exact_mean, mean)
        deviation = np.where(np.isfinite(exact_deviation), exact_deviation, deviation)
    return mean, deviation


def _summarise(
    measure: Measure,
    params: dict[str, Any],
    matrix: np.ndarray,
    nulls: np.ndarray,
    moments: tuple[np.ndarray, np.ndarray],
    alpha: float,
    aggregate: str,
    seed: int,
) -> Calibration:
    if np.isnan(matrix).all() or np.isnan(nulls).all(axis=(1, 2)).any():
        raise ExplorerError(
            f"{measure.id} has no value for any pair of these layers, so there is nothing to calibrate."
        )
    # Distances are turned round, so that greater always means more alike.
    sign = -1.0 if measure.is_distance else 1.0
    best = sign * measure.best_value(params)
    reduce = AGGREGATES[aggregate]
    statistic = float(reduce(sign * matrix))
    null = reduce(sign * nulls, axis=(1, 2))
    count = len(null)
    threshold = float(np.sort(np.append(null, statistic))[math.ceil(round((1 - alpha) * (count + 1), 9)) - 1])
    mean, deviation = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        corrected = (matrix - mean) / (sign * best - mean)
        z = sign * (matrix - mean) / np.where(deviation > 0, deviation, np.nan)
        score = (statistic - threshold) / (best - threshold) if best > threshold else 0.0
    best_null = np.sort(np.nanmax(sign * nulls, axis=(1, 2)))
    own_p = np.where(
        np.isnan(matrix), np.nan, (1 + (sign * nulls >= _just_below(sign * matrix)).sum(axis=0)) / (count + 1)
    )
    at_least = count - np.searchsorted(best_null, _just_below(sign * matrix), side="left")
    return Calibration(
        measure=measure.id,
        params=params,
        statistic=sign * statistic,
        score=float(np.clip(score, 0, 1)),
        p_value=float((1 + (null >= _just_below(np.float64(statistic))).sum()) / (count + 1)),
        threshold=sign * threshold,
        matrix=matrix,
        null=sign * null,
        null_mean=mean,
        null_sd=deviation,
        corrected=corrected,
        z=z,
        cell_p=np.where(np.isnan(matrix), np.nan, (1 + at_least) / (count + 1)),
        own_p=own_p,
        q=benjamini_hochberg(own_p),
        permutations=count,
        seed=seed,
    )


def _just_below(values: Any) -> Any:
    """Permutations that give the same value in exact arithmetic must count as equal in floating point."""
    return values - 1e-12 * np.maximum(1.0, np.abs(values))
