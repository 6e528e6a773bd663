"""Affine map: the least-squares map from one representation to another."""

from __future__ import annotations

import torch

from explorer.mapping import LinearMap, map_measure


def fit(x: torch.Tensor, y: torch.Tensor) -> LinearMap:
    """Least squares; of all solutions the smallest, when there are fewer items than features."""
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    return LinearMap(torch.linalg.pinv(x - mean_x, rtol=1e-10) @ (y - mean_y), mean_x, mean_y)


MEASURE = map_measure(
    fit,
    id="affine_map",
    name="Affine map, held out",
    authors="Maiorca, Moschella, Norelli, Fumero, Locatello & Rodolà",
    year=2023,
    title="Latent Space Translation via Semantic Alignment",
    formula=r"\min_{A, b}\ \lVert X A + b - Y\rVert_F",
    cost="n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "With about as many fitted items as features it fits noise, and fails on held-out items: look at ridge_map "
        "beside it."
    ),
)
