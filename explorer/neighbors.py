"""Distances and nearest neighbours: exact, in chunks, ties broken by index. The only place that has them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.errors import ExplorerError
from explorer.linalg import centred, largest, unit_rows
from explorer.sharing import hold, known

METRICS = ("cosine", "euclidean", "centred_cosine")
CHUNK_ELEMENTS = 1 << 24
CACHED_ELEMENTS = 1 << 18
SLACK = 8
KEY_BITS = 40


@dataclass(frozen=True)
class Neighbours:
    """The k nearest neighbours of each item, self excluded, nearest first.

    ``index`` is (n, k) int64; ``distance`` is (n, k) float64 in the units of the metric (cosine: 1 - cos).
    """

    index: torch.Tensor
    distance: torch.Tensor


def chunk_rows(n: int) -> int:
    """How many rows of an n-wide matrix to hold at once."""
    return max(1, min(n, CHUNK_ELEMENTS // max(n, 1)))


def metric_points(x: torch.Tensor, metric: str) -> torch.Tensor:
    """Points whose Euclidean distances order the items as the metric does (unit rows for cosine)."""
    if metric == "cosine":
        return unit_rows(x)
    if metric == "centred_cosine":
        return unit_rows(centred(x))
    if metric == "euclidean":
        return centred(x)
    raise ExplorerError(f"There is no metric '{metric}'; there are {', '.join(METRICS)}.")


def nearest(x: torch.Tensor, k: int, metric: str = "cosine") -> Neighbours:
    """Find the k nearest neighbours of every item, exactly.

    Candidates come from a matrix product; their distances are then taken again by direct differences in
    float64, since the product loses the smallest distances to cancellation. Rows in which rounding could have
    hidden a nearer item are searched again in float64. Ties are broken by index.

    Raises
    ------
    ExplorerError
        When there are not more than k items.
    """
    n = x.shape[0]
    if not 1 <= k <= n - 1:
        raise ExplorerError(f"k = {k} neighbours were asked for, but there are {n} items; k must be 1 to {n - 1}.")
    before: Neighbours | None = known(x, ("nearest", metric))
    if before is None or before.index.shape[1] < k:
        before = _search(x, k, metric)
        hold(x, ("nearest", metric), before)
    return Neighbours(before.index[:, :k], before.distance[:, :k])


def _search(x: torch.Tensor, k: int, metric: str) -> Neighbours:
    n = x.shape[0]
    # Distances do not change with the origin; near the mean the matrix product loses the fewest digits.
    points = centred(metric_points(x, metric))
    factor = float(points.abs().max()) or 1.0
    points = points / factor
    candidates = min(n - 1, k + SLACK)
    norms = points.double().square().sum(dim=1)
    rows = chunk_rows(n)
    parts = [_nearest_rows(points, norms, start, min(start + rows, n), k, candidates) for start in range(0, n, rows)]
    index = torch.cat([part[0] for part in parts])
    distance = torch.cat([part[1] for part in parts]) * factor
    return Neighbours(index, distance if metric == "euclidean" else distance.square() / 2)


def _nearest_rows(
    points: torch.Tensor, norms: torch.Tensor, start: int, stop: int, k: int, candidates: int
) -> tuple[torch.Tensor, torch.Tensor]:
    own = torch.arange(start, stop, device=points.device)
    # Without the own norm, which is the same along a row.
    reduced = torch.addmm(norms.to(points.dtype), points[own], points.T, alpha=-2)
    reduced[own - start, own] = torch.inf
    value, found = reduced.topk(candidates, dim=1, largest=False)
    index, distance = _closest(points, own, found, k)
    if candidates == points.shape[0] - 1:
        return index, distance
    # An item outside the candidates is certainly further than the k-th when rounding cannot close the gap.
    rounding = 8 * torch.finfo(points.dtype).eps * points.shape[1] ** 0.5 * float(norms.max())
    gap = value.amax(dim=1).double() + norms[own] - distance[:, -1].square()
    unsure = (gap <= rounding).nonzero()[:, 0]
    if len(unsure):
        index[unsure], distance[unsure] = _careful(points, norms, own[unsure], k, candidates)
    return index, distance


def _careful(
    points: torch.Tensor, norms: torch.Tensor, own: torch.Tensor, k: int, candidates: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows with many items at almost the same distance: in float64, near ties to the lower index."""
    whole = points.double()
    squared = torch.addmm(norms, whole[own], whole.T, alpha=-2) + norms[own, None]
    squared[torch.arange(len(own), device=own.device), own] = torch.inf
    return _closest(points, own, _smallest(squared.clamp(min=0), candidates, len(points)), k)


def _closest(points: torch.Tensor, own: torch.Tensor, found: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k nearest of the candidates, by their distances taken directly; ties to the lower index."""
    found = found.sort(dim=1).values
    exact = _direct_distances(points, own, found)
    # Equal distances must tie exactly for the index to decide: keep 12 significant digits.
    order = torch.argsort(_rounded(exact), dim=1, stable=True)[:, :k]
    return found.gather(1, order), exact.gather(1, order)


def _smallest(squared: torch.Tensor, count: int, n: int) -> torch.Tensor:
    """Columns of the ``count`` smallest entries of each row, ascending by index; near ties go to the lower index."""
    if count >= n - 1:
        return squared.argsort(dim=1)[:, :count].sort(dim=1).values
    # A 64-bit key of (quantised distance, index) makes every key unique, so top-k is deterministic.
    largest = squared[torch.isfinite(squared)].max().clamp(min=torch.finfo(squared.dtype).tiny)
    share = (squared / largest).double().clamp(0, 1)
    key = (share * (1 << KEY_BITS)).long() * n + torch.arange(n, device=squared.device)
    key[~torch.isfinite(squared)] = torch.iinfo(torch.int64).max
    return (key.topk(count, dim=1, largest=False).values % n).sort(dim=1).values


def _direct_distances(points: torch.Tensor, own: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    """Distances (m, candidates) in float64 by differences, in blocks that stay in the processor's cache."""
    step = max(1, CACHED_ELEMENTS // (found.shape[1] * points.shape[1]))
    result = torch.empty(found.shape, dtype=torch.float64, device=points.device)
    for start in range(0, len(own), step):
        block = points[found[start : start + step]].double()
        block -= points[own[start : start + step], None]
        torch.linalg.vector_norm(block, dim=2, out=result[start : start + step])
    return result


def _rounded(values: torch.Tensor, digits: int = 12) -> torch.Tensor:
    largest = values.max().clamp(min=torch.finfo(values.dtype).tiny)
    return torch.round(values / largest * 10**digits)


def pairwise_distances(x: torch.Tensor, metric: str = "euclidean") -> torch.Tensor:
    """The full (n, n) float64 distance matrix (cosine: 1 - cos); for n up to some thousands.

    Euclidean distances are those of centred points, so that a common offset does not cancel digits.
    """
    if metric != "euclidean":
        unit = metric_points(x, metric).double()
        distance = 1 - unit @ unit.T
    else:
        points = metric_points(x, metric).double()
        distance = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    distance.fill_diagonal_(0)
    return distance.clamp(min=0)


def count_duplicates(neighbours: Neighbours) -> int:
    """How many items have a neighbour at (nearly) zero distance: below 1e-6 of the median nearest distance."""
    first = neighbours.distance[:, 0]
    return int((first <= 1e-6 * first.median()).sum())


def first_of_each(x: torch.Tensor) -> torch.Tensor:
    """Mark the first item of every group of equal items, (n,) bool."""
    _, inverse = torch.unique(x, dim=0, return_inverse=True)
    position = torch.arange(len(x), device=x.device)
    first = torch.full((int(inverse.max()) + 1,), len(x), device=x.device).scatter_reduce(
        0, inverse, position, reduce="amin"
    )
    return first[inverse] == position


def distinct_items(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The items without repeats of an earlier one, and which were kept, (n,) bool; x itself where none repeats.

    One repeated item drives estimates from distances between neighbours to zero or infinity.
    """
    if not count_duplicates(nearest(x, 1, "euclidean")):
        return x, torch.ones(len(x), dtype=torch.bool, device=x.device)
    kept = first_of_each(x)
    return (x, kept) if bool(kept.all()) else (x[kept], kept)


def merged_note(kept: torch.Tensor) -> tuple[str, ...]:
    """A remark on items that were merged, if any were."""
    merged = int((~kept).sum())
    return (f"{merged} items repeat another and were merged",) if merged else ()


def pairs_within(x: torch.Tensor, radii: list[float]) -> list[int]:
    """How many pairs of items lie closer than each radius (Euclidean).

    Where a row's known neighbours reach beyond the largest radius they are counted; only crowded rows are searched.
    """
    found: Neighbours | None = known(x, ("nearest", "euclidean"))
    if found is None:
        found = nearest(x, min(len(x) - 1, 1), "euclidean")
    crowded = found.distance[:, -1] < max(radii)
    counts = [int((found.distance[~crowded] < r).sum()) for r in radii]
    points = metric_points(x, "euclidean")
    factor = largest(points) or 1.0
    points = points / factor
    own = crowded.nonzero()[:, 0]
    for part in own.split(max(1, CHUNK_ELEMENTS // len(x))):
        inside = _within(points, part, [r / factor for r in radii])
        counts = [c + i - len(part) for c, i in zip(counts, inside)]
    # Each pair was met from both ends.
    return [c // 2 for c in counts]


def _within(points: torch.Tensor, own: torch.Tensor, radii: list[float]) -> list[int]:
    """How many items (themselves included) lie nearer to some items than each radius; what rounding leaves open is measured."""
    norms = points.double().square().sum(dim=1)
    squared = torch.addmm(norms.to(points.dtype), points[own], points.T, alpha=-2)
    squared += norms[own].to(points.dtype)[:, None]
    rounding = 16 * torch.finfo(points.dtype).eps * points.shape[1] ** 0.5 * float(norms.max())
    counts = []
    for radius in radii:
        sure = int((squared < radius**2 - rounding).sum())
        open_rows, open_columns = ((squared - radius**2).abs() <= rounding).nonzero().T
        step = max(1, CHUNK_ELEMENTS // points.shape[1])
        for rows, columns in zip(open_rows.split(step), open_columns.split(step)):
            distance = (points[own[rows]].double() - points[columns].double()).norm(dim=1)
            sure += int((distance < radius).sum())
        counts.append(sure)
    return counts
