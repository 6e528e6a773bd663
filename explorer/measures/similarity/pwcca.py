"""Projection-weighted CCA: canonical correlations weighted by how much of one side they account for."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.measures.similarity import cca


@dataclass(frozen=True)
class WeightedState:
    """Centred features (n, d) and an orthonormal basis (n, rank) of their span."""

    features: torch.Tensor
    basis: torch.Tensor
    notes: tuple[str, ...] = ()


def prepare(x: torch.Tensor, **_: object) -> WeightedState:
    """Whiten once, and keep the features for the weights."""
    state = cca.prepare(x)
    return WeightedState(centred_and_scaled(x).double(), state.basis, state.notes)


def compare(sx: WeightedState, sy: WeightedState, weights: str) -> float:
    """Mean correlation under the weights sum_j |<canonical variate, feature j>| of the side that is named."""
    n, ranks = len(sx.basis), (sx.basis.shape[1], sy.basis.shape[1])
    if sum(ranks) > n - 1:
        raise Undefined(
            f"ranks {ranks[0]} + {ranks[1]} exceed n - 1 = {n - 1}: canonical correlations tie at 1, and the weights of "
            "tied directions are arbitrary; reduce by PCA or add items"
        )
    left, correlations, right = torch.linalg.svd(sx.basis.T @ sy.basis, full_matrices=False)
    side, variates = (sx, sx.basis @ left) if weights == "x" else (sy, sy.basis @ right.T)
    weight = (variates.T @ side.features).abs().sum(dim=1)
    return float((weight * correlations.clamp(max=1)).sum() / weight.sum())


def permute(state: WeightedState, order: torch.Tensor) -> WeightedState:
    """Reorder the items."""
    return WeightedState(state.features[order], state.basis[order], state.notes)


MEASURE = Measure(
    id="pwcca",
    name="Projection-weighted CCA (PWCCA)",
    family="similarity",
    kind="pairwise",
    authors="Morcos, Raghu & Bengio",
    year=2018,
    title="Insights on representational similarity in neural networks with canonical correlation",
    formula=r"\frac{\sum_i w_i \rho_i}{\sum_i w_i},\quad w_i = \sum_j |\langle h_i, x_j\rangle|",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n d^2 once a representation, n d^2 + d^3 a pair",
    invariances=frozenset({"isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "A legacy measure with at least five conventions in circulation (this one: weights of one named side, "
        "renormalised over the pairs). It depends on the basis of that side and has no value when correlations tie."
    ),
    parameters=(Parameter("weights", "x", "which side's features give the weights", ("x", "y")),),
    symmetric=False,
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    presets=(
        Preset("Morcos 2018, weights from X", {"weights": "x"}, "as in the paper; packages differ in five ways"),
        Preset("weights from Y", {"weights": "y"}, "the other direction"),
    ),
)
