"""Do the two neighbour graphs bend at the same items? Correlation of node Ollivier-Ricci curvatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.linalg import Undefined
from explorer.measures.curvature import ollivier_ricci
from explorer.measures.registry import Measure, Parameter
from explorer.measures.similarity.rsa import average_ranks, quantised


@dataclass(frozen=True)
class CurvatureState:
    """Standardised ranks of the node curvatures, (n,) float64."""

    ranks: torch.Tensor


def prepare(x: torch.Tensor, k: int, alpha: float, metric: str) -> CurvatureState:
    """Compute the curvature of every node once, and rank it."""
    items = ollivier_ricci.compute(x, k, alpha, metric).items
    ranks = average_ranks(quantised(torch.from_numpy(np.asarray(items)).to(x.device), 10))
    shifted = ranks - ranks.mean()
    if float(shifted.abs().max()) == 0:
        raise Undefined("all items have the same curvature, so its rank correlation is undefined")
    return CurvatureState(shifted / shifted.norm())


def compare_matrix(states_x: Sequence[CurvatureState], states_y: Sequence[CurvatureState], **_: object) -> np.ndarray:
    """All pairs by one product."""
    left, right = (torch.stack([s.ranks for s in states]) for states in (states_x, states_y))
    return (left @ right.T).clamp(-1, 1).cpu().numpy()


def compare(sx: CurvatureState, sy: CurvatureState, **_: object) -> float:
    """One pair."""
    return float(compare_matrix([sx], [sy])[0, 0])


def permute(state: CurvatureState, order: torch.Tensor) -> CurvatureState:
    """Reorder the items."""
    return CurvatureState(state.ranks[order])


MEASURE = Measure(
    id="curvature_correlation",
    name="Correlation of node curvatures",
    family="similarity",
    kind="pairwise",
    authors="after a Ricci curvature study of VGG-Face; curvature by Ollivier (2009)",
    year=2025,
    title="Ollivier-Ricci curvature of face representations in VGG-Face",
    formula=r"\rho_S\big(\kappa^X_i, \kappa^Y_i\big),\quad \kappa_i = \text{mean curvature of the edges at } i",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n^2 d + n k^4 once a representation, n a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Compares where the graphs are dense or bridge-like, not who is whose neighbour: two representations can agree "
        "here and share few neighbours."
    ),
    parameters=(
        Parameter("k", 10, "neighbours in the kNN graph", minimum=1, maximum=200),
        Parameter("alpha", 0.5, "probability that the walk stays", minimum=0.0, maximum=0.999),
        Parameter("metric", "euclidean", "metric of the kNN graph", ("euclidean", "cosine")),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
)
