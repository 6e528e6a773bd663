"""Orthogonal Procrustes: how far two centred representations are apart after the best rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset

# Closer than this the cosine has lost the digits that the distance needs; take the residual instead.
NEAR = 1e-4
# A squared chord below this is the rounding of equal shapes.
ROUNDING = 1e-28
FORMS = ("angular", "normalized", "size_and_shape")


@dataclass(frozen=True)
class ProcrustesState:
    """A unit-norm core (n, width) and the norm of the centred features.

    Under rotations the core is at most n wide, with the same Gram matrix as the features; under permutations it is
    the features themselves.
    """

    core: torch.Tensor
    norm: float


def prepare(x: torch.Tensor, group: str = "orthogonal", **_: object) -> ProcrustesState:
    """Centre, and rotate wide features into n dimensions: rotations see only the Gram matrix."""
    centred_and_scaled(x)
    values = centred(x).double()
    if group == "orthogonal" and values.shape[1] > values.shape[0]:
        values = torch.linalg.qr(values.T, mode="r")[1].T
    norm = float(values.norm())
    return ProcrustesState(values / norm, norm)


def cosine(sx: ProcrustesState, sy: ProcrustesState) -> float:
    """The cosine of the two shapes after the best rotation: the nuclear norm of their product."""
    return float(torch.linalg.svdvals(sx.core.T @ sy.core).sum())


def chord_squared(sx: ProcrustesState, sy: ProcrustesState, group: str = "orthogonal") -> float:
    """Squared distance between the unit-norm shapes after the best rotation or permutation of features."""
    if group == "permutation":
        chord = _permuted_chord(sx.core, sy.core)
    else:
        chord = max(2 - 2 * cosine(sx, sy), 0.0)
        if chord < 2 * NEAR:
            chord = _residual(sx.core, sy.core) ** 2
    return chord if chord > ROUNDING else 0.0


def _permuted_chord(a: torch.Tensor, b: torch.Tensor) -> float:
    from scipy.optimize import linear_sum_assignment

    if a.shape[1] > b.shape[1]:
        a, b = b, a
    rows, columns = linear_sum_assignment((a.T @ b).cpu().numpy(), maximize=True)
    padded = torch.zeros_like(b)
    padded[:, torch.as_tensor(columns, device=b.device)] = a[:, torch.as_tensor(rows, device=a.device)]
    return float((padded - b).square().sum())


def compare(sx: ProcrustesState, sy: ProcrustesState, form: str, group: str = "orthogonal") -> float:
    """One pair, in the form asked for."""
    chord = chord_squared(sx, sy, group)
    if form == "normalized":
        return math.sqrt(chord)
    if form == "angular":
        return 2 * math.asin(min(1.0, math.sqrt(chord) / 2))
    return math.sqrt((sx.norm - sy.norm) ** 2 + sx.norm * sy.norm * chord)


def _residual(a: torch.Tensor, b: torch.Tensor) -> float:
    left, _, right = torch.linalg.svd(a.T @ b, full_matrices=False)
    aligned = a @ left
    return float(torch.sqrt((aligned - b @ right.T).square().sum() + _outside(a, left) + _outside(b, right.T)))


def _outside(values: torch.Tensor, frame: torch.Tensor) -> torch.Tensor:
    """Squared norm of what lies outside the span of the frame (a wider side has dimensions without a partner)."""
    return (values - values @ frame @ frame.T).square().sum()


def explain(sx: ProcrustesState, sy: ProcrustesState, form: str, group: str = "orthogonal") -> dict[str, float]:
    """All forms of the same distance at once."""
    chord = chord_squared(sx, sy, group)
    return {"cosine": 1 - chord / 2} | {f: compare(sx, sy, f, group) for f in FORMS}


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
            FORMS,
        ),
        Parameter(
            "group", "orthogonal", "best rotation, or best one-to-one match of features", ("orthogonal", "permutation")
        ),
    ),
    is_metric=True,
    min_items=2,
    best=0.0,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
    presets=(
        Preset("Williams 2021 (netrep)", {"form": "angular"}, "the angle; netrep calls it score_method='angular'"),
        Preset("Ding 2021", {"form": "normalized"}, "Ding et al. print the square of this value: 2 - 2 cosine"),
        Preset(
            "ReSi", {"form": "size_and_shape"}, "keeps the units of the data, so it grows with the scale of activations"
        ),
        Preset(
            "netrep permutation",
            {"form": "angular", "group": "permutation"},
            "features may be reordered but not mixed: tests whether single units agree",
        ),
    ),
)
