"""Representations as points: a map and a tree from the matrix of their distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ExplorerError
from explorer.measures.registry import Measure


@dataclass(frozen=True)
class ModelSpace:
    """Coordinates (L, 2), the share of the squared distances that two axes keep, and a linkage for a tree."""

    points: np.ndarray
    share: float
    linkage: np.ndarray
    order: list[int]


def as_distances(matrix: np.ndarray, measure: Measure) -> np.ndarray:
    """Turn a matrix of a pairwise measure into distances: zero for itself, symmetric, never negative.

    A similarity s with best value b becomes b - s; for mutual kNN that is a pseudometric (the triangle inequality
    holds), for CKA its arc cosine is a metric and is taken instead.
    """
    values = (matrix + matrix.T) / 2
    if np.isnan(values).any():
        i, j = np.argwhere(np.isnan(values))[0]
        raise ExplorerError(f"{measure.id} has no value for representations {i} and {j}, so they cannot be placed.")
    if measure.is_distance:
        distances = values
    elif measure.id in ("cka", "bures"):
        distances = np.arccos(np.clip(values, -1, 1))
    else:
        distances = measure.best_value(measure.resolve({})) - values
    distances = np.clip(distances, 0, None)
    np.fill_diagonal(distances, 0)
    return distances


def model_space(distances: np.ndarray) -> ModelSpace:
    """Classical multidimensional scaling (Torgerson 1952) and average linkage with the best leaf order.

    Raises
    ------
    ExplorerError
        With fewer than three representations.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    count = len(distances)
    if count < 3:
        raise ExplorerError(f"A space of models needs three representations or more; there are {count}.")
    centring = np.eye(count) - 1 / count
    inner = -0.5 * centring @ np.square(distances) @ centring
    values, vectors = np.linalg.eigh(inner)
    values, vectors = values[::-1], vectors[:, ::-1]
    points = vectors[:, :2] * np.sqrt(np.clip(values[:2], 0, None))
    positive = np.clip(values, 0, None)
    share = float(positive[:2].sum() / np.abs(values).sum()) if np.abs(values).sum() > 0 else 1.0
    condensed = squareform(distances, checks=False)
    tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    return ModelSpace(points, share, tree, [int(i) for i in leaves_list(tree)])
