"""Mutual k nearest neighbours: the share of neighbours that two representations have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer import neighbor_lists
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.neighbor_lists import METRIC, K, NeighbourState, permute, shared_counts


def prepare(x: torch.Tensor, k: int, metric: str, clip: float = 1.0) -> NeighbourState:
    """Find the neighbours once, after clipping features at a quantile of their absolute values where asked for."""
    if clip < 1:
        bound = float(np.quantile(x.abs().cpu().numpy(), clip))
        x = x.clamp(-bound, bound)
    return neighbor_lists.prepare(x, k, metric)


def compare_matrix(
    states_x: Sequence[NeighbourState], states_y: Sequence[NeighbourState], k: int, **_: object
) -> np.ndarray:
    """Integer counts of shared neighbours for all pairs, divided once at the end: equal counts tie exactly."""
    index_x = torch.stack([s.index for s in states_x])
    index_y = torch.stack([s.index for s in states_y])
    total = shared_counts(index_x, index_y).sum(dim=2)
    return total.double().cpu().numpy() / (index_x.shape[1] * k)


def compare(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> float:
    """One pair."""
    return float(compare_matrix([sx], [sy], k)[0, 0])


def agree(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> torch.Tensor:
    """Share of neighbours in common, item by item."""
    return shared_counts(sx.index[None], sy.index[None])[0, 0].double() / k


def null_moments(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> tuple[float, float]:
    """Exact mean under row permutations, k / (n - 1); the deviation is left to the permutations."""
    return k / (len(sx.index) - 1), float("nan")


MEASURE = Measure(
    id="mutual_knn",
    name="Mutual k nearest neighbours",
    family="similarity",
    kind="pairwise",
    authors="Huh, Cheung, Wang & Isola",
    year=2024,
    title="The Platonic Representation Hypothesis",
    formula=r"\frac{1}{n}\sum_i \frac{|N_k^X(i) \cap N_k^Y(i)|}{k}",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Chance is k / (n - 1), and the value falls as items are added (the gallery grows): compare only at equal n "
        "and k. Cosine neighbours change when all items are shifted."
    ),
    parameters=(
        K,
        METRIC,
        Parameter(
            "clip", 1.0, "clip features at this quantile of all absolute values (1: off)", minimum=0.5, maximum=1.0
        ),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_moments=null_moments,
    agree=agree,
    presets=(
        Preset(
            "Platonic representation (Huh 2024)",
            {"k": 10, "metric": "cosine", "clip": 0.95},
            "features clipped at the 95th percentile of absolute values, then unit rows; the paper prints the best pair "
            "of layers without its null",
        ),
        Preset("calibrated-similarity", {"k": 10, "metric": "cosine", "clip": 1.0}, "no clipping; thresholded score"),
    ),
)
