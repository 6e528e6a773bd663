"""Longest common subsequence of the two ordered lists of neighbours."""

from __future__ import annotations

from typing import Any

import torch

from explorer.measures.registry import Measure, Parameter
from explorer.neighbor_lists import METRIC, K, NeighbourState, permute, prepare
from explorer.neighbors import CHUNK_ELEMENTS


def common_lengths(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Length of the longest common subsequence of each row of two (n, k) tables: (n,) int64.

    The usual table of lengths, filled for all items at once; its rows are running maxima, so k steps suffice.
    """
    n, k = a.shape
    previous = torch.zeros(n, k + 1, dtype=torch.int64, device=a.device)
    for step in range(k):
        extended = torch.where(a[:, step : step + 1] == b, previous[:, :-1] + 1, previous[:, 1:])
        previous = torch.nn.functional.pad(extended, (1, 0)).cummax(dim=1).values
    return previous[:, -1]


def agree(sx: NeighbourState, sy: NeighbourState, k: int, normalized: bool, **_: object) -> torch.Tensor:
    """Length item by item, in neighbours or as a share of k."""
    rows = max(1, CHUNK_ELEMENTS // (4 * k))
    parts = [common_lengths(a, b) for a, b in zip(sx.index.split(rows), sy.index.split(rows))]
    return torch.cat(parts).double() / (k if normalized else 1)


def compare(sx: NeighbourState, sy: NeighbourState, **params: Any) -> float:
    """Mean length over items."""
    return float(agree(sx, sy, **params).mean())


MEASURE = Measure(
    id="lcs_knn",
    name="Longest common subsequence of neighbours",
    family="similarity",
    kind="pairwise",
    authors="Huh, Cheung, Wang & Isola",
    year=2024,
    title="The Platonic Representation Hypothesis",
    formula=r"\frac{1}{n}\sum_i \mathrm{LCS}\big(N_k^X(i), N_k^Y(i)\big)",
    range=(0.0, 1000.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "The order of the neighbours counts, not only who they are. In neighbours (0 to k) as in the source; "
        "normalized divides by k. Falls as items are added."
    ),
    parameters=(K, METRIC, Parameter("normalized", False, "divide by k, so that 1 is the same order everywhere")),
    best_of=lambda k, normalized, **_: 1.0 if normalized else float(k),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    agree=agree,
)
