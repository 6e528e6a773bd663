"""Bottleneck distance between the persistence diagrams of two representations."""

from __future__ import annotations

import numpy as np

from explorer.measures.registry import Measure
from explorer.measures.topology.persistence import DEGREE, PARAMETERS
from explorer.measures.topology.wasserstein import permute, prepare


def compare(sx: np.ndarray, sy: np.ndarray, **_: object) -> float:
    """The largest move in the best matching; bars may shrink to the diagonal."""
    import gudhi

    return float(gudhi.bottleneck_distance(sx, sy)) if not np.array_equal(sx, sy) else 0.0


MEASURE = Measure(
    id="bottleneck",
    name="Bottleneck distance of diagrams",
    family="topology",
    kind="pairwise",
    authors="Cohen-Steiner, Edelsbrunner & Harer; computed by GUDHI",
    year=2007,
    title="Stability of Persistence Diagrams",
    formula=r"\inf_\gamma \max_j \lVert a_j - \gamma(a_j) \rVert_\infty",
    range=(0.0, 1.0),
    higher_means="less alike",
    cost="that of persistence once a representation, bars^1.5 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Only the single worst bar counts. Uses no correspondence between items, so permutations say nothing.",
    parameters=(DEGREE, *PARAMETERS),
    is_metric=True,
    best=0.0,
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
