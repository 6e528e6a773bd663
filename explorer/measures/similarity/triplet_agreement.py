"""Odd one out: in how many triplets of items do two representations single out the same one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import torch

from explorer.linalg import centred, unit_rows
from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import CHUNK_ELEMENTS


@dataclass(frozen=True)
class TripletState:
    """Rows whose inner products are the similarities, the triplets (m, 3), and the odd place (m,) in each."""

    rows: torch.Tensor
    triplets: torch.Tensor
    odd: torch.Tensor


def draw_triplets(n: int, count: int, seed: int) -> np.ndarray:
    """All triplets where there are no more than ``count``, else that many at random: (m, 3) positions."""
    if comb(n, 3) <= count:
        return np.array(list(combinations(range(n), 3)), dtype=np.int64)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n, size=(count, 3))
    while True:
        bad = (drawn[:, 0] == drawn[:, 1]) | (drawn[:, 0] == drawn[:, 2]) | (drawn[:, 1] == drawn[:, 2])
        if not bad.any():
            return drawn
        drawn[bad] = rng.integers(n, size=(int(bad.sum()), 3))


def prepare(x: torch.Tensor, triplets: int, similarity: str, seed: int) -> TripletState:
    """Find the odd one of every triplet once."""
    # Cosines beside a large common offset differ past float32's last digit.
    rows = unit_rows(x.double()) if similarity == "cosine" else centred(x)
    chosen = torch.from_numpy(draw_triplets(len(x), triplets, seed)).to(x.device)
    return TripletState(rows, chosen, odd_places(rows, chosen))


def odd_places(rows: torch.Tensor, triplets: torch.Tensor) -> torch.Tensor:
    """The place (0, 1, 2) outside the most similar pair of each triplet; ties go to the first."""
    step = max(1, CHUNK_ELEMENTS // (3 * rows.shape[1]))
    found = []
    for part in triplets.split(step):
        a, b, c = (rows[part[:, place]].double() for place in range(3))
        # The pair that leaves place p out stands in column p.
        found.append(torch.stack([(b * c).sum(1), (a * c).sum(1), (a * b).sum(1)], dim=1).argmax(dim=1))
    return torch.cat(found)


def compare_matrix(states_x: Sequence[TripletState], states_y: Sequence[TripletState], **_: object) -> np.ndarray:
    """All pairs: counts of equal answers."""
    right = torch.stack([s.odd for s in states_y])
    return np.array([(right == s.odd).double().mean(dim=1).cpu().numpy() for s in states_x])


def compare(sx: TripletState, sy: TripletState, **_: object) -> float:
    """One pair."""
    return float(compare_matrix([sx], [sy])[0, 0])


def permute(state: TripletState, order: torch.Tensor) -> TripletState:
    """Reorder the items and ask again."""
    rows = state.rows[order]
    return TripletState(rows, state.triplets, odd_places(rows, state.triplets))


def null_moments(sx: TripletState, sy: TripletState, **_: object) -> tuple[float, float]:
    """Exactly a third under row permutations: the odd place is then uniform."""
    return 1 / 3, float("nan")


MEASURE = Measure(
    id="triplet_agreement",
    name="Odd-one-out triplet agreement",
    family="similarity",
    kind="pairwise",
    authors="Hebart, Zheng, Pereira & Baker (the task); used between models in later THINGS studies",
    year=2020,
    title="Revealing the multidimensional mental representations of natural objects underlying human similarity judgements",
    formula=r"\Pr_{ijk}\big[\mathrm{odd}_X(i, j, k) = \mathrm{odd}_Y(i, j, k)\big]",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="m d once a representation for m triplets, m a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Chance is 1/3. Random triplets rarely hold two close items, so the number tells of coarse structure; people "
        "agree with one another in about two thirds of such triplets."
    ),
    parameters=(
        Parameter("triplets", 20_000, "random triplets (all, when there are no more)", minimum=1, maximum=10_000_000),
        Parameter("similarity", "cosine", "cosine, or inner product of centred items", ("cosine", "dot")),
        Parameter("seed", 0, "seed of the triplets", minimum=0, maximum=2**31 - 1),
    ),
    min_items=3,
    uses_item_order=True,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_moments=null_moments,
)
