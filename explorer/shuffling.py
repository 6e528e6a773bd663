"""Inner products of symmetric matrices over the items, under permutations of the items of one side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

CACHE_BYTES = 1 << 20


def shuffled_products(
    squares_x: Sequence[torch.Tensor], squares_y: Sequence[torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """From a permutation of Y's items, (n,), to all sums over i, j of X[i, j] Y[order[i], order[j]].

    Every square is symmetric (n, n), all of one dtype; the result is (len(squares_x), len(squares_y)) float64.
    """
    # Layers of Y lie innermost, so that a gather moves whole groups of layers.
    left = torch.stack(list(squares_x), dim=1)
    right = torch.stack(list(squares_y), dim=2)
    if right.is_cuda:
        return lambda order: torch.bmm(left, right[order][:, order]).double().sum(dim=0)
    product = _cpu_product(left.numpy(), right.numpy())
    return lambda order: torch.from_numpy(product(order.numpy()))


def _cpu_product(left: np.ndarray, right: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """In numpy, whose gather is several times faster than torch's on a CPU; blocks of rows stay in a core's cache."""
    n, layers = len(right), right.shape[2]
    few = max(1, CACHE_BYTES // (n * layers * right.itemsize))
    blocks = [slice(i, min(i + few, n)) for i in range(0, n, few)]
    # Only what lies on and right of the diagonal blocks is gathered; what lies right of them counts twice.
    for block in blocks:
        left[block, :, block.stop :] *= 2
    workers = max(1, min(torch.get_num_threads(), len(blocks)))
    pool = ThreadPoolExecutor(workers)
    rows = np.empty((workers, few, n, layers), right.dtype)
    tiles = np.empty((workers, few * n * layers), right.dtype)

    def share(worker: int, order: np.ndarray) -> np.ndarray:
        total = np.zeros((left.shape[1], layers))
        for block in blocks[worker::workers]:
            count, columns = block.stop - block.start, order[block.start :]
            part = rows[worker, :count]
            tile = tiles[worker, : count * len(columns) * layers].reshape(count, len(columns), layers)
            np.take(right, order[block], axis=0, out=part, mode="clip")
            np.take(part, columns, axis=1, out=tile, mode="clip")
            total += np.matmul(left[block, :, block.start :], tile).sum(axis=0, dtype=np.float64)
        return total

    return lambda order: np.sum(list(pool.map(share, range(workers), [order] * workers)), axis=0)
