"""Ricci flow: edges stretch where curvature is negative, until cutting the longest leaves communities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from explorer.graph import Graph, knn_graph
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.transport import neighbourhood_transport

SMALLEST = 1e-6


def compute(x: torch.Tensor | Graph, k: int, alpha: float, iterations: int, metric: str) -> Result:
    """Modularity of the communities after flow and surgery; ``items`` holds the community of each node.

    ``details`` has the final edge lengths, the cut, and modularity against the cut.
    """
    graph = x if isinstance(x, Graph) else knn_graph(x, k, metric)
    if len(graph.unique) < 2:
        raise Undefined("a graph of one edge has no communities")
    ends = graph.edges[graph.unique]
    lengths = np.ones(len(ends)) if graph.lengths is None else graph.lengths[graph.unique]
    for _ in range(iterations):
        lengths = _step(graph, ends, lengths, alpha)
    cuts = np.unique(np.quantile(lengths, np.linspace(0.5, 1.0, 51)))
    labels = [_components(ends[lengths <= cut], graph.n_nodes) for cut in cuts]
    scores = np.array([modularity(ends, label, graph.n_nodes) for label in labels])
    best = int(scores.argmax())
    details = {
        "communities": int(labels[best].max()) + 1,
        "cut": float(cuts[best]),
        "cuts": cuts,
        "modularity": scores,
        "edges": ends,
        "lengths": lengths,
        "nodes": graph.nodes,
    }
    return Result(float(scores[best]), items=labels[best].astype(float), details=details)


def _step(graph: Graph, ends: np.ndarray, lengths: np.ndarray, alpha: float) -> np.ndarray:
    """w <- (1 - kappa) d, which is the transport itself; d is the shortest path, which the edge need no longer be."""
    weighted = replace(graph, edges=ends, lengths=lengths, unique=np.arange(len(ends)), inverse=np.arange(len(ends)))
    adjacency = weighted.adjacency()
    distances = dijkstra(weighted.weighted(), directed=False)
    moved = neighbourhood_transport(adjacency.indptr, adjacency.indices, distances, ends, alpha)
    return np.maximum(moved, SMALLEST) * len(moved) / np.maximum(moved, SMALLEST).sum()


def _components(ends: np.ndarray, n: int) -> np.ndarray:
    kept = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return connected_components(kept, directed=False)[1]


def modularity(ends: np.ndarray, labels: np.ndarray, n: int) -> float:
    """Newman & Girvan (2004): share of edges inside communities minus what degrees alone would give."""
    m = len(ends)
    inside = (labels[ends[:, 0]] == labels[ends[:, 1]]).mean()
    degrees = np.bincount(ends.ravel(), minlength=n)
    totals = np.bincount(labels, weights=degrees)
    return float(inside - (totals / (2 * m)) @ (totals / (2 * m)))


MEASURE = Measure(
    id="ricci_flow",
    name="Ricci flow communities",
    family="curvature",
    kind="single",
    authors="Ni, Lin, Luo & Gao",
    year=2019,
    title="Community Detection on Networks with Ricci Flow",
    formula=r"w^{(t+1)}_{uv} = \big(1 - \kappa^{(t)}(u, v)\big)\, d^{(t)}(u, v)",
    range=(-0.5, 1.0),
    higher_means="clearer communities",
    cost="iterations x (shortest paths from all nodes + edges x k^3)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The cut after the flow is the one of highest modularity. Lengths are kept above zero and their sum is kept. "
        "Noise has communities, too: compare with shuffled data."
    ),
    parameters=(
        Parameter("k", 10, "neighbours in the kNN graph (ignored when a graph is given)", minimum=1, maximum=100),
        Parameter("alpha", 0.5, "probability that the walk stays", minimum=0.0, maximum=0.999),
        Parameter("iterations", 10, "steps of the flow", minimum=1, maximum=200),
        Parameter("metric", "euclidean", "metric of the kNN graph", ("euclidean", "cosine")),
    ),
    min_items=4,
    compute=compute,
    accepts_graph=True,
    per_item=True,
)
