"""Shesha: do two random halves of the features tell the same story about which items are alike?"""

from __future__ import annotations

import numpy as np
import torch

from explorer.linalg import Undefined, unit_rows
from explorer.measures.registry import Measure, Parameter, Result
from explorer.ranks import spearman


def compute(x: torch.Tensor, splits: int, max_points: int, seed: int) -> Result:
    """Mean Spearman correlation of the RDMs (cosine) of two halves, over random splits; ``details`` has each."""
    n, d = x.shape
    if d < 2:
        raise Undefined("one feature cannot be split into two halves")
    rng = np.random.default_rng(seed)
    notes: tuple[str, ...] = ()
    if n > max_points:
        x = x[torch.from_numpy(np.sort(rng.choice(n, max_points, replace=False))).to(x.device)]
        notes = (f"{max_points} of {n} items, drawn at random",)
    upper = torch.triu_indices(len(x), len(x), 1, device=x.device)
    found = []
    for _ in range(splits):
        order = torch.from_numpy(rng.permutation(d)).to(x.device)
        halves = (x[:, order[: d // 2]], x[:, order[d // 2 :]])
        found.append(spearman(*(_dissimilarities(h, upper) for h in halves)))
    values = np.array(found)
    if np.isnan(values).all():
        raise Undefined("all dissimilarities of a half are equal, so no correlation exists")
    spread = float(np.nanstd(values, ddof=1)) if splits > 1 else float("nan")
    return Result(float(np.nanmean(values)), details={"splits": values, "deviation": spread}, notes=notes)


def _dissimilarities(half: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    unit = unit_rows(half).double()
    # Rounded, so that equal dissimilarities tie whatever the order of summation.
    return torch.round((1 - unit @ unit.T)[upper[0], upper[1]] * 1e12)


MEASURE = Measure(
    id="shesha",
    name="Shesha (split-half stability)",
    family="stability",
    kind="single",
    authors="Raju",
    year=2026,
    title="Geometric Stability: The Missing Axis of Representations",
    formula=r"\mathbb E_{\text{split}}\ \rho_S\big(\mathrm{RDM}(X_A),\ \mathrm{RDM}(X_B)\big)",
    range=(-1.0, 1.0),
    higher_means="more stable",
    cost="splits x n^2 d, on max_points items",
    invariances=frozenset({"isotropic_scaling", "row_scaling"}),
    caveat=(
        "Says how redundantly the geometry is spread over features, not that it is right: noise shared by all features is "
        "stable, too. A rotation changes it."
    ),
    parameters=(
        Parameter("splits", 30, "random splits of the features", minimum=1, maximum=1000),
        Parameter("max_points", 1000, "above this many items, a random sample", minimum=4, maximum=10_000),
        Parameter("seed", 0, "seed of the splits", minimum=0, maximum=2**31),
    ),
    min_items=4,
    compute=compute,
)
