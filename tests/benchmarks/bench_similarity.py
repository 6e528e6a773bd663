"""Layer matrices and permutation nulls against the plain way of computing them, on the same threads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import explorer


def seconds(call: Callable[[], object], repeat: int = 3) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def plain_cka(x: torch.Tensor, y: torch.Tensor) -> float:
    """Biased linear CKA as it is usually written."""
    x, y = x - x.mean(0), y - y.mean(0)
    return float((x.T @ y).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm()))


def sklearn_neighbours(x: np.ndarray, k: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(x).kneighbors(return_distance=False)


def pair_knn(x: np.ndarray, y: np.ndarray, k: int = 10) -> float:
    a, b = sklearn_neighbours(x, k), sklearn_neighbours(y, k)
    return float(np.mean([len(np.intersect1d(i, j)) for i, j in zip(a, b)]) / k)


def main(layers: int = 13, n: int = 1000, d: int = 768) -> None:
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((n, 20)).astype(np.float32)
    stack = [
        shared @ rng.standard_normal((20, d)).astype(np.float32) + rng.standard_normal((n, d)).astype(np.float32)
        for _ in range(layers)
    ]
    tensors = [torch.from_numpy(x) for x in stack]
    print(f"{layers} x {layers} layers, n = {n}, d = {d}, {torch.get_num_threads()} thread(s)")
    ours = seconds(lambda: explorer.similarity_matrix("cka", stack))
    peer = seconds(lambda: [plain_cka(a, b) for a in tensors for b in tensors], 1)
    print(f"cka matrix: {ours:.2f} s; plain torch CKA a pair: {peer:.2f} s; ratio {peer / ours:.1f}")
    ours = seconds(lambda: explorer.similarity_matrix("mutual_knn", stack))
    peer = seconds(lambda: pair_knn(stack[0], stack[1]), 1) * layers**2
    print(
        f"mutual_knn matrix: {ours:.2f} s; scikit-learn a pair, times {layers**2}: {peer:.2f} s; ratio {peer / ours:.1f}"
    )
    for measure in ("cka", "mutual_knn"):
        ours = seconds(lambda m=measure: explorer.calibrate(m, stack[:7], stack[:7], permutations=200), 1)
        print(f"{measure}: 7 x 7 layers with 200 permutations: {ours:.2f} s")


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    main()
