"""Gromov delta: how far a space is from a tree, relative to its diameter."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse.csgraph import shortest_path

from explorer.graph import Graph
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import CHUNK_ELEMENTS, pairwise_distances


def compute(x: torch.Tensor | Graph, bases: int, max_points: int, metric: str, seed: int) -> Result:
    """2 delta / diameter, delta the largest over some base points; all base points give the four-point delta."""
    rng = np.random.default_rng(seed)
    notes: tuple[str, ...] = ()
    if isinstance(x, Graph):
        matrix = shortest_path(
            x.adjacency() if x.lengths is None else x.weighted(), directed=False, unweighted=x.lengths is None
        )
        if not np.isfinite(matrix).all():
            raise Undefined("the graph falls into several components, between which there is no distance")
        distances = torch.from_numpy(matrix)
    else:
        if len(x) > max_points:
            notes = (f"{max_points} of {len(x)} items, drawn at random",)
            x = x[torch.from_numpy(np.sort(rng.choice(len(x), max_points, replace=False))).to(x.device)]
        distances = pairwise_distances(x, metric)
    n, diameter = len(distances), float(distances.max())
    if diameter == 0:
        raise Undefined("all items coincide, so the diameter is zero")
    chosen = np.arange(n) if bases >= n else rng.choice(n, bases, replace=False)
    delta = max(delta_at(distances, int(base)) for base in chosen)
    details = {"delta": delta, "diameter": diameter, "bases": len(chosen)}
    return Result(2 * delta / diameter, details=details, notes=notes)


def delta_at(distances: torch.Tensor, base: int) -> float:
    """The largest entry of (max, min)-product of Gromov products minus the products themselves."""
    product = (distances[base][:, None] + distances[base][None] - distances) / 2
    n = len(product)
    rows = max(1, CHUNK_ELEMENTS // (n * n))
    best = 0.0
    for start in range(0, n, rows):
        block = product[start : start + rows]
        bottleneck = torch.minimum(block[:, :, None], product[None]).amax(dim=1)
        best = max(best, float((bottleneck - block).max()))
    return best


MEASURE = Measure(
    id="gromov_delta",
    name="Gromov delta (relative hyperbolicity)",
    family="curvature",
    kind="single",
    authors="Gromov (1987); algorithm of Fournier, Ismail & Vigneron (2015); relative form of Khrulkov et al. (2020)",
    year=1987,
    title="Hyperbolic Groups",
    formula=r"\frac{2\delta}{\mathrm{diam}},\quad \delta = \max_{x, y, z}\ \min\{(x|z)_w, (z|y)_w\} - (x|y)_w",
    range=(0.0, 1.0),
    higher_means="less like a tree",
    cost="bases n^3, on max_points items",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "At one base point delta is within a factor of 2 of the four-point one; with a sample it is a lower bound. "
        "Distances concentrate in many dimensions, which makes anything look like a tree."
    ),
    parameters=(
        Parameter("bases", 8, "how many base points; all of them give the four-point delta", minimum=1, maximum=5000),
        Parameter("max_points", 400, "above this many items, a random sample", minimum=4, maximum=2000),
        Parameter("metric", "euclidean", "distance between items", ("euclidean", "cosine")),
        Parameter("seed", 0, "seed of the sample and of the base points", minimum=0, maximum=2**31),
    ),
    min_items=4,
    uses_item_order=True,
    compute=compute,
    accepts_graph=True,
)
