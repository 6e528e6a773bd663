"""Layer velocity: how far the representation moves from one layer to the next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.measures.registry import Measure, Parameter, Result


def compute(layers: Sequence[torch.Tensor], alpha: float) -> Result:
    """Mean shape distance (radians) of successive layers; ``details["steps"]`` holds each, ``details["ends"]`` first to last."""
    from explorer.measures.similarity.shape_metric import compare, prepare

    if len(layers) < 2:
        raise ExplorerError("One layer does not move; at least two are needed.")
    states = [prepare(layer, alpha) for layer in layers]
    steps = np.array([compare(a, b) for a, b in pairwise(states)])
    ends = compare(states[0], states[-1])
    straightness = ends / float(steps.sum()) if steps.sum() > 0 else float("nan")
    return Result(float(steps.mean()), details={"steps": steps, "ends": ends, "straightness": straightness})


MEASURE = Measure(
    id="layer_velocity",
    name="Layer velocity",
    family="trajectory",
    kind="trajectory",
    authors="Williams, Kunz, Kornblith & Linderman; as a path Lange, Kwok, Matelsky, et al. (2023)",
    year=2023,
    title="Deep Networks as Paths on the Manifold of Neural Representations",
    formula=r"\theta(X_l, X_{l+1})",
    range=(0.0, float(np.pi / 2)),
    higher_means="larger steps",
    cost="layers x (n d^2 + d^3)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="A distance of shapes: a layer that only rotates or scales does not move. Layers may differ in width.",
    parameters=(Parameter("alpha", 1.0, "1: Procrustes, 0: fully whitened", minimum=0.0, maximum=1.0),),
    compute=compute,
)
