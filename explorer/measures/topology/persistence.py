"""Persistent homology of the Vietoris-Rips filtration, on landmarks where there are many items."""

from __future__ import annotations

import torch

from explorer.homology import longest, rips
from explorer.measures.registry import Measure, Parameter, Result

PARAMETERS = (
    Parameter("metric", "euclidean", "euclidean, or the angle between items", ("euclidean", "cosine")),
    Parameter("max_points", 500, "above this many items, maxmin landmarks are used", minimum=4, maximum=5000),
    Parameter("seed", 0, "seed of the first landmark", minimum=0, maximum=2**31),
)
DEGREE = Parameter("degree", 1, "dimension of the holes: 0 components, 1 loops, 2 voids", minimum=0, maximum=2)


def compute(x: torch.Tensor, max_dim: int, metric: str, max_points: int, seed: int) -> Result:
    """Birth and death of components, loops and voids; the value is the longest finite bar over the diameter."""
    found = rips(x, max_dim, metric, max_points, seed)
    value = longest(found.diagrams[max_dim]) / found.diameter if found.diameter > 0 else 0.0
    details = {
        "diameter": found.diameter,
        "covering_radius": found.radius,
        "landmarks": found.landmarks,
        "max_dim": max_dim,
    }
    return Result(value, diagrams=found.diagrams, details=details, notes=found.notes(len(x)))


MEASURE = Measure(
    id="persistence",
    name="Persistent homology (Vietoris-Rips)",
    family="topology",
    kind="single",
    authors="Edelsbrunner, Letscher & Zomorodian (2002); computed by ripser of Bauer (2021)",
    year=2002,
    title="Topological Persistence and Simplification",
    formula=r"H_q(\mathrm{VR}_r(X)), \quad \max_j (d_j - b_j) / \mathrm{diam}\,X",
    range=(0.0, 1.0),
    higher_means="clearer hole",
    cost="n^3 and far more for loops in noise: landmarks above max_points",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Outliers fill holes, and noise in many dimensions shortens bars. On landmarks the diagram is exact up to "
        "twice the covering radius. Compare bars with those of noise before believing in them."
    ),
    parameters=(
        Parameter("max_dim", 1, "highest homology dimension", minimum=0, maximum=2),
        PARAMETERS[0],
        Parameter("max_points", 5000, "above this many items, maxmin landmarks are used", minimum=4, maximum=5000),
        PARAMETERS[2],
    ),
    compute=compute,
)
