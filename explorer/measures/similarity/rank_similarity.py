"""Rank similarity: do the shared neighbours come at the same ranks?"""

from __future__ import annotations

import torch

from explorer.measures.registry import Measure
from explorer.neighbor_lists import METRIC, K, NeighbourState, permute, prepare


def agree(sx: NeighbourState, sy: NeighbourState, **_: object) -> torch.Tensor:
    """Rank similarity of each item, (n,) float64; 0 where no neighbour is shared."""
    n, k = sx.index.shape
    rank = torch.arange(1, k + 1, dtype=torch.float64, device=sx.index.device)
    weight = torch.zeros(n, dtype=torch.float64, device=sx.index.device)
    count = torch.zeros(n, dtype=torch.int64, device=sx.index.device)
    for place, column in enumerate(sx.index.T, start=1):
        same = sy.index == column[:, None]
        weight += (same * 2 / ((1 + (rank - place).abs()) * (rank + place))).sum(dim=1)
        count += same.any(dim=1)
    harmonic = torch.cat([rank.new_ones(1), (1 / rank).cumsum(0)])
    return weight / harmonic[count]


def compare(sx: NeighbourState, sy: NeighbourState, **_: object) -> float:
    """Mean over items."""
    return float(agree(sx, sy).mean())


MEASURE = Measure(
    id="rank_similarity",
    name="Rank similarity of shared neighbours",
    family="similarity",
    kind="pairwise",
    authors="Wang, Rohatgi, Liu, Wang & Pfister, in the form of Klabunde et al. (2025)",
    year=2020,
    title="Towards Understanding the Instability of Network Embedding",
    formula=r"\frac{1}{n}\sum_i \frac{1}{H_{c_i}}\sum_{j \in N^X \cap N^Y}\frac{2}{(1+|r_j^X-r_j^Y|)(r_j^X+r_j^Y)}",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Normalised by how many neighbours are shared, so an item that shares its first neighbour alone counts as full "
        "agreement: read it beside mutual_knn."
    ),
    parameters=(K, METRIC),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    agree=agree,
)
