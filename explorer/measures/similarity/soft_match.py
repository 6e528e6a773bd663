"""Soft matching: optimal transport between features, so that widths may differ."""

from __future__ import annotations

import numpy as np

from explorer.measures.registry import Measure
from explorer.measures.similarity.permutation_match import StandardState, matched, permute, prepare


def compare(sx: StandardState, sy: StandardState) -> float:
    """The largest mean correlation over couplings with uniform marginals."""
    if sx.features.shape[1] == sy.features.shape[1]:
        # With equal widths some optimal coupling is a permutation (Birkhoff), which is cheaper to find.
        return float(np.clip(matched(sx, sy)[2].mean(), -1, 1))
    import ot

    correlation = (sx.features.T @ sy.features).cpu().numpy()
    sides = [np.full(width, 1 / width) for width in correlation.shape]
    return float(np.clip(-ot.emd2(*sides, -correlation, numItermax=10_000_000), -1, 1))


MEASURE = Measure(
    id="soft_match",
    name="Soft matching of features",
    family="similarity",
    kind="pairwise",
    authors="Khosla & Williams",
    year=2024,
    title="Soft Matching Distance: A metric on neural representations that captures single-neuron tuning",
    formula=r"\max_{P \in \Pi(1/d_X, 1/d_Y)}\ \sum_{jl} P_{jl}\,\mathrm{corr}(x_j, y_l)",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n d^2 + d^3 log d (optimal transport) a pair",
    invariances=frozenset({"isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "With unequal widths the best value is below 1 even if one side contains the other. Like the one-to-one match "
        "it depends on the basis, and unrelated data score above 0."
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
)
