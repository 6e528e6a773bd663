"""Length of the minimum spanning tree of the items."""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse.csgraph import minimum_spanning_tree

from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import distinct_items, merged_note, pairwise_distances


def compute(x: torch.Tensor, metric: str, normalise: str, max_points: int, seed: int) -> Result:
    """Sum of the tree's edges, or their mean over the diameter."""
    points, kept = distinct_items(x)
    notes = merged_note(kept)
    if len(points) > max_points:
        chosen = np.sort(np.random.default_rng(seed).choice(len(points), max_points, replace=False))
        notes += (f"{max_points} of {len(points)} items, drawn at random",)
        points = points[torch.from_numpy(chosen).to(x.device)]
    distances = pairwise_distances(points, metric).cpu().numpy()
    edges = minimum_spanning_tree(distances).data
    total = float(edges.sum())
    diameter = float(distances.max())
    if normalise == "mean_over_diameter":
        total = total / (max(len(points) - 1, 1) * diameter) if diameter > 0 else 0.0
    return Result(
        total,
        details={"edges": len(edges), "diameter": diameter, "longest": float(edges.max(initial=0.0))},
        notes=notes,
    )


MEASURE = Measure(
    id="mst_length",
    name="Minimum spanning tree length",
    family="isotropy",
    kind="single",
    authors="Steele (1988); for representations Mordacq, Loiseaux, Kalogeiton & Oudot (2025)",
    year=1988,
    title="Growth Rates of Euclidean Minimal Spanning Trees with Power Weighted Edges",
    formula=r"\sum_{(i, j) \in \mathrm{MST}(X)} \lVert x_i - x_j \rVert",
    range=(0.0, float("inf")),
    higher_means="more spread out",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "translation", "feature_permutation"}),
    caveat="Has the units of the features, and grows as n^((d-1)/d): compare layers at the same n, or normalised.",
    parameters=(
        Parameter("metric", "euclidean", "distance between items", ("euclidean", "cosine")),
        Parameter("normalise", "none", "sum, or mean edge over the diameter", ("none", "mean_over_diameter")),
        Parameter("max_points", 5000, "above this many items, a random sample", minimum=4, maximum=20_000),
        Parameter("seed", 0, "seed of the sample", minimum=0, maximum=2**31),
    ),
    uses_item_order=False,
    compute=compute,
)
