"""Gride: intrinsic dimension from the ratio of the distances to the n2-th and the n1-th neighbour, over scales."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.optimize import brentq

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import distinct_items, merged_note, nearest

LARGEST = 1e4


def compute(x: torch.Tensor, scale: int) -> Result:
    """The estimate at the ratio of neighbours (scale, 2 scale); ``details`` holds the curve over smaller ones.

    The curve has ``neighbours`` (n1 = 1, 2, 4, ...), ``dimension``, ``error`` (standard error, from the curvature of
    the likelihood) and ``radius`` (mean distance to the 2 n1-th neighbour).
    """
    points, kept = distinct_items(x)
    if len(points) <= 2 * scale:
        raise Undefined(f"{len(points)} distinct items have no {2 * scale}-th neighbour: choose a smaller scale")
    distance = nearest(points, 2 * scale, "euclidean").distance.cpu().numpy()
    scales = [s for s in (2**i for i in range(scale.bit_length())) if s <= scale]
    scales += [scale] if scales[-1] != scale else []
    curve = [_estimate(distance[:, n1 - 1], distance[:, 2 * n1 - 1], n1) for n1 in scales]
    details = {
        "neighbours": np.array(scales),
        "dimension": np.array([c[0] for c in curve]),
        "error": np.array([c[1] for c in curve]),
        "radius": np.array([distance[:, 2 * s - 1].mean() for s in scales]),
        "duplicates": int((~kept).sum()),
    }
    return Result(curve[-1][0], details=details, notes=merged_note(kept))


def _estimate(near: np.ndarray, far: np.ndarray, n1: int) -> tuple[float, float]:
    """Maximise the likelihood of the ratios far / near with n2 = 2 n1; the value and its standard error."""
    valid = near > 1e-6 * np.median(near)
    logs = np.log(far[valid] / near[valid])
    if not logs.size or logs.max() <= 0:
        raise Undefined("all neighbours are equally far: there is no ratio to fit")
    n, total = len(logs), logs.sum()

    def slope(d: float) -> float:
        # d mu^d log mu / (mu^d - 1) written so that neither large nor small d overflows.
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(logs > 0, logs / -np.expm1(-d * logs), 1 / d)
        return n / d + (n1 - 1) * rest.sum() - (2 * n1 - 1) * total

    if slope(LARGEST) > 0:
        raise Undefined(f"the distances of neighbours hardly grow: the dimension is beyond {LARGEST:g}")
    value = float(brentq(slope, 1e-6, LARGEST, xtol=1e-12, rtol=1e-14))
    step = 1e-4 * value
    information = -(slope(value + step) - slope(value - step)) / (2 * step)
    return value, 1 / math.sqrt(information) if information > 0 else math.nan


MEASURE = Measure(
    id="gride",
    name="Generalised ratios dimension (Gride)",
    family="dimension",
    kind="single",
    authors="Denti, Doimo, Laio & Mira",
    year=2022,
    title="The generalized ratios intrinsic dimension estimator",
    formula=r"p(\mu) \propto \frac{d\,(\mu^d - 1)^{n_2 - n_1 - 1}}{\mu^{d (n_2 - 1) + 1}},\quad \mu = r_{n_2} / r_{n_1},\ n_2 = 2 n_1",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "One scale says little: a plateau of the curve is a dimension, a falling curve is noise at small scales, a "
        "rising one curvature or clusters. Biased down in high dimension. Equal items are merged and counted."
    ),
    parameters=(Parameter("scale", 16, "n1, the nearer neighbour; n2 is twice that", minimum=1, maximum=512),),
    min_items=4,
    compute=compute,
    neighbours=lambda scale: (2 * scale, "euclidean"),
)
