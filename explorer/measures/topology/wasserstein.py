"""Wasserstein distance between the persistence diagrams of two representations."""

from __future__ import annotations

import numpy as np
import torch

from explorer.homology import rips
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.measures.topology.persistence import DEGREE, PARAMETERS


def prepare(x: torch.Tensor, degree: int, metric: str, max_points: int, seed: int, **_: object) -> np.ndarray:
    """The finite bars over the diameter, once."""
    return rips(x, max(degree, 1), metric, max_points, seed).bars(degree)


def compare(sx: np.ndarray, sy: np.ndarray, order: int, ground: str, **_: object) -> float:
    """Cheapest way to turn one diagram into the other; bars may shrink to the diagonal."""
    from gudhi.wasserstein import wasserstein_distance

    if sx.shape == sy.shape and np.array_equal(sx, sy):
        return 0.0
    return float(wasserstein_distance(sx, sy, order=order, internal_p=2.0 if ground == "euclidean" else np.inf))


def permute(state: np.ndarray, order: torch.Tensor) -> np.ndarray:
    """A diagram does not know which item is which."""
    return state


MEASURE = Measure(
    id="wasserstein",
    name="Wasserstein distance of diagrams",
    family="topology",
    kind="pairwise",
    authors="Cohen-Steiner, Edelsbrunner, Harer & Mileyko; computed by GUDHI and POT",
    year=2010,
    title="Lipschitz Functions Have Lp-Stable Persistence",
    formula=r"\Big(\inf_\gamma \sum_j \lVert a_j - \gamma(a_j) \rVert^p\Big)^{1/p}",
    range=(0.0, float("inf")),
    higher_means="less alike",
    cost="that of persistence once a representation, bars^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Uses no correspondence between items, so permutations say nothing: compare with other layers or data.",
    parameters=(
        DEGREE,
        Parameter("order", 1, "p, the power of the cost", minimum=1, maximum=10),
        Parameter("ground", "chebyshev", "distance in the plane of birth and death", ("chebyshev", "euclidean")),
        *PARAMETERS,
    ),
    presets=(
        Preset("persim", {"ground": "euclidean", "order": 1}, "Euclidean distance in the plane"),
        Preset("GUDHI", {"ground": "chebyshev", "order": 1}, "largest of the two differences"),
    ),
    is_metric=True,
    best=0.0,
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
