"""Orthogonal Procrustes: how far two centred representations are apart after the best rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter

# Closer than this the cosine has lost the digits that the distance needs; take the residual instead.
NEAR = 1e-4


@dataclass(frozen=True)
class ProcrustesState:
    """A unit-norm core (n, min(n, d)) with the same Gram matrix as the centred features, and their norm."""

    core: torch.Tensor
    norm: float


def prepare(x: torch.Tensor, **_: object) -> ProcrustesState:
    """Centre, and rotate wide features into n dimensions: Procrustes sees only the Gram matrix."""
    centred_and_scaled(x)
    values = centred(x).double()
    if values.shape[1] > values.shape[0]:
        values = torch.linalg.qr(values.T, mode="r")[1].T
    norm = float(values.norm())
    return ProcrustesState(values / norm, norm)


def compare(sx: ProcrustesState, sy: ProcrustesState, form: str) -> float:
    """One pair, in the form asked for."""
    cosine = float(torch.linalg.svdvals(sx.core.T @ sy.core).sum())
    chord_squared = max(2 - 2 * cosine, 0.0)
    if chord_squared < 2 * NEAR:
        chord_squared = _residual(sx.core, sy.core) ** 2
    if form == "normalized":
        return math.sqrt(chord_squared)
    if form == "angular":
        return 2 * math.asin(min(1.0, math.sqrt(chord_squared) / 2))
    return math.sqrt((sx.norm - sy.norm) ** 2 + sx.norm * sy.norm * chord_squared)


def _residual(a: torch.Tensor, b: torch.Tensor) -> float:
    left, _, right = torch.linalg.svd(a.T @ b, full_matrices=False)
    aligned = a @ left
    return float(torch.sqrt((aligned - b @ right.T).square().sum() + _outside(a, left) + _outside(b, right.T)))


def _outside(values: torch.Tensor, frame: torch.Tensor) -> torch.Tensor:
    """Squared norm of what lies outside the span of the frame (a wider side has dimensions without a partner)."""
    return (values - values @ frame @ frame.T).square().sum()


def permute(state: ProcrustesState, order: torch.Tensor) -> ProcrustesState:
    """Reorder the items."""
    return ProcrustesState(state.core[order], state.norm)


MEASURE = Measure(
    id="procrustes",
    name="Orthogonal Procrustes distance",
    family="similarity",
    kind="pairwise",
    authors="Williams, Kunz, Kornblith & Linderman; Ding, Denain & Steinhardt (2021)",
    year=2021,
    title="Generalized Shape Metrics on Neural Representations",
    formula=r"\theta(X, Y) = \arccos \frac{\lVert X_c^\top Y_c \rVert_*}{\lVert X_c \rVert_F \lVert Y_c \rVert_F}",
    range=(0.0, math.pi / 2),
    higher_means="less alike",
    cost="n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The rotation is fitted on the items that are judged, so unrelated data look alike when d is not well below n "
        "(cosine 0.68 at n = 1,000, d = 768). The size-and-shape form keeps the units and is not scale invariant."
    ),
    parameters=(
        Parameter(
            "form",
            "angular",
            "angle in radians, chord between unit shapes, or distance in the units of the data",
            ("angular", "normalized", "size_and_shape"),
        ),
    ),
    is_metric=True,
    min_items=2,
    best=0.0,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
