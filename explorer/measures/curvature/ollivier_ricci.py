"""Ollivier-Ricci curvature of edges: how much closer neighbourhoods are than the points they surround."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import torch
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from explorer.graph import Graph, knn_graph
from explorer.measures.registry import Measure, Parameter, Result

SOURCES_AT_ONCE = 256


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
    """kappa = 1 - W1 / d for each different edge, by exact optimal transport.

    The walk stays with probability alpha and spreads the rest evenly over the neighbours. Mass that both
    walks put on the same node need not move and is removed before the transport is solved.
    """
    import ot

    adjacency = graph.adjacency()
    neighbours = np.split(adjacency.indices, adjacency.indptr[1:-1])
    values = np.empty(len(graph.unique))
    for edge, (u, v, supply, demand, cost, length) in enumerate(_transports(graph, neighbours, alpha)):
        moved = _remove_shared(supply, demand, u, v)
        total = moved[1].sum()
        if total <= 1e-15:
            values[edge] = 1.0
            continue
        rows, columns = moved[0], moved[2]
        work = ot.emd2(moved[1] / total, moved[3] / moved[3].sum(), np.ascontiguousarray(cost[np.ix_(rows, columns)]))
        values[edge] = 1 - float(work) * total / length
    return values


def _transports(
    graph: Graph, neighbours: list[np.ndarray], alpha: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]]:
    """For each different edge: the two supports, their masses, the distances between them, and the edge's distance."""
    ends = graph.edges[graph.unique]
    distances = _distances_by_source(graph, ends)
    for u, v in ends:
        support_u, support_v = (np.concatenate([[node], neighbours[node]]) for node in (u, v))
        mass_u, mass_v = (_walk(len(neighbours[node]), alpha) for node in (u, v))
        block = distances(support_u, support_v)
        yield support_u, support_v, mass_u, mass_v, block, block[0, 0]


def _walk(degree: int, alpha: float) -> np.ndarray:
    mass = np.full(degree + 1, (1 - alpha) / degree)
    mass[0] = alpha
    return mass


def _distances_by_source(graph: Graph, ends: np.ndarray):  # type: ignore[no-untyped-def]
    """A function that gives shortest distances between two sets of nodes."""
    if graph.lengths is None:
        return _hop_distances(graph)
    matrix = dijkstra(graph.weighted(), directed=False)
    return lambda rows, columns: matrix[np.ix_(rows, columns)]


def _hop_distances(graph: Graph):  # type: ignore[no-untyped-def]
    """Neighbours of adjacent nodes are 0 to 3 hops apart, so one and two steps tell all: no shortest paths."""
    one = graph.adjacency().astype(np.int8)
    reach = one.astype(np.int32)
    two = (reach @ reach).astype(bool).astype(np.int8)
    hops = np.full((graph.n_nodes, graph.n_nodes), 3, dtype=np.int8)
    _mark(hops, two, 2)
    _mark(hops, one, 1)
    np.fill_diagonal(hops, 0)
    return lambda rows, columns: hops[np.ix_(rows, columns)].astype(np.float64)


def _mark(hops: np.ndarray, where: sparse.csr_array, value: int) -> None:
    coordinates = where.tocoo()
    hops[coordinates.row, coordinates.col] = value


def _remove_shared(
    supply: np.ndarray, demand: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    supply, demand = supply.copy(), demand.copy()
    _, at_u, at_v = np.intersect1d(u, v, assume_unique=True, return_indices=True)
    shared = np.minimum(supply[at_u], demand[at_v])
    supply[at_u] -= shared
    demand[at_v] -= shared
    rows, columns = np.flatnonzero(supply > 1e-15), np.flatnonzero(demand > 1e-15)
    return rows, supply[rows], columns, demand[columns]


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
