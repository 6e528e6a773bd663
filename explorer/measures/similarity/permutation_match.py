"""One-to-one matching of features by their correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.arrays import drop_constant_features
from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure


@dataclass(frozen=True)
class StandardState:
    """Features (n, d) float64, each centred and of length one; and which they are among the given ones."""

    features: torch.Tensor
    kept: np.ndarray
    notes: tuple[str, ...] = ()


def prepare(x: torch.Tensor, **_: object) -> StandardState:
    """Standardise each feature; constant ones have no correlation and are left out."""
    centred_and_scaled(x)
    constant = (x == x[:1]).all(dim=0)
    values, dropped = drop_constant_features(x)
    values = centred(values).double()
    notes = (f"{dropped} constant feature(s) were left out",) if dropped else ()
    return StandardState(values / values.norm(dim=0), (~constant).nonzero()[:, 0].cpu().numpy(), notes)


def matched(sx: StandardState, sy: StandardState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best assignment: features of X, their partners in Y, and the correlation of each pair."""
    from scipy.optimize import linear_sum_assignment

    correlation = (sx.features.T @ sy.features).cpu().numpy()
    rows, columns = linear_sum_assignment(correlation, maximize=True)
    return rows, columns, correlation[rows, columns]


def compare(sx: StandardState, sy: StandardState, **_: object) -> float:
    """Mean signed correlation of the matched pairs, of which there are min(d_x, d_y)."""
    return float(np.clip(matched(sx, sy)[2].mean(), -1, 1))


def explain(sx: StandardState, sy: StandardState, **_: object) -> dict[str, Any]:
    """Who is matched with whom."""
    rows, columns, correlation = matched(sx, sy)
    return {"feature_x": sx.kept[rows], "feature_y": sy.kept[columns], "correlation": correlation}


def permute(state: StandardState, order: torch.Tensor) -> StandardState:
    """Reorder the items."""
    return StandardState(state.features[order], state.kept, state.notes)


MEASURE = Measure(
    id="permutation_match",
    name="One-to-one feature match",
    family="similarity",
    kind="pairwise",
    authors="Li, Yosinski, Clune, Lipson & Hopcroft",
    year=2015,
    title="Convergent Learning: Do different neural networks learn the same representations?",
    formula=r"\max_{\pi}\ \frac{1}{m}\sum_{j=1}^{m}\mathrm{corr}\big(x_j,\ y_{\pi(j)}\big),\quad m = \min(d_X, d_Y)",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n d^2 + d^3 (assignment) a pair",
    invariances=frozenset({"isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Asks whether single features agree, so a rotation of one side destroys it. The best of many candidates is "
        "picked: unrelated data score well above 0 when there are many features and few items."
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
)
