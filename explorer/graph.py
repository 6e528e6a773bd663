"""Graphs as arrays: kNN graphs of items, and edge lists that people pass in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from explorer.errors import ExplorerError
from explorer.neighbors import nearest


@dataclass(frozen=True)
class Graph:
    """An undirected graph.

    ``edges`` is (m, 2) of positions 0..n-1 in the order given; ``nodes`` maps positions to the node ids that
    people used; ``lengths`` is (m,) or None for hop distances. ``unique`` lists one position for each
    different edge and ``inverse`` maps every given edge to its place in ``unique``.
    """

    edges: np.ndarray
    nodes: np.ndarray
    lengths: np.ndarray | None
    unique: np.ndarray
    inverse: np.ndarray

    @property
    def n_nodes(self) -> int:
        return len(self.nodes)

    def adjacency(self) -> sparse.csr_array:
        """Symmetric sparse matrix of ones."""
        ends = self.edges[self.unique]
        rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(self.n_nodes, self.n_nodes))

    def weighted(self) -> sparse.csr_array:
        """Symmetric sparse matrix of edge lengths."""
        assert self.lengths is not None
        ends, length = self.edges[self.unique], self.lengths[self.unique]
        rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
        values = np.concatenate([length, length])
        return sparse.csr_array((values, (rows, columns)), shape=(self.n_nodes, self.n_nodes))


def as_graph(edges: Any, lengths: Any = None) -> Graph:
    """Check an edge list: (m, 2) integers of any value, no self loops; an edge may be listed both ways round."""
    array = np.asarray(edges.cpu() if isinstance(edges, torch.Tensor) else edges)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) == 0:
        raise ExplorerError(
            f"The graph has shape {array.shape}; edges of shape (m, 2) with m of at least 1 are needed."
        )
    if array.dtype.kind not in "iu":
        raise ExplorerError(f"The graph's edges are of type {array.dtype}; integers are needed.")
    loops = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(loops):
        raise ExplorerError(f"Edge {loops[0]} joins node {array[loops[0], 0]} to itself ({len(loops)} self loop(s)).")
    nodes, positions = np.unique(array, return_inverse=True)
    positions = positions.reshape(-1, 2)
    ordered = np.sort(positions, axis=1)
    _, unique, inverse = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
    length = None if lengths is None else _check_lengths(lengths, len(array), unique, inverse.reshape(-1))
    return Graph(positions, nodes, length, unique, inverse.reshape(-1))


def _check_lengths(lengths: Any, m: int, unique: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    array = np.asarray(lengths.cpu() if isinstance(lengths, torch.Tensor) else lengths, dtype=np.float64)
    if array.shape != (m,):
        raise ExplorerError(f"There are {m} edges but lengths of shape {array.shape}; one length an edge is needed.")
    bad = np.flatnonzero(~np.isfinite(array) | (array <= 0))
    if len(bad):
        raise ExplorerError(f"Edge {bad[0]} has length {array[bad[0]]}; lengths must be finite and above zero.")
    if not np.array_equal(array, array[unique][inverse]):
        raise ExplorerError("An edge is listed twice with different lengths.")
    return array


def knn_graph(x: torch.Tensor, k: int, metric: str = "euclidean") -> Graph:
    """The union kNN graph: i and j are joined when either is among the other's k nearest neighbours."""
    index = nearest(x, k, metric).index.cpu().numpy()
    n = len(index)
    pairs = np.stack([np.repeat(np.arange(n), k), index.reshape(-1)], axis=1)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    m = np.arange(len(pairs))
    return Graph(pairs, np.arange(n), None, m, m)
