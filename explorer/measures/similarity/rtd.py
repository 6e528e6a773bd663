"""Representation topology divergence: loops that one representation has and the two together do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import pairwise_distances


@dataclass(frozen=True)
class PointState:
    """The centred points (n, d), scaled to at most 1."""

    points: torch.Tensor
    notes: tuple[str, ...] = ()


def prepare(x: torch.Tensor, max_points: int, draws: int, **_: object) -> PointState:
    """Only centre; distances are taken on the items that are drawn."""
    n = len(x)
    notes = (f"mean over {draws} random subset(s) of {max_points} of {n} items",) if n > max_points else ()
    return PointState(centred_and_scaled(x), notes)


def _samples(n: int, max_points: int, draws: int, seed: int) -> list[np.ndarray]:
    if n <= max_points:
        return [np.arange(n)]
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(n, max_points, replace=False)) for _ in range(draws)]


def _distances(state: PointState, chosen: np.ndarray) -> np.ndarray:
    found = pairwise_distances(state.points[torch.from_numpy(chosen).to(state.points.device)]).cpu().numpy()
    scale = float(np.quantile(found, 0.9))
    if scale <= 0:
        raise Undefined("nine tenths of the distances are zero, so they cannot be brought to one scale")
    return found / scale


def divergence(a: np.ndarray, b: np.ndarray) -> float:
    """Sum of the H1 bars of the doubled graph: (n, n) distances a, and the smaller of a and b."""
    from ripser import ripser

    doubled = np.block([[np.zeros_like(a), a], [a.T, np.minimum(a, b)]])
    bars = ripser(doubled, distance_matrix=True, maxdim=1)["dgms"][1]
    finite = bars[np.isfinite(bars[:, 1])]
    return float((finite[:, 1] - finite[:, 0]).sum())


def values(sx: PointState, sy: PointState, max_points: int, draws: int, seed: int) -> np.ndarray:
    """Both directions for every draw: (draws, 2)."""
    found = []
    for chosen in _samples(len(sx.points), max_points, draws, seed):
        a, b = _distances(sx, chosen), _distances(sy, chosen)
        found.append((divergence(a, b), divergence(b, a)))
    return np.array(found)


def compare(sx: PointState, sy: PointState, **params: int) -> float:
    """Mean over both directions and all draws."""
    return float(values(sx, sy, **params).mean())


def explain(sx: PointState, sy: PointState, **params: int) -> dict[str, float]:
    """The two directions, and the spread over draws."""
    found = values(sx, sy, **params)
    spread = float(found.mean(axis=1).std(ddof=1)) if len(found) > 1 else float("nan")
    return {"x_then_y": float(found[:, 0].mean()), "y_then_x": float(found[:, 1].mean()), "spread": spread}


def permute(state: PointState, order: torch.Tensor) -> PointState:
    """Reorder the items."""
    return PointState(state.points[order], state.notes)


MEASURE = Measure(
    id="rtd",
    name="Representation topology divergence (RTD)",
    family="similarity",
    kind="pairwise",
    authors="Barannikov, Trofimov, Balabin & Burnaev",
    year=2022,
    title="Representation Topology Divergence: A Method for Comparing Neural Network Representations",
    formula=r"\mathrm{RTD}(X, Y) = \tfrac12\sum_{(b,d)}(d - b)\ \text{of both R-cross-barcodes in } H_1",
    range=(0.0, float("inf")),
    higher_means="less alike",
    cost="persistent homology of 2 m points a draw and direction (m = 200: about 0.3 s)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "A sum over bars, so it grows with the number of points: compare at equal max_points. On subsets it is a random "
        "number; the spread over draws stands in the details."
    ),
    parameters=(
        Parameter(
            "max_points", 200, "items in each random subset (all, when there are no more)", minimum=4, maximum=2000
        ),
        Parameter("draws", 5, "how many subsets", minimum=1, maximum=100),
        Parameter("seed", 0, "seed of the subsets", minimum=0, maximum=2**31 - 1),
    ),
    best=0.0,
    min_items=4,
    uses_item_order=True,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
)
