"""Representational similarity analysis: correlate two representational dissimilarity matrices (RDMs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.gram import STACK_ELEMENTS
from explorer.linalg import Undefined, centred
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.neighbors import pairwise_distances
from explorer.ranks import doubled_ranks
from explorer.shuffling import shuffled_products

DISTANCES = ("correlation", "euclidean", "sqeuclidean", "cosine", "mahalanobis")
COMPARISONS = ("spearman", "pearson", "kendall_a", "kendall_b", "rho_a", "cosine", "whitened_cosine")
RANKED = ("spearman", "rho_a")
KENDALL = ("kendall_a", "kendall_b")
# Distances that are equal in exact arithmetic must tie, so they are rounded before ranking.
DIGITS = {torch.float64: 10, torch.float32: 5}


@dataclass(frozen=True)
class RDMState:
    """The upper triangle of an RDM, ready to compare: (n (n - 1) / 2,) float64, and the number of items."""

    vector: torch.Tensor
    n: int


def rdm(x: torch.Tensor, distance: str) -> torch.Tensor:
    """The (n, n) float64 matrix of dissimilarities between items.

    ``correlation`` is 1 - Pearson r over features; ``mahalanobis`` whitens the features by their covariance over
    items, shrunk towards a multiple of the identity (Ledoit & Wolf 2004).
    """
    if distance == "correlation":
        return pairwise_distances(_centred_rows(x), "cosine")
    if distance == "cosine":
        return pairwise_distances(x, "cosine")
    if distance == "mahalanobis":
        return pairwise_distances(_whitened(x), "euclidean")
    distances = pairwise_distances(x, "euclidean")
    return distances.square() if distance == "sqeuclidean" else distances


def _centred_rows(x: torch.Tensor) -> torch.Tensor:
    rows = centred(x.double().T).T
    flat = (rows.abs().amax(dim=1) <= 1e-12 * x.abs().amax(dim=1).double()).nonzero()
    if len(flat):
        raise Undefined(
            f"item {int(flat[0])} has the same value in every feature, so its correlation distance is undefined "
            f"({len(flat)} such item(s))"
        )
    return rows


def _whitened(x: torch.Tensor) -> torch.Tensor:
    from sklearn.covariance import ledoit_wolf

    values = centred(x).double()
    covariance = torch.from_numpy(ledoit_wolf(values.cpu().numpy(), assume_centered=True)[0]).to(values.device)
    eigenvalues, vectors = torch.linalg.eigh(covariance)
    if float(eigenvalues[0]) <= 0:
        raise Undefined("the covariance of the features is singular even after shrinkage")
    return values @ vectors / eigenvalues.sqrt()


def prepare(x: torch.Tensor, distance: str, comparison: str, **_: object) -> RDMState:
    """Compute the RDM and bring it into the form that the comparison needs, once."""
    return state_of(rdm(x, distance), comparison, DIGITS[x.dtype])


def state_of(square: torch.Tensor, comparison: str, digits: int) -> RDMState:
    """The prepared form of an (n, n) RDM; ``digits`` are those that rank comparisons keep."""
    n = len(square)
    if comparison == "whitened_cosine":
        return RDMState(_unit(centred(centred(square).T).T.flatten()), n)
    upper = torch.triu_indices(n, n, 1, device=square.device)
    vector = square[upper[0], upper[1]]
    if comparison in (*RANKED, *KENDALL):
        vector = quantised(vector, digits)
    if comparison in RANKED:
        vector = average_ranks(vector)
    if comparison in ("pearson", "spearman"):
        vector = _unit(vector - vector.mean())
    elif comparison == "cosine":
        vector = _unit(vector)
    elif comparison == "rho_a":
        m = len(vector)
        vector = (vector - (m + 1) / 2) * (12 / (m**3 - m)) ** 0.5
    return RDMState(vector, n)


def quantised(vector: torch.Tensor, digits: int) -> torch.Tensor:
    """Round to a number of digits relative to the largest dissimilarity."""
    largest = vector.abs().max()
    return torch.round(vector / largest * 10**digits) if float(largest) > 0 else vector


def average_ranks(vector: torch.Tensor) -> torch.Tensor:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, inverse, counts = torch.unique(vector, return_inverse=True, return_counts=True)
    last = counts.cumsum(0).double()
    return (last - (counts - 1) / 2)[inverse]


def _unit(vector: torch.Tensor) -> torch.Tensor:
    norm = vector.norm()
    if float(norm) <= 1e-12 * len(vector) ** 0.5:
        raise Undefined("all dissimilarities are equal, so their correlation is undefined")
    return vector / norm


def compare(sx: RDMState, sy: RDMState, comparison: str, **_: object) -> float:
    """One pair of RDMs."""
    if comparison in KENDALL:
        return _kendall(sx.vector, sy.vector, comparison)
    return float((sx.vector @ sy.vector).clamp(-1, 1))


def compare_matrix(
    states_x: Sequence[RDMState], states_y: Sequence[RDMState], comparison: str, **params: object
) -> np.ndarray:
    """All pairs: one matrix product where the comparison is an inner product of prepared vectors."""
    if comparison in KENDALL:
        return np.array([[compare(sx, sy, comparison) for sy in states_y] for sx in states_x])
    left = torch.stack([s.vector for s in states_x])
    right = torch.stack([s.vector for s in states_y])
    return (left @ right.T).clamp(-1, 1).cpu().numpy()


def _kendall(a: torch.Tensor, b: torch.Tensor, comparison: str) -> float:
    from scipy.stats import kendalltau

    tau_b = float(kendalltau(a.cpu().numpy(), b.cpu().numpy(), variant="b").statistic)
    if np.isnan(tau_b):
        raise Undefined("all dissimilarities of one side are equal, so their rank correlation is undefined")
    if comparison == "kendall_b":
        return tau_b
    pairs = len(a) * (len(a) - 1) / 2
    untied = [pairs - _tied_pairs(v) for v in (a, b)]
    return tau_b * (untied[0] * untied[1]) ** 0.5 / pairs


def _tied_pairs(vector: torch.Tensor) -> float:
    counts = torch.unique(vector, return_counts=True)[1].double()
    return float((counts * (counts - 1) / 2).sum())


def permute(state: RDMState, order: torch.Tensor) -> RDMState:
    """Reorder the items of the RDM; ranks and norms do not change."""
    n = state.n
    if len(state.vector) == n * n:
        return RDMState(state.vector.view(n, n)[order][:, order].flatten(), n)
    upper = torch.triu_indices(n, n, 1, device=order.device)
    first, second = order[upper[0]], order[upper[1]]
    low, high = torch.minimum(first, second), torch.maximum(first, second)
    return RDMState(state.vector[low * (2 * n - low - 1) // 2 + high - low - 1], n)


def null_sampler(
    states_x: Sequence[RDMState], states_y: Sequence[RDMState], comparison: str, **_: object
) -> Callable[[torch.Tensor], np.ndarray] | None:
    """From a permutation of Y's items to the matrix under it, where comparing is an inner product and all RDMs fit."""
    n = states_x[0].n
    if comparison in KENDALL or (len(states_x) + 3 * len(states_y)) * n * n > STACK_ELEMENTS // 2:
        return None
    product = shuffled_products([as_square(s) for s in states_x], [as_square(s) for s in states_y])
    # A square holds every pair twice, except where it was prepared as a whole.
    share = 1.0 if comparison == "whitened_cosine" else 0.5
    return lambda order: (share * product(order)).clamp(-1, 1).cpu().numpy()


def agree(sx: RDMState, sy: RDMState, comparison: str, **_: object) -> torch.Tensor:
    """Correlation of each item's row of dissimilarities (of their ranks, for rank comparisons); NaN where constant."""
    ranked = comparison in (*RANKED, *KENDALL)
    left, right = (_rows(s, ranked) for s in (sx, sy))
    return (left * right).sum(dim=1) / (left.norm(dim=1) * right.norm(dim=1))


def _rows(state: RDMState, ranked: bool) -> torch.Tensor:
    """Each item's dissimilarities to the others, centred: (n, n - 1)."""
    square = as_square(state)
    off = ~torch.eye(state.n, dtype=torch.bool, device=square.device)
    rows = square[off].view(state.n, state.n - 1)
    if ranked:
        rows = doubled_ranks(rows)
    return rows - rows.mean(dim=1, keepdim=True)


def as_square(state: RDMState) -> torch.Tensor:
    """The (n, n) matrix of a prepared RDM."""
    n = state.n
    if len(state.vector) == n * n:
        return state.vector.view(n, n)
    square = torch.zeros(n, n, dtype=state.vector.dtype, device=state.vector.device)
    rows, columns = torch.triu_indices(n, n, 1, device=square.device)
    square[rows, columns] = state.vector
    return square + square.T


MEASURE = Measure(
    id="rsa",
    name="Representational similarity analysis (RSA)",
    family="similarity",
    kind="pairwise",
    authors="Kriegeskorte, Mur & Bandettini; comparators after Nili et al. (2014) and Diedrichsen et al. (2021)",
    year=2008,
    title="Representational similarity analysis: connecting the branches of systems neuroscience",
    formula=r"\mathrm{corr}\big(\mathrm{triu}\,D(X),\ \mathrm{triu}\,D(Y)\big)",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n^2 d + n^2 log n once a representation, n^2 a pair (kendall: n^2 log n)",
    invariances=frozenset({"isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Entries of an RDM are not independent: never use the p-value of the correlation, permute items. Spearman "
        "and tau-b average or correct ties; rho-a and tau-a do not reward a model for ties. Correlation distance "
        "depends on the basis; the Euclidean one does not."
    ),
    parameters=(
        Parameter("distance", "correlation", "dissimilarity of two items", DISTANCES),
        Parameter("comparison", "spearman", "how two RDMs are compared", COMPARISONS),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_sampler=null_sampler,
    agree=agree,
    agree_is_mean=False,
    presets=(
        Preset("Kriegeskorte 2008", {"distance": "correlation", "comparison": "spearman"}, "the classic form"),
        Preset("ReSi", {"distance": "correlation", "comparison": "pearson"}, "Pearson on correlation similarities"),
        Preset(
            "rsatoolbox, whitened",
            {"distance": "sqeuclidean", "comparison": "whitened_cosine"},
            "cosine of RDMs after accounting for the dependence of their entries; equals biased linear CKA",
        ),
    ),
)
