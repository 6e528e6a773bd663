"""Forman-Ricci curvature of edges: counted from degrees and triangles alone."""

from __future__ import annotations

import numpy as np
import torch

from explorer.graph import Graph, knn_graph
from explorer.measures.curvature.ollivier_ricci import edge_result
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor | Graph, k: int, augmented: bool, metric: str) -> Result:
    """4 - deg u - deg v, plus 3 for each triangle at the edge when augmented."""
    graph = x if isinstance(x, Graph) else knn_graph(x, k, metric)
    ends = graph.edges[graph.unique]
    adjacency = graph.adjacency()
    degrees = np.diff(adjacency.indptr)
    values = 4.0 - degrees[ends[:, 0]] - degrees[ends[:, 1]]
    if augmented:
        common = adjacency[ends[:, 0]].multiply(adjacency[ends[:, 1]]).sum(axis=1)
        values = values + 3 * np.asarray(common).ravel()
    return edge_result(graph, values)


MEASURE = Measure(
    id="forman_ricci",
    name="Forman-Ricci curvature",
    family="curvature",
    kind="single",
    authors="Forman (2003); for networks Sreejith et al. (2016); augmented by Samal et al. (2018)",
    year=2003,
    title="Bochner's Method for Cell Complexes and Combinatorial Ricci Curvature",
    formula=r"F(u, v) = 4 - \deg u - \deg v \ (+\ 3\,\triangle_{uv})",
    range=(-np.inf, np.inf),
    higher_means="more clustered",
    cost="n^2 d for the graph, edges x k for the count",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Ignores distances; without triangles it is a statement about degrees only.",
    parameters=(
        Parameter("k", 10, "neighbours in the kNN graph (ignored when a graph is given)", minimum=1, maximum=200),
        Parameter("augmented", False, "count triangles as faces"),
        Parameter("metric", "euclidean", "metric of the kNN graph", ("euclidean", "cosine")),
    ),
    min_items=3,
    compute=compute,
    accepts_graph=True,
    per_item=True,
)
