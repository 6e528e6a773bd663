"""Two-dimensional layouts: PCA at once, UMAP when it is ready; layouts of the same items can be aligned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ExplorerError

PROJECTIONS = {"pca": "PCA", "umap": "UMAP"}
UMAP_NEIGHBOURS = 15


@dataclass(frozen=True)
class Layout:
    """Coordinates (n, dims) float32, and the share of variance of each axis (PCA only)."""

    points: np.ndarray
    variance: tuple[float, ...] = ()


def pca(values: np.ndarray, dims: int = 2) -> Layout:
    """Principal components from the smaller of Gram and covariance matrix; signs are fixed by the largest loading."""
    if len(values) < 2:
        raise ExplorerError(f"A layout needs at least two items; there are {len(values)}.")
    x = np.asarray(values, dtype=np.float64)
    x = x - x.mean(axis=0)
    n, d = x.shape
    eigenvalues, vectors = np.linalg.eigh(x @ x.T if n <= d else x.T @ x)
    order = np.argsort(eigenvalues)[::-1][:dims]
    top = np.maximum(eigenvalues[order], 0)
    points = vectors[:, order] * np.sqrt(top) if n <= d else x @ vectors[:, order]
    points = points * np.sign(points[np.abs(points).argmax(axis=0), np.arange(points.shape[1])] + 1e-300)
    if points.shape[1] < dims:
        points = np.pad(points, ((0, 0), (0, dims - points.shape[1])))
    total = np.maximum(eigenvalues, 0).sum()
    shares = tuple(float(v / total) if total > 0 else 0.0 for v in top)
    return Layout(points.astype(np.float32), shares)


def umap(values: np.ndarray, seed: int = 0, neighbours: int = UMAP_NEIGHBOURS) -> Layout:
    """UMAP with a fixed seed (hence on one thread), started from PCA."""
    import umap as umap_learn

    x = np.asarray(values, dtype=np.float32)
    if len(x) < 4:
        raise ExplorerError(f"UMAP needs at least four items; there are {len(x)}.")
    start = pca(x).points
    start = 10 * start / (np.abs(start).max() or 1)
    mapper = umap_learn.UMAP(
        n_neighbors=min(neighbours, len(x) - 1), random_state=seed, init=start, n_jobs=1, metric="euclidean"
    )
    return Layout(np.asarray(mapper.fit_transform(x), dtype=np.float32))


def project(values: np.ndarray, method: str, seed: int = 0) -> Layout:
    """Lay out by name: ``pca`` or ``umap``."""
    if method not in PROJECTIONS:
        raise ExplorerError(f"There is no projection '{method}'; there are {', '.join(PROJECTIONS)}.")
    return pca(values) if method == "pca" else umap(values, seed)


def aligned(points: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """Rotate or reflect (never stretch) a layout so that the same items lie as close as possible to another one.

    Both keep their own centre and scale; only the orientation changes, which has no meaning of its own.
    """
    a, b = points - points.mean(axis=0), onto - onto.mean(axis=0)
    left, _, right = np.linalg.svd(a.T @ b)
    return (a @ left @ right + points.mean(axis=0)).astype(np.float32)
