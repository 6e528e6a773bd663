"""Ollivier-Ricci curvature of edges: how much closer neighbourhoods are than the points they surround."""

from __future__ import annotations

import numpy as np
import polars as pl
import torch
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from explorer.graph import Graph, knn_graph
from explorer.measures.registry import Measure, Parameter, Result
from explorer.transport import neighbourhood_transport


def compute(x: torch.Tensor | Graph, k: int, alpha: float, metric: str) -> Result:
    """Curvature of every edge of a graph, or of the union kNN graph of a representation.

    ``value`` is the mean over edges, ``items`` the mean over the edges of each node.
    """
    graph = x if isinstance(x, Graph) else knn_graph(x, k, metric)
    values = edge_curvature(graph, alpha)
    return edge_result(graph, values)


def edge_result(graph: Graph, unique_values: np.ndarray) -> Result:
    """Report one value for each different edge as edges in the order given, nodes and their mean."""
    curvature = unique_values[graph.inverse]
    ends = graph.edges[graph.unique]
    totals = np.bincount(ends.ravel(), weights=np.repeat(unique_values, 2), minlength=graph.n_nodes)
    degrees = np.bincount(ends.ravel(), minlength=graph.n_nodes)
    frame = pl.DataFrame(
        {
            "source": graph.nodes[graph.edges[:, 0]],
            "target": graph.nodes[graph.edges[:, 1]],
            "curvature": curvature,
        }
    )
    return Result(float(unique_values.mean()), items=totals / degrees, edges=frame, details={"nodes": graph.nodes})


def edge_curvature(graph: Graph, alpha: float) -> np.ndarray:
    """kappa = 1 - W1 / d for each different edge, by exact optimal transport; d is the shortest path between its ends.

    The walk stays with probability alpha and spreads the rest evenly over the neighbours.
    """
    ends = graph.edges[graph.unique]
    adjacency = graph.adjacency()
    distances = hop_distances(adjacency) if graph.lengths is None else dijkstra(graph.weighted(), directed=False)
    work = neighbourhood_transport(adjacency.indptr, adjacency.indices, distances, ends, alpha)
    return 1 - work / distances[ends[:, 0], ends[:, 1]]


def hop_distances(adjacency: sparse.csr_array) -> np.ndarray:
    """Neighbours of adjacent nodes are 0 to 3 hops apart, so one and two steps tell all: no shortest paths."""
    one = adjacency.astype(np.int32)
    hops = np.full(adjacency.shape, 3, dtype=np.int8)
    _mark(hops, one @ one, 2)
    _mark(hops, one, 1)
    np.fill_diagonal(hops, 0)
    return hops


def _mark(hops: np.ndarray, where: sparse.csr_array, value: int) -> None:
    coordinates = where.tocoo()
    hops[coordinates.row, coordinates.col] = value


MEASURE = Measure(
    id="ollivier_ricci",
    name="Ollivier-Ricci curvature",
    family="curvature",
    kind="single",
    authors="Ollivier",
    year=2009,
    title="Ricci curvature of Markov chains on metric spaces",
    formula=r"\kappa(u, v) = 1 - \frac{W_1(\mu_u, \mu_v)}{d(u, v)}",
    range=(-2.0, 1.0),
    higher_means="more clustered",
    cost="n^2 d for the graph, edges x k^3 for the transport",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "At alpha = 0.5 values are half of Lin-Lu-Yau's. Hop distances ignore how long edges are; hubs dominate. The "
        "kNN graph joins two items when either is among the other's k nearest."
    ),
    parameters=(
        Parameter("k", 10, "neighbours in the kNN graph (ignored when a graph is given)", minimum=1, maximum=200),
        Parameter("alpha", 0.5, "probability that the walk stays", minimum=0.0, maximum=0.999),
        Parameter("metric", "euclidean", "metric of the kNN graph", ("euclidean", "cosine")),
    ),
    min_items=3,
    compute=compute,
    accepts_graph=True,
    per_item=True,
)
