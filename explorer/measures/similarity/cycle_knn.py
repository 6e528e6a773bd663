"""Cycle kNN: from an item to a neighbour in Y, and back by the neighbours in X."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import gammaln

from explorer.measures.registry import Measure
from explorer.neighbor_lists import METRIC, K, NeighbourState, permute, prepare


def compare(sx: NeighbourState, sy: NeighbourState, **_: object) -> float:
    """Share of items i that are an X-neighbour of one of their Y-neighbours."""
    n = len(sx.index)
    own = torch.arange(n, device=sx.index.device)[:, None]
    # One look-up a neighbour, not an (n, k, k) table.
    returns = torch.zeros(n, dtype=torch.bool, device=sx.index.device)
    for column in sy.index.T:
        returns |= (sx.index[column] == own).any(dim=1)
    return float(returns.double().mean())


def null_moments(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> tuple[float, float]:
    """Exact mean: k random others must all miss the items that have i among their X-neighbours."""
    n = len(sx.index)
    popularity = sx.index.flatten().bincount(minlength=n).cpu().numpy().astype(float)
    others = n - 1 - popularity
    possible = others >= k
    misses = np.zeros(n)
    a = others[possible]
    misses[possible] = np.exp(gammaln(a + 1) - gammaln(a - k + 1) - gammaln(n) + gammaln(n - k))
    return float(1 - misses.mean()), float("nan")


MEASURE = Measure(
    id="cycle_knn",
    name="Cycle k nearest neighbours",
    family="similarity",
    kind="pairwise",
    authors="Huh, Cheung, Wang & Isola",
    year=2024,
    title="The Platonic Representation Hypothesis",
    formula=r"\frac{1}{n}\sum_i \mathbb{1}\big[\exists\, j \in N_k^Y(i): i \in N_k^X(j)\big]",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Directed: swapping the two representations gives another number. Saturates near 1 already for moderate k, and "
        "a representation compared with itself need not reach 1 (an item may be nobody's neighbour)."
    ),
    parameters=(K, METRIC),
    symmetric=False,
    self_is_best=False,
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    null_moments=null_moments,
)
