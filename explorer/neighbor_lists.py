"""Lists of nearest neighbours as the prepared state of a measure: found once, compared and permuted as indices."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.measures.registry import Parameter
from explorer.neighbors import CHUNK_ELEMENTS, METRICS, nearest

K = Parameter("k", 10, "number of neighbours", minimum=1, maximum=1000)
METRIC = Parameter("metric", "cosine", "cosine (not centred), euclidean, or cosine after centring", METRICS)


@dataclass(frozen=True)
class NeighbourState:
    """The (n, k) neighbour indices of one representation, self excluded, nearest first."""

    index: torch.Tensor


def prepare(x: torch.Tensor, k: int, metric: str = "cosine", **_: object) -> NeighbourState:
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


def permute(state: NeighbourState, order: torch.Tensor) -> NeighbourState:
    """Reorder the items."""
    return NeighbourState(renamed(state.index, order))


def renamed(index: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The lists of reordered items: row i becomes row order[i], and neighbours get their new positions."""
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order), device=order.device)
    return place[index[order]]
