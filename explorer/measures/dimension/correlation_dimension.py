"""Correlation dimension: how the number of pairs within a radius grows with the radius."""

from __future__ import annotations

import math

import torch

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import distinct_items, merged_note, nearest, pairs_within


def compute(x: torch.Tensor, k_small: int, k_large: int) -> Result:
    """Slope between two radii: the medians of the distances to the k-th neighbours."""
    if k_small >= k_large:
        raise Undefined(f"k_small = {k_small} must be below k_large = {k_large}")
    points, kept = distinct_items(x)
    if len(points) <= k_large:
        raise Undefined(f"only {len(points)} of {len(x)} items differ; more than k_large = {k_large} are needed")
    distance = nearest(points, k_large, "euclidean").distance
    # Quantiles, since torch's median does not average the two middle values.
    near, far = (float(distance[:, k - 1].quantile(0.5)) for k in (k_small, k_large))
    if near <= 0 or near == far:
        raise Undefined("the two radii coincide: all neighbours are equally far")
    # A radius is the distance of some pair, which rounding must not put inside.
    counts = pairs_within(points, [near * (1 - 1e-12), far * (1 - 1e-12)])
    value = math.log(counts[1] / counts[0]) / math.log(far / near)
    details = {"radii": (near, far), "pairs": tuple(counts), "duplicates": int((~kept).sum())}
    return Result(value, details=details, notes=merged_note(kept))


MEASURE = Measure(
    id="correlation_dimension",
    name="Correlation dimension",
    family="dimension",
    kind="single",
    authors="Grassberger & Procaccia",
    year=1983,
    title="Measuring the strangeness of strange attractors",
    formula=r"\frac{\log C(r_2) - \log C(r_1)}{\log r_2 - \log r_1},\quad C(r) = \frac{2}{n(n-1)}\sum_{i<j}[d_{ij} < r]",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Items at the border see fewer others, so it is biased down in high dimension (14 for a ball of 20).",
    parameters=(
        Parameter("k_small", 10, "neighbour whose median distance is the smaller radius", minimum=1, maximum=1000),
        Parameter("k_large", 20, "neighbour whose median distance is the larger radius", minimum=2, maximum=2000),
    ),
    min_items=4,
    compute=compute,
    neighbours=lambda k_small, k_large: (k_large, "euclidean"),
)
