"""Trajectory curvature: how sharply a path of items, or each item's path through the layers, turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result


def turning_angles(path: torch.Tensor) -> torch.Tensor:
    """Angles between successive steps of paths (steps, ..., d), in float64; NaN where a step has length zero."""
    step = path[1:].double() - path[:-1].double()
    length = step.norm(dim=-1, keepdim=True)
    unit = step / torch.where(length > 0, length, torch.nan)
    a, b = unit[:-1], unit[1:]
    # atan2 keeps the digits that arccos loses near straight lines.
    return 2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1))


def compute(layers: Sequence[torch.Tensor], along: str) -> Result:
    """Mean turning angle. Along layers, ``items`` is each item's mean; along items, ``details["layers"]`` each layer's."""
    if along == "layers":
        if len({layer.shape[1] for layer in layers}) > 1:
            raise ExplorerError("Layers of different widths share no space; a path along layers needs one width.")
        if len(layers) < 3:
            raise ExplorerError(
                f"A path along layers needs at least three of them, not {len(layers)}; or along='items'."
            )
        angles = turning_angles(torch.stack(list(layers)))
        per_layer, items = angles.nanmean(dim=1), angles.nanmean(dim=0).cpu().numpy()
    else:
        if len(layers[0]) < 3:
            raise ExplorerError(f"A path along items needs at least three of them, not {len(layers[0])}.")
        angles = torch.stack([turning_angles(layer) for layer in layers])
        per_layer, items = angles.nanmean(dim=1), None
    still = int(torch.isnan(angles).sum())
    if still == angles.numel():
        raise Undefined("no step has a length, so no angle exists")
    notes = (f"{still} angles beside a step of length zero were left out",) if still else ()
    values = per_layer.cpu().numpy()
    return Result(float(np.nanmean(values)), items=items, details={"layers": values}, notes=notes)


MEASURE = Measure(
    id="trajectory_curvature",
    name="Trajectory curvature (turning angle)",
    family="curvature",
    kind="trajectory",
    authors="Henaff, Goris & Simoncelli (2019); for language models Hosseini & Fedorenko (2023)",
    year=2019,
    title="Perceptual straightening of natural videos",
    formula=r"\frac{1}{T-2}\sum_t \angle(x_{t+1} - x_t,\ x_t - x_{t-1})",
    range=(0.0, float(np.pi)),
    higher_means="more bent",
    cost="layers x n d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation", "row_scaling"}),
    caveat=(
        "A random walk in many dimensions has pi / 2, independent points 2 pi / 3: only less than that is straight. Along "
        "items the order must mean something (tokens of one text, frames, a rotation)."
    ),
    parameters=(
        Parameter(
            "along",
            "layers",
            "what the path follows; scaling items changes only paths along items",
            ("layers", "items"),
        ),
    ),
    min_items=2,
    uses_item_order=True,
    compute=compute,
    per_item=True,
)
