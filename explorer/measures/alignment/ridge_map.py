"""Ridge map: a shrunken affine map, its penalty chosen within the fitted items."""

from __future__ import annotations

import torch

from explorer.mapping import LinearMap, map_measure
from explorer.ridge import best_penalty, shrinkage


def fit(x: torch.Tensor, y: torch.Tensor) -> LinearMap:
    """Ridge regression with the penalty that generalised cross-validation prefers."""
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    answers = y - mean_y
    left, singular, right = torch.linalg.svd(x - mean_x, full_matrices=False)
    coordinates = left.T @ answers
    penalty = best_penalty(singular, coordinates, answers)
    return LinearMap((right.T * shrinkage(singular, penalty)) @ coordinates, mean_x, mean_y)


MEASURE = map_measure(
    fit,
    id="ridge_map",
    name="Ridge map, held out",
    authors="Hoerl & Kennard; penalty after Golub, Heath & Wahba (1979)",
    year=1970,
    title="Ridge Regression: Biased Estimation for Nonorthogonal Problems",
    formula=r"\min_{A, b}\ \lVert X A + b - Y\rVert_F^2 + \lambda\lVert A\rVert_F^2",
    cost="n d^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Pulls the mapped items together (they are closer to the mean than the true ones), so distances shrink.",
)
