"""Inner products of symmetric matrices over the items, under permutations of the items of one side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

TILES = 4
CACHE_BYTES = 1 << 20


def shuffled_products(
    squares_x: Sequence[torch.Tensor], squares_y: Sequence[torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """From a permutation of Y's items, (n,), to all sums over i, j of X[i, j] Y[order[i], order[j]].

    Every square is symmetric (n, n), all of one dtype; the result is (len(squares_x), len(squares_y)) float64.
    """
    # Layers lie innermost, so that a gather moves whole groups of layers and each row sums in short runs.
    left = torch.stack(list(squares_x), dim=2).transpose(1, 2)
    grams = torch.stack(list(squares_y), dim=2).contiguous()
    if grams.is_cuda:
        return lambda order: torch.bmm(left, grams[order][:, order]).double().sum(dim=0)
    n = len(grams)
    starts = range(0, n, -(-n // TILES))
    # Only tiles on and right of the diagonal are gathered; what lies right of it counts twice.
    parts = []
    for start in starts:
        part = left[start : start + starts.step, :, start:].clone()
        part[:, :, starts.step :] *= 2
        parts.append(part)
    gather = _gatherer(grams.numpy(), starts)

    def product(order: torch.Tensor) -> torch.Tensor:
        return sum((torch.bmm(x, y).double().sum(dim=0) for x, y in zip(parts, gather(order))), torch.zeros(()))

    return product


def _gatherer(source: np.ndarray, starts: range) -> Callable[[torch.Tensor], list[torch.Tensor]]:
    """Rows and columns in another order, tile by tile; numpy gathers several times faster than torch on a CPU."""
    n, layers = len(source), source.shape[2]
    pool = ThreadPoolExecutor(max(1, min(len(starts), torch.get_num_threads())))
    # Rows wait for their columns in a piece of memory that stays in a core's cache.
    few = max(1, CACHE_BYTES // (n * layers * source.itemsize))
    rows = [np.empty((few, n, layers), source.dtype) for _ in starts]
    tiles = [np.empty((min(starts.step, n - start), n - start, layers), source.dtype) for start in starts]

    def tile(place: int, order: np.ndarray) -> torch.Tensor:
        chosen, columns = order[starts[place] :][: starts.step], order[starts[place] :]
        for first in range(0, len(chosen), few):
            part = chosen[first : first + few]
            waiting = rows[place][: len(part)]
            np.take(source, part, axis=0, out=waiting, mode="clip")
            np.take(waiting, columns, axis=1, out=tiles[place][first : first + few], mode="clip")
        return torch.from_numpy(tiles[place])

    return lambda order: list(pool.map(tile, range(len(starts)), [order.numpy()] * len(starts)))
