"""GULP: how differently two representations predict, by ridge regression, whatever label there may be."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter


@dataclass(frozen=True)
class HatState:
    """Left singular vectors (n, r) scaled by the root of the ridge hat matrix's eigenvalues, and their squared sum."""

    core: torch.Tensor
    own: float


def prepare(x: torch.Tensor, lam: float, **_: object) -> HatState:
    """Scale to mean squared norm 1, and factor the hat matrix X (X^T X + n lam)^(-1) X^T."""
    centred_and_scaled(x)
    values = centred(x).double()
    values = values / values.norm() * len(values) ** 0.5
    left, singular, _ = torch.linalg.svd(values, full_matrices=False)
    variance = singular.square() / len(values)
    kept = singular > float(singular[0]) * max(x.shape) * torch.finfo(x.dtype).eps
    share = variance[kept] / (variance[kept] + lam)
    return HatState(left[:, kept] * share.sqrt(), float(share.square().sum()))


def compare(sx: HatState, sy: HatState, form: str, **_: object) -> float:
    """Squared (as published) or plain distance."""
    squared = sx.own + sy.own - 2 * float((sx.core.T @ sy.core).square().sum())
    # Equal hat matrices leave only rounding.
    squared = squared if squared > 1e-12 * (sx.own + sy.own) else 0.0
    return squared if form == "squared" else squared**0.5


def permute(state: HatState, order: torch.Tensor) -> HatState:
    """Reorder the items."""
    return HatState(state.core[order], state.own)


MEASURE = Measure(
    id="gulp",
    name="GULP: distance of ridge predictions",
    family="similarity",
    kind="pairwise",
    authors="Boix-Adserà, Lawrence, Stepaniants & Rigollet",
    year=2022,
    title="GULP: a prediction-based metric between representations",
    formula=r"d_\lambda^2 = \lVert H_\lambda(X) - H_\lambda(Y)\rVert_F^2,\quad H_\lambda(X) = X(X^\top X + n\lambda I)^{-1}X^\top",
    range=(0.0, float("inf")),
    higher_means="less alike",
    cost="n d^2 once a representation, n d^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "lam decides what it sees: 0 forgives every invertible map (and is then meaningless when d exceeds n), a large "
        "one looks at the leading directions only. The unit is that of squared dimensions, so compare at equal n."
    ),
    parameters=(
        Parameter("lam", 0.1, "ridge penalty, relative to data of mean squared norm 1", minimum=0.0, maximum=1e6),
        Parameter("form", "squared", "squared as published, or its root, which is a metric", ("squared", "distance")),
    ),
    best=0.0,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
