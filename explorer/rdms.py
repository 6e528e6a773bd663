"""Representational dissimilarity matrices (RDMs): given ones, their order, their ceiling, and layers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from explorer.api import as_layers
from explorer.calibration import Calibration, calibrate_states
from explorer.errors import ExplorerError
from explorer.measures.registry import get_measure
from explorer.measures.similarity import rsa

MAX_CLUSTERED = 2_000


def checked_rdms(values: Any, name: str = "RDM") -> np.ndarray:
    """Check one RDM (n, n) or several, of subjects or sessions: (m, n, n); gives the latter, float64.

    Also takes condensed vectors (n (n - 1) / 2,) or (m, n (n - 1) / 2). Similarities (largest on the diagonal) are
    turned into dissimilarities.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise ExplorerError(f"{name} holds values of type {array.dtype}; real numbers are needed.")
    array = array.astype(np.float64)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[0] != array.shape[1]):
        array = _expanded(np.atleast_2d(array), name)
    elif array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or array.shape[1] != array.shape[2] or array.shape[1] < 3:
        raise ExplorerError(f"{name} has shape {np.shape(values)}; square matrices of three or more items are needed.")
    return np.stack([_one(matrix, f"{name}[{i}]" if len(array) > 1 else name) for i, matrix in enumerate(array)])


def _expanded(vectors: np.ndarray, name: str) -> np.ndarray:
    from scipy.spatial.distance import squareform

    pairs = vectors.shape[1]
    n = round((1 + (1 + 8 * pairs) ** 0.5) / 2)
    if n * (n - 1) // 2 != pairs:
        raise ExplorerError(f"{name} has rows of {pairs} numbers, which is no square matrix and no upper triangle.")
    return np.stack([squareform(v) for v in vectors])


def _one(matrix: np.ndarray, name: str) -> np.ndarray:
    bad = np.argwhere(~np.isfinite(matrix) & ~np.eye(len(matrix), dtype=bool))
    if len(bad):
        raise ExplorerError(f"{name} holds {matrix[tuple(bad[0])]} at row {bad[0][0]}, column {bad[0][1]}.")
    diagonal = np.nan_to_num(np.diagonal(matrix), nan=0.0)
    off = matrix[~np.eye(len(matrix), dtype=bool)]
    largest = np.abs(off).max() or 1.0
    uneven = np.abs(matrix - matrix.T)
    np.fill_diagonal(uneven, 0)
    if uneven.max() > 1e-6 * largest:
        i, j = np.unravel_index(uneven.argmax(), uneven.shape)
        raise ExplorerError(
            f"{name} is not symmetric: row {i}, column {j} is {matrix[i, j]:g}, its mirror {matrix[j, i]:g}."
        )
    if diagonal.min() > 0 and diagonal.min() >= off.max():
        matrix = diagonal.max() - matrix
    result = (matrix + matrix.T) / 2
    np.fill_diagonal(result, 0)
    return result


def layer_rdm(X: Any, distance: str = "correlation") -> np.ndarray:
    """The RDM of a representation, (n, n) float64."""
    return rsa.rdm(as_layers([X], "X", 3)[0], distance).cpu().numpy()


def ranked_rdm(matrix: np.ndarray) -> np.ndarray:
    """Dissimilarities replaced by their ranks, scaled to [0, 1], for display."""
    from scipy.stats import rankdata

    rows, columns = np.triu_indices(len(matrix), 1)
    ranks = rankdata(matrix[rows, columns]) - 1
    shown = np.zeros_like(matrix)
    shown[rows, columns] = ranks / max(ranks.max(), 1)
    return shown + shown.T


def clustered_order(matrix: np.ndarray) -> np.ndarray:
    """Items so that close ones stand together (average linkage, best leaf order)."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(matrix) > MAX_CLUSTERED:
        raise ExplorerError(f"{len(matrix):,} items are too many to cluster here; at most {MAX_CLUSTERED:,}.")
    condensed = squareform(matrix, checks=False)
    tree = linkage(condensed, "average")
    # The best leaf order takes n^3 steps at worst.
    return leaves_list(optimal_leaf_ordering(tree, condensed) if len(matrix) <= 500 else tree)


def compare_with_layers(
    given: np.ndarray,
    layers: Sequence[Any],
    distance: str = "correlation",
    comparison: str = "spearman",
    permutations: int = 200,
    seed: int = 0,
    report: Any = None,
) -> Calibration:
    """Compare every layer's RDM with given RDMs; chance permutes the items of the given ones.

    Parameters
    ----------
    given : numpy.ndarray, shape (m, n, n)
        From :func:`checked_rdms`; they are the columns of the resulting matrix.
    """
    measure = get_measure("rsa")
    params = measure.resolve({"distance": distance, "comparison": comparison})
    xs = as_layers(layers, "X", measure.min_items)
    n = given.shape[1]
    if len(xs[0]) != n:
        raise ExplorerError(f"The RDM is of {n} items and the layers hold {len(xs[0])}; the same items are needed.")
    states_x = [rsa.prepare(x, **params) for x in xs]
    device = xs[0].device
    states_y = [rsa.state_of(torch.from_numpy(r).to(device), comparison, 10) for r in given]
    return calibrate_states(measure, params, states_x, states_y, n, permutations=permutations, seed=seed, report=report)


def noise_ceiling(given: np.ndarray, comparison: str = "spearman") -> tuple[float, float]:
    """Between what values the best possible model would score, from RDMs of several subjects or sessions.

    Upper: each RDM against the mean of all (itself included); lower: against the mean of the others. RDMs are
    standardised (ranked, for rank comparisons) before they are averaged. Nili et al. (2014), "A toolbox for
    representational similarity analysis".

    Raises
    ------
    ExplorerError
        With a single RDM, which has no ceiling.
    """
    if len(given) < 2:
        raise ExplorerError("A noise ceiling needs RDMs of two or more subjects or sessions; one was given.")
    rows, columns = np.triu_indices(given.shape[1], 1)
    vectors = np.stack([_standard(r[rows, columns], comparison) for r in given])
    total = vectors.sum(axis=0)

    def score(vector: np.ndarray, model: np.ndarray) -> float:
        states = [rsa.state_of(torch.from_numpy(_square(v)), comparison, 10) for v in (vector, model)]
        return rsa.compare(states[0], states[1], comparison)

    upper = np.mean([score(v, total) for v in vectors])
    lower = np.mean([score(v, total - v) for v in vectors])
    return float(lower), float(upper)


def _standard(vector: np.ndarray, comparison: str) -> np.ndarray:
    from scipy.stats import rankdata

    if comparison in (*rsa.RANKED, *rsa.KENDALL):
        return rankdata(vector)
    if comparison in ("cosine", "whitened_cosine"):
        return vector / np.linalg.norm(vector)
    return (vector - vector.mean()) / vector.std()


def _square(vector: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import squareform

    return squareform(vector, checks=False)
