"""CKNNA: kernel alignment restricted to mutual nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined, unit_rows
from explorer.measures.registry import Measure, Parameter
from explorer.neighbor_lists import K, renamed
from explorer.neighbors import nearest


@dataclass(frozen=True)
class KernelListState:
    """Neighbours (n, k) and their cosine similarities (n, k) float64: the kept entries of the kernel."""

    index: torch.Tensor
    value: torch.Tensor


def prepare(x: torch.Tensor, k: int, estimator: str) -> KernelListState:
    """Find the neighbours once. The biased form counts the item itself among the k, as its source does."""
    if estimator == "debiased" and len(x) < 4:
        raise ExplorerError(f"Debiased CKNNA needs at least 4 items, but there are {len(x)}.")
    if estimator == "debiased":
        found = nearest(x, k, "cosine")
        return KernelListState(found.index, 1 - found.distance)
    unit_rows(x)
    own = torch.arange(len(x), device=x.device)[:, None]
    if k == 1:
        return KernelListState(own, torch.ones_like(own, dtype=torch.float64))
    found = nearest(x, k - 1, "cosine")
    ones = torch.ones_like(own, dtype=torch.float64)
    return KernelListState(torch.cat([own, found.index], 1), torch.cat([ones, 1 - found.distance], 1))


@dataclass(frozen=True)
class _Entries:
    """Entries of two kernels under one mask: flat places i * n + j, ascending, with both values."""

    place: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor


def _shared(sx: KernelListState, sy: KernelListState) -> _Entries:
    """The entries that both masks keep."""
    n, k = sx.index.shape
    start = torch.arange(n, device=sx.index.device)[:, None] * n
    place_x, order_x = (start + sx.index).flatten().sort()
    place_y, order_y = (start + sy.index).flatten().sort()
    found = torch.searchsorted(place_y, place_x).clamp(max=n * k - 1)
    both = place_y[found] == place_x
    return _Entries(place_x[both], sx.value.flatten()[order_x][both], sy.value.flatten()[order_y][found[both]])


def _hsic(entries: _Entries, n: int, estimator: str) -> float:
    """HSIC of two sparse matrices K, L with the same mask: sums over K_ij L_ji, columns of K and rows of L."""
    row, column = entries.place // n, entries.place % n
    mirrored = column * n + row
    found = torch.searchsorted(entries.place, mirrored).clamp(max=max(len(entries.place) - 1, 0))
    present = entries.place[found] == mirrored if len(entries.place) else found.bool()
    product = float((entries.left * torch.where(present, entries.right[found], 0.0)).sum()) if len(found) else 0.0
    zero = torch.zeros(n, dtype=torch.float64, device=row.device)
    left_columns, right_rows = zero.index_add(0, column, entries.left), zero.index_add(0, row, entries.right)
    left_rows, right_columns = zero.index_add(0, row, entries.left), zero.index_add(0, column, entries.right)
    chained = float(left_columns @ right_rows)
    totals = float(entries.left.sum() * entries.right.sum())
    if estimator == "debiased":
        return (product + totals / ((n - 1) * (n - 2)) - 2 * chained / (n - 2)) / (n * (n - 3))
    return product - (chained + float(right_columns @ left_rows)) / n + totals / n**2


def compare(sx: KernelListState, sy: KernelListState, estimator: str, **_: object) -> float:
    """One pair; each norm keeps its own side's mask."""
    n = len(sx.index)
    own = [_hsic(_shared(s, s), n, estimator) for s in (sx, sy)]
    if min(own) <= 0:
        raise Undefined("the kernel of one side, kept at its nearest neighbours, has no positive norm")
    return _hsic(_shared(sx, sy), n, estimator) / (own[0] * own[1]) ** 0.5


def permute(state: KernelListState, order: torch.Tensor) -> KernelListState:
    """Reorder the items."""
    return KernelListState(renamed(state.index, order), state.value[order])


MEASURE = Measure(
    id="cknna",
    name="Centred kernel nearest-neighbour alignment (CKNNA)",
    family="similarity",
    kind="pairwise",
    authors="Huh, Cheung, Wang & Isola",
    year=2024,
    title="The Platonic Representation Hypothesis",
    formula=r"\frac{\mathrm{Align}(K, L)}{\sqrt{\mathrm{Align}(K, K)\,\mathrm{Align}(L, L)}},\quad \mathrm{Align}(K, L) = \mathrm{HSIC}(\alpha \odot K,\ \alpha \odot L)",
    range=(-float("inf"), float("inf")),
    higher_means="more alike",
    cost="n^2 d once a representation, n k log(n k) a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Experimental: numerator and denominators keep different masks, so it is not bounded by 1 (1.012 was seen), "
        "and k of at least 2 is needed to mean anything. Slightly directed, since neighbours are. Falls as items are added."
    ),
    parameters=(
        K,
        Parameter("estimator", "debiased", "U-statistic (debiased) or plain HSIC (biased)", ("debiased", "biased")),
    ),
    symmetric=False,
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
