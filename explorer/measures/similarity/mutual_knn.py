"""Mutual k nearest neighbours: the share of neighbours that two representations have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import CHUNK_ELEMENTS, nearest


@dataclass(frozen=True)
class NeighbourState:
    """The (n, k) neighbour indices of one representation, self excluded."""

    index: torch.Tensor


def prepare(x: torch.Tensor, k: int, metric: str, **_: object) -> NeighbourState:
    """Find the neighbours once."""
    return NeighbourState(nearest(x, k, metric).index)


def shared_counts(index_x: torch.Tensor, index_y: torch.Tensor) -> torch.Tensor:
    """How many neighbours each item has in common: (Lx, Ly, n) from (Lx, n, k) and (Ly, n, k).

    A table of marks a block of items, filled from X and read at Y, so that no pair of lists is compared.
    """
    layers_x, n, _ = index_x.shape
    rows = max(1, min(n, CHUNK_ELEMENTS // max(1, layers_x * n)))
    counts = torch.empty(layers_x, len(index_y), n, dtype=torch.int64, device=index_x.device)
    for start in range(0, n, rows):
        block = index_x[:, start : start + rows]
        marks = torch.zeros(layers_x, block.shape[1], n, dtype=torch.bool, device=index_x.device)
        marks.scatter_(2, block, True)
        for j, other in enumerate(index_y[:, start : start + rows]):
            counts[:, j, start : start + rows] = marks.gather(2, other.expand(layers_x, -1, -1)).sum(dim=2)
    return counts


def compare_matrix(
    states_x: Sequence[NeighbourState], states_y: Sequence[NeighbourState], k: int, **_: object
) -> np.ndarray:
    """Integer counts of shared neighbours for all pairs, divided once at the end: equal counts tie exactly."""
    index_x = torch.stack([s.index for s in states_x])
    index_y = torch.stack([s.index for s in states_y])
    total = shared_counts(index_x, index_y).sum(dim=2)
    return total.double().cpu().numpy() / (index_x.shape[1] * k)


def compare(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> float:
    """One pair."""
    return float(compare_matrix([sx], [sy], k)[0, 0])


def permute(state: NeighbourState, order: torch.Tensor) -> NeighbourState:
    """Reorder the items: row i becomes row order[i], and neighbours are renamed to their new positions."""
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    return NeighbourState(place[state.index[order]])


def null_moments(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> tuple[float, float]:
    """Exact mean under row permutations, k / (n - 1); the deviation is left to the permutations."""
    return k / (len(sx.index) - 1), float("nan")


MEASURE = Measure(
    id="mutual_knn",
    name="Mutual k nearest neighbours",
    family="similarity",
    kind="pairwise",
    authors="Huh, Cheung, Wang & Isola",
    year=2024,
    title="The Platonic Representation Hypothesis",
    formula=r"\frac{1}{n}\sum_i \frac{|N_k^X(i) \cap N_k^Y(i)|}{k}",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Chance is k / (n - 1), and the value falls as items are added (the gallery grows): compare only at equal n "
        "and k. Cosine neighbours change when all items are shifted."
    ),
    parameters=(
        Parameter("k", 10, "number of neighbours", minimum=1, maximum=1000),
        Parameter("metric", "cosine", "cosine (not centred) or euclidean", ("cosine", "euclidean")),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_moments=null_moments,
)
