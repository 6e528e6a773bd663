"""Layer matrices against the plain way of computing them and against public packages, on the same threads."""

from __future__ import annotations

import numpy as np
import scipy.spatial.distance
import scipy.stats
import torch
from common import clock, heading, layers, line, peer, seconds

import explorer


def plain_cka(x: torch.Tensor, y: torch.Tensor) -> float:
    """Biased linear CKA as it is usually written."""
    x, y = x - x.mean(0), y - y.mean(0)
    return float((x.T @ y).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm()))


def necessary_products(stack: list[np.ndarray]) -> None:
    """The matrix products without which no CKA matrix exists: every Gram matrix and their inner products.

    A centred kernel is needed once a layer, or one product of features for each pair and self pair; the cheaper way.
    """
    tensors = [torch.from_numpy(x) for x in stack]
    n, d, count = len(stack[0]), stack[0].shape[1], len(stack)
    if n * n * (d * count + count**2) < n * d * d * count * (count + 1) / 2:
        grams = torch.stack([x @ x.T for x in tensors]).flatten(1)
        _ = grams @ grams.T
    else:
        for i, x in enumerate(tensors):
            for y in tensors[i:]:
                _ = x.T @ y


def sklearn_neighbours(x: np.ndarray, k: int) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(x).kneighbors(return_distance=False)


def pair_knn(x: np.ndarray, y: np.ndarray, k: int = 10) -> float:
    a, b = sklearn_neighbours(x, k), sklearn_neighbours(y, k)
    return float(np.mean([len(np.intersect1d(i, j)) for i, j in zip(a, b)]) / k)


def pair_rsa(x: np.ndarray, y: np.ndarray) -> float:
    """One cell of RSA as loops over packages compute it (ReSi: correlation distance, Spearman)."""
    a, b = (scipy.spatial.distance.pdist(v, "correlation") for v in (x, y))
    return float(scipy.stats.spearmanr(a, b).statistic)


def cka(stack: list[np.ndarray]) -> None:
    tensors, count = [torch.from_numpy(x) for x in stack], len(stack)
    ours = seconds(lambda: explorer.similarity_matrix("cka", stack))
    products = seconds(lambda: necessary_products(stack))
    print(f"CKA matrix {ours:.3g} s, its bare matrix products {products:.3g} s, {ours / products:.2f} times as long")
    some = clock(lambda: [plain_cka(tensors[0], t) for t in tensors[:5]]) * count**2 / 5
    line(f"CKA matrix, plain torch a pair (5 pairs, times {count**2 / 5:.1f})", ours, some)


def stacked_cka(stack: list[np.ndarray]) -> None:
    """pytorch-cka: the Gram matrices of all layers stacked, debiased HSIC from them."""
    module = peer("cka.hsic", "pytorch-cka")
    if module is None:
        return
    tensors = [torch.from_numpy(x) for x in stack]

    def theirs() -> torch.Tensor:
        grams = torch.stack([x @ x.T for x in tensors])
        xy, xx, yy = module.hsic(grams, grams)
        return xy / torch.sqrt(xx[:, None] * yy[None, :])

    ours = seconds(lambda: explorer.similarity_matrix("cka", stack, estimator="debiased"))
    line("debiased CKA matrix, pytorch-cka's stacked form", ours, seconds(theirs))
    gap = np.abs(explorer.similarity_matrix("cka", stack, estimator="debiased") - theirs().numpy()).max()
    print(f"  largest difference {gap:.1e}")


def rsa(stack: list[np.ndarray]) -> None:
    ours = seconds(lambda: explorer.similarity_matrix("rsa", stack), 1)
    count = len(stack)
    theirs = clock(lambda: [pair_rsa(stack[0], x) for x in stack[:3]]) * count**2 / 3
    line(f"RSA Spearman matrix, SciPy a pair (3 pairs, times {count**2 / 3:.1f})", ours, theirs)
    gap = explorer.similarity_matrix("rsa", stack[:2])[0, 1] - pair_rsa(stack[0], stack[1])
    print(f"  difference {abs(gap):.1e}")


def mutual_knn(stack: list[np.ndarray]) -> None:
    ours = seconds(lambda: explorer.similarity_matrix("mutual_knn", stack))
    theirs = clock(lambda: pair_knn(stack[0], stack[1])) * len(stack) ** 2
    line(f"mutual_knn matrix, scikit-learn a pair (1 pair, times {len(stack) ** 2})", ours, theirs)


def closed_form(stack: list[np.ndarray]) -> None:
    """The mean and deviation of CKA under chance, on top of the matrix itself."""
    from explorer.api import prepare_states
    from explorer.measures.registry import get_measure

    measure = get_measure("cka")
    params = measure.resolve({"estimator": "biased"})
    matrix = seconds(lambda: explorer.similarity_matrix("cka", stack, estimator="biased"))
    states = prepare_states(measure, stack, stack, params)[0]
    moments = seconds(lambda: [measure.null_moments(a, b, **params) for a in states for b in states])
    print(
        f"closed-form chance of CKA: {moments:.4f} s beside {matrix:.3f} s for the matrix, share {moments / matrix:.3f}"
    )


def main() -> None:
    small = layers(13, 1000, 768)
    heading("13 x 13 layers, n = 1000, d = 768")
    cka(small)
    stacked_cka(small)
    rsa(small)
    mutual_knn(small)
    closed_form(small)
    large = layers(31, 2000, 576)
    heading("31 x 31 layers, n = 2000, d = 576")
    cka(large)
    mutual_knn(large)


if __name__ == "__main__":
    main()
