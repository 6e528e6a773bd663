"""Topological RSA: compare RDMs after flattening their smallest and largest dissimilarities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.measures.similarity import rsa
from explorer.measures.similarity.rsa import RDMState

GRID = np.linspace(0, 1, 6)


@dataclass(frozen=True)
class TopologicalState:
    """Upper triangles (n (n - 1) / 2,) of the RDM, untouched, and after its transform, ready to correlate."""

    plain: RDMState
    ready: RDMState


def prepare(x: torch.Tensor, distance: str, lower: float, upper: float, ranked: bool) -> TopologicalState:
    """Compute the RDM once and transform it."""
    if lower > upper:
        raise ExplorerError(f"trsa: lower = {lower:g} must not exceed upper = {upper:g}.")
    n = len(x)
    rows, columns = torch.triu_indices(n, n, 1, device=x.device)
    vector = rsa.rdm(x, distance)[rows, columns]
    if ranked:
        vector = rsa.average_ranks(rsa.quantised(vector, rsa.DIGITS[x.dtype]))
    return TopologicalState(RDMState(vector, n), RDMState(_standard(geotopological(vector, lower, upper)), n))


def geotopological(vector: torch.Tensor, lower: float, upper: float) -> torch.Tensor:
    """Below the lower quantile 0, above the upper one 1, linear between; equal quantiles make a step."""
    values = vector.cpu().numpy()
    low, high = (float(np.quantile(values, q)) for q in (lower, upper))
    if high <= low:
        return (vector > low).double()
    return ((vector - low) / (high - low)).clamp(0, 1)


def _standard(vector: torch.Tensor) -> torch.Tensor:
    shifted = vector - vector.mean()
    norm = shifted.norm()
    if float(norm) <= 1e-12 * len(vector) ** 0.5:
        raise Undefined("between these quantiles all dissimilarities become equal, so their correlation is undefined")
    return shifted / norm


def compare(sx: TopologicalState, sy: TopologicalState, **_: object) -> float:
    """Pearson correlation of the two transformed RDMs."""
    return float((sx.ready.vector @ sy.ready.vector).clamp(-1, 1))


def compare_matrix(
    states_x: Sequence[TopologicalState], states_y: Sequence[TopologicalState], **_: object
) -> np.ndarray:
    """All pairs by one matrix product."""
    left, right = (torch.stack([s.ready.vector for s in states]) for states in (states_x, states_y))
    return (left @ right.T).clamp(-1, 1).cpu().numpy()


def explain(sx: TopologicalState, sy: TopologicalState, **_: object) -> dict[str, Any]:
    """The value for every pair of thresholds on a grid; NaN where lower exceeds upper or nothing varies."""
    found = np.full((len(GRID), len(GRID)), np.nan)
    for i, lower in enumerate(GRID):
        for j, upper in enumerate(GRID[i:], start=i):
            try:
                ready = [_standard(geotopological(s.plain.vector, lower, upper)) for s in (sx, sy)]
            except Undefined:
                continue
            found[i, j] = float(ready[0] @ ready[1])
    return {"quantiles": GRID, "map": found}


def permute(state: TopologicalState, order: torch.Tensor) -> TopologicalState:
    """Reorder the items of the RDM; quantiles do not change."""
    return TopologicalState(state.plain, rsa.permute(state.ready, order))


MEASURE = Measure(
    id="trsa",
    name="Topological RSA (geo-topological RDMs)",
    family="similarity",
    kind="pairwise",
    authors="Lin & Kriegeskorte",
    year=2023,
    title="The Topology and Geometry of Neural Representations",
    formula=r"\mathrm{corr}\big(g_{l,u}(D_X),\ g_{l,u}(D_Y)\big),\quad g_{l,u}(d) = \mathrm{clip}\Big(\tfrac{d - q_l}{q_u - q_l}, 0, 1\Big)",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n^2 d + n^2 log n once a representation, n^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "lower = 0 and upper = 1 is plain RSA; close thresholds keep only who is near whom. Choosing the best cell of "
        "the map after looking needs the null of the best cell."
    ),
    parameters=(
        Parameter("lower", 0.2, "quantile below which a dissimilarity counts as 0", minimum=0.0, maximum=1.0),
        Parameter("upper", 0.8, "quantile above which a dissimilarity counts as 1", minimum=0.0, maximum=1.0),
        Parameter("distance", "euclidean", "dissimilarity of two items", rsa.DISTANCES),
        Parameter("ranked", False, "replace dissimilarities by their ranks first"),
    ),
    min_items=4,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    explain=explain,
    presets=(
        Preset("plain RSA, Pearson", {"lower": 0.0, "upper": 1.0}, "no threshold: geometry only"),
        Preset(
            "TopologicalRSA (package)",
            {"lower": 0.2, "upper": 0.8, "ranked": True},
            "ranks the RDM before the transform",
        ),
        Preset("topology only", {"lower": 0.5, "upper": 0.5}, "a step at the median: an adjacency graph"),
    ),
)
