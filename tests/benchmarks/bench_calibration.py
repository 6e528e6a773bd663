"""Permutation nulls over all pairs of layers against the calibrated-similarity package, with the same permutations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from bench_similarity import plain_cka
from common import heading, layers, line, peer, seconds

import explorer

DRAWS = 200
PEER_DRAWS = 4


def plain_mutual_knn(x: torch.Tensor, y: torch.Tensor, k: int = 10) -> float:
    """Mutual nearest neighbours by cosine, as it is usually written."""

    def neighbours(v: torch.Tensor) -> torch.Tensor:
        v = v / v.norm(dim=1, keepdim=True)
        similarity = v @ v.T
        similarity.fill_diagonal_(-2)
        return torch.zeros_like(similarity).scatter_(1, similarity.topk(k).indices, 1.0)

    return float((neighbours(x) * neighbours(y)).sum() / (len(x) * k))


def draws(seed: int) -> Callable[[int, torch.device], torch.Tensor]:
    """The permutations that our calibration takes, in its order."""
    rng = np.random.default_rng(seed)
    return lambda n, device: torch.from_numpy(rng.permutation(n)).to(device)


def measures() -> Iterator[tuple[str, dict[str, object], Callable[[torch.Tensor, torch.Tensor], float]]]:
    yield "cka", {"estimator": "biased"}, plain_cka
    yield "mutual_knn", {"k": 10}, plain_mutual_knn


def main(count: int = 7, n: int = 1000, d: int = 768) -> None:
    heading(f"{count} x {count} layers, n = {n}, d = {d}, {DRAWS} permutations")
    module = peer("calibrated_similarity", "calibrated-similarity")
    xs, ys = layers(count, n, d, 0), layers(count, n, d, 1)
    tensors_x, tensors_y = ([torch.from_numpy(v) for v in stack] for stack in (xs, ys))
    for measure, params, plain in measures():
        ours = seconds(lambda m=measure, p=params: explorer.calibrate(m, xs, ys, permutations=DRAWS, **p), 2)
        if module is None:
            print(f"{measure}: {ours:.2f} s")
            continue
        started = time.perf_counter()
        found = module.calibrate_layers(tensors_x, tensors_y, plain, K=PEER_DRAWS, perm_fn=draws(0))
        took = time.perf_counter() - started
        # The peer evaluates the observed matrix and one matrix a permutation, so time grows with 1 + K.
        theirs = took * (1 + DRAWS) / (1 + PEER_DRAWS)
        line(f"{measure}, calibrated-similarity ({PEER_DRAWS} permutations, scaled to {DRAWS})", ours, theirs)
        same = explorer.calibrate(measure, xs, ys, permutations=PEER_DRAWS, seed=0, **params)
        gap = max(abs(same.score - float(found[0])), abs(same.threshold - float(found[2])))
        print(
            f"  same permutations: score and threshold differ by {gap:.1e}, p by {same.p_value - float(found[1]):.1e}"
        )


if __name__ == "__main__":
    main()
