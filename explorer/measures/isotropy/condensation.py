"""Condensation: how narrow the cone around the mean direction is that holds most items."""

from __future__ import annotations

import math

import numpy as np
import torch

from explorer.linalg import Undefined, unit_rows
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import chunk_rows

BINS = 200


def compute(x: torch.Tensor, share: float) -> Result:
    """Half-angle (radians) of the cone; ``items`` holds the angles, ``details`` the cosines of all pairs."""
    unit = unit_rows(x).double()
    mean = unit.mean(dim=0)
    if float(mean.norm()) <= 1e-9:
        raise Undefined("the directions of the items cancel: there is no mean direction")
    angles = torch.arccos((unit @ (mean / mean.norm())).clamp(-1, 1))
    counts = _cosine_histogram(unit)
    edges = np.linspace(-1, 1, BINS + 1)
    details = {"mean_direction_length": float(mean.norm()), "cosine_counts": counts, "cosine_edges": edges}
    return Result(float(torch.quantile(angles, share)), items=angles.cpu().numpy(), details=details)


def _cosine_histogram(unit: torch.Tensor) -> np.ndarray:
    """How many pairs i < j have a cosine in each of the bins from -1 to 1."""
    n, rows = len(unit), chunk_rows(len(unit))
    total = torch.zeros(BINS, dtype=torch.float64)
    for start in range(0, n, rows):
        block = (unit[start : start + rows] @ unit.T).clamp(-1, 1)
        own = torch.arange(start, min(start + rows, n), device=unit.device)
        later = torch.arange(n, device=unit.device)[None] > own[:, None]
        total += torch.histc(block[later], BINS, -1, 1).cpu().double()
    return total.numpy().astype(np.int64)


MEASURE = Measure(
    id="condensation",
    name="Condensation (cone angle)",
    family="isotropy",
    kind="single",
    authors="Mimno & Thompson (2017); Ethayarajh (2019)",
    year=2017,
    title="The strange geometry of skip-gram with negative sampling",
    formula=r"Q_s\big(\angle(x_i, \bar u)\big),\quad \bar u = \frac1n\sum_i x_i / \lVert x_i \rVert",
    range=(0.0, math.pi),
    higher_means="wider cone",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="Near pi / 2 in many dimensions for centred data, whatever its shape; look at the cosines of pairs, too.",
    parameters=(Parameter("share", 0.95, "share of the items inside the cone", minimum=0.01, maximum=1.0),),
    compute=compute,
    per_item=True,
)
