"""Orthogonal map: rotate, scale and shift one representation onto another."""

from __future__ import annotations

import torch

from explorer.mapping import LinearMap, map_measure
from explorer.measures.registry import Parameter


def fit(x: torch.Tensor, y: torch.Tensor, scale: bool = True) -> LinearMap:
    """Rotation (between unequal widths: a partial one) that brings x nearest to y, after removing both means."""
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    left, singular, right = torch.linalg.svd((x - mean_x).T @ (y - mean_y), full_matrices=False)
    rotation = left @ right
    if scale:
        rotation = rotation * (singular.sum() / (x - mean_x).square().sum())
    return LinearMap(rotation, mean_x, mean_y)


MEASURE = map_measure(
    fit,
    id="orthogonal_map",
    name="Orthogonal map, held out",
    authors="Schönemann; between latent spaces Maiorca, Moschella, Norelli, Fumero, Locatello & Rodolà (2023)",
    year=1966,
    title="A generalized solution of the orthogonal Procrustes problem",
    formula=r"\min_{Q^\top Q = I,\ s}\ \lVert s X_c Q - Y_c\rVert_F",
    cost="n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Keeps all angles and relative distances of X, so it is the strictest map. Between unequal widths the wider side "
        "loses what has no place in the narrower one."
    ),
    parameters=(Parameter("scale", True, "also fit one common scale"),),
)
