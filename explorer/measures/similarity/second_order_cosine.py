"""Second-order cosine: does each item stand in the same relation to its neighbours of either space?"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.neighbor_lists import K, renamed
from explorer.neighbors import CHUNK_ELEMENTS, nearest


@dataclass(frozen=True)
class DirectionState:
    """Neighbours by cosine (n, k) and the unit rows (n, d)."""

    index: torch.Tensor
    rows: torch.Tensor


def prepare(x: torch.Tensor, k: int, **_: object) -> DirectionState:
    """Find the neighbours once."""
    return DirectionState(nearest(x, k, "cosine").index, unit_rows(x))


def agree(sx: DirectionState, sy: DirectionState, of: str, **_: object) -> torch.Tensor:
    """Cosine between each item's two vectors of similarities to its joint neighbourhood."""
    n, k = sx.index.shape
    step = max(1, CHUNK_ELEMENTS // (2 * k * max(sx.rows.shape[1], sy.rows.shape[1])))
    found = []
    for start in range(0, n, step):
        a, b = sx.index[start : start + step], sy.index[start : start + step]
        joint = torch.cat([a, b], dim=1)
        repeated = (b[:, :, None] == a[:, None, :]).any(dim=2)
        kept = torch.cat([torch.ones_like(repeated), ~repeated], dim=1)
        left, right = (_relations(s.rows, start, joint, of) * kept for s in (sx, sy))
        found.append(torch.nn.functional.cosine_similarity(left, right, dim=1, eps=1e-300))
    return torch.cat(found)


def compare(sx: DirectionState, sy: DirectionState, of: str, **_: object) -> float:
    """Mean over items."""
    return float(agree(sx, sy, of).mean())


def _relations(rows: torch.Tensor, start: int, joint: torch.Tensor, of: str) -> torch.Tensor:
    own = rows[start : start + len(joint)]
    cosine = torch.einsum("nd,njd->nj", own, rows[joint]).double()
    return cosine if of == "similarities" else 1 - cosine


def permute(state: DirectionState, order: torch.Tensor) -> DirectionState:
    """Reorder the items."""
    return DirectionState(renamed(state.index, order), state.rows[order])


MEASURE = Measure(
    id="second_order_cosine",
    name="Second-order cosine similarity",
    family="similarity",
    kind="pairwise",
    authors="Hamilton, Leskovec & Jurafsky",
    year=2016,
    title="Cultural Shift or Linguistic Drift? Comparing Two Computational Measures of Semantic Change",
    formula=r"\frac{1}{n}\sum_i \cos\big(s^X_i, s^Y_i\big),\quad s_i = \big(\cos(x_i, x_j)\big)_{j \in N^X(i) \cup N^Y(i)}",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k d a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Close to 1 for any pair of anisotropic representations, since all similarities are then large and positive: "
        "look at mean_cosine and at chance. On distances, as ReSi does, unrelated data give 0.93."
    ),
    parameters=(
        K,
        Parameter(
            "of",
            "similarities",
            "vectors of cosine similarities, or of cosine distances",
            ("similarities", "distances"),
        ),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    agree=agree,
    presets=(
        Preset("Hamilton 2016", {"of": "similarities"}, "cosine similarities, as in the source"),
        Preset("ReSi", {"of": "distances"}, "takes cosine distances instead, which stays near 1 for unrelated data"),
    ),
)
