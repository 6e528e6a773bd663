"""Layer update: how large a layer's change of each item is, which way it points, and how linear it is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result


def compute(layers: Sequence[torch.Tensor], share: float, penalty: float, seed: int) -> Result:
    """Mean share of the update X_{l+1} - X_l that a linear map of X_l explains, on held-out items.

    ``details`` holds, for each step, ``linear_share``, ``size`` (mean length of the update over that of the item) and
    ``angle`` (mean angle between update and item, radians).
    """
    if len(layers) < 2:
        raise ExplorerError("One layer has no update; at least two are needed.")
    if len({layer.shape[1] for layer in layers}) > 1:
        raise ExplorerError("Layers of different widths share no residual stream; an update needs one width.")
    n = len(layers[0])
    order = torch.from_numpy(np.random.default_rng(seed).permutation(n)).to(layers[0].device)
    fitted = min(max(int(share * n), 1), n - 1)
    rows = [_step(a.double(), b.double(), order[:fitted], order[fitted:], penalty) for a, b in pairwise(layers)]
    linear, size, angle = (np.array(column) for column in zip(*rows))
    if np.isnan(linear).all():
        raise Undefined("no layer changes the items in different ways, so there is no update to explain")
    return Result(float(np.nanmean(linear)), details={"linear_share": linear, "size": size, "angle": angle})


def _step(
    x: torch.Tensor, y: torch.Tensor, seen: torch.Tensor, held: torch.Tensor, penalty: float
) -> tuple[float, float, float]:
    update = y - x
    length = x.norm(dim=1)
    size = float((update.norm(dim=1)[length > 0] / length[length > 0]).mean())
    angle = float(torch.arccos(torch.nn.functional.cosine_similarity(x, update, dim=1).clamp(-1, 1)).mean())
    middle, target = x[seen].mean(dim=0), update[seen].mean(dim=0)
    a, b = x[seen] - middle, update[seen] - target
    moment = a.T @ a if a.shape[1] <= len(a) else a @ a.T
    if float(moment.trace()) == 0:
        return float("nan"), size, angle
    moment.diagonal().add_(penalty * float(moment.diagonal().mean()))
    asked = x[held] - middle
    if a.shape[1] <= len(a):
        predicted = asked @ torch.linalg.solve(moment, a.T @ b)
    else:
        predicted = asked @ a.T @ torch.linalg.solve(moment, b)
    rest = update[held] - target
    total = float(rest.square().sum())
    # A layer that adds the same vector to all items changes nothing between them.
    flat = total <= 1e-20 * float(x[held].square().sum())
    linear = float("nan") if flat else 1 - float((rest - predicted).square().sum()) / total
    return linear, size, angle


MEASURE = Measure(
    id="layer_update",
    name="Layer update",
    family="trajectory",
    kind="trajectory",
    authors="Razzhigaev, Mikhalchuk, Goncharova, Gerasimenko, Oseledets, Dimitrov & Kuznetsov",
    year=2024,
    title="Your Transformer is Secretly Linear",
    formula=r"R^2\big(X_{l+1} - X_l \approx X_l W + b\big)",
    range=(-float("inf"), 1.0),
    higher_means="more linear",
    cost="layers x (n d^2 + d^3)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Held-out share, so below 0 where items are too few for d. Sizes and angles are of raw, uncentred items and change with the origin.",
    parameters=(
        Parameter("share", 0.7, "share of the items that the map is fitted on", minimum=0.05, maximum=0.95),
        Parameter("penalty", 1e-3, "ridge over the mean squared feature", minimum=1e-12, maximum=1e3),
        Parameter("seed", 0, "seed of the split", minimum=0, maximum=2**31),
    ),
    min_items=4,
    uses_item_order=True,
    compute=compute,
)
