"""Linear predictivity: how much of one representation a cross-validated ridge regression tells from the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.ridge import best_penalty, shrinkage


@dataclass(frozen=True)
class Fold:
    """A training half of the predictors in its own principal axes, and the held-out items in the same axes."""

    train: torch.Tensor
    test: torch.Tensor
    left: torch.Tensor
    singular: torch.Tensor
    held_out: torch.Tensor


@dataclass
class RegressionState:
    """Centred features (n, d) float64, and the folds, factored when they are first needed as predictors."""

    features: torch.Tensor
    folds: int
    seed: int
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def factored(self) -> list[Fold]:
        """One singular value decomposition a fold serves every target."""
        n = len(self.features)
        order = torch.from_numpy(np.random.default_rng(self.seed).permutation(n)).to(self.features.device)
        return [self._fold(test, order) for test in order.tensor_split(self.folds)]

    def _fold(self, test: torch.Tensor, order: torch.Tensor) -> Fold:
        train = order[~torch.isin(order, test)]
        mean = self.features[train].mean(dim=0)
        left, singular, right = torch.linalg.svd(self.features[train] - mean, full_matrices=False)
        return Fold(train, test, left, singular, (self.features[test] - mean) @ right.T)

    @cached_property
    def basis(self) -> torch.Tensor:
        """Orthonormal basis of the span of all items."""
        left, singular, _ = torch.linalg.svd(self.features, full_matrices=False)
        return left[:, singular > float(singular[0]) * max(self.features.shape) * torch.finfo(torch.float64).eps * 16]


def prepare(x: torch.Tensor, folds: int, seed: int, **_: object) -> RegressionState:
    """Centre; what is needed as a predictor is factored on first use."""
    if folds > len(x):
        raise ExplorerError(f"folds = {folds} exceeds the {len(x)} items; every fold needs one at least.")
    centred_and_scaled(x)
    n, d = x.shape
    notes = (f"n = {n} is below 5 x {d} features: regression is barely determined",) if n < 5 * d else ()
    return RegressionState(centred(x).double(), folds, seed, notes)


def held_out_r2(predictor: RegressionState, target: RegressionState) -> float:
    """1 - residual / total sum of squares over all held-out items and features (variance weighted)."""
    residual = 0.0
    for fold in predictor.factored:
        mean = target.features[fold.train].mean(dim=0)
        answers = target.features[fold.train] - mean
        coordinates = fold.left.T @ answers
        penalty = best_penalty(fold.singular, coordinates, answers)
        predicted = (fold.held_out * shrinkage(fold.singular, penalty)) @ coordinates + mean
        residual += float((target.features[fold.test] - predicted).square().sum())
    return 1 - residual / float(target.features.square().sum())


def in_sample_r2(predictor: RegressionState, target: RegressionState) -> float:
    """Ordinary least squares on all items: 1 whenever there are no more items than features."""
    explained = (predictor.basis.T @ target.features).square().sum()
    return float((explained / target.features.square().sum()).clamp(max=1))


def compare(sx: RegressionState, sy: RegressionState, evaluation: str, direction: str, **_: object) -> float:
    """Predict Y from X, X from Y, or the mean of both."""
    score = held_out_r2 if evaluation == "cross_validated" else in_sample_r2
    if direction == "x_to_y":
        return score(sx, sy)
    if direction == "y_to_x":
        return score(sy, sx)
    return (score(sx, sy) + score(sy, sx)) / 2


def explain(sx: RegressionState, sy: RegressionState, evaluation: str, **_: object) -> dict[str, float]:
    """Both directions."""
    score = held_out_r2 if evaluation == "cross_validated" else in_sample_r2
    return {"x_to_y": score(sx, sy), "y_to_x": score(sy, sx)}


def permute(state: RegressionState, order: torch.Tensor) -> RegressionState:
    """Reorder the items."""
    return RegressionState(state.features[order], state.folds, state.seed, state.notes)


MEASURE = Measure(
    id="linear_predictivity",
    name="Linear predictivity (cross-validated ridge)",
    family="similarity",
    kind="pairwise",
    authors="Yamins, Hong, Cadieu, Solomon, Seibert & DiCarlo",
    year=2014,
    title="Performance-optimized hierarchical models predict neural responses in higher visual cortex",
    formula=r"1 - \frac{\sum_{i}\lVert y_i - \hat y_i^{(-i)}\rVert^2}{\sum_i \lVert y_i - \bar y\rVert^2}",
    range=(-float("inf"), 1.0),
    higher_means="more alike",
    cost="folds x n d^2 once a representation, folds x n d^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Directed: by default Y is predicted from X. Features of large variance count most. May be negative (worse than "
        "the mean); in-sample values reach 1 for unrelated data as soon as d is not below n."
    ),
    parameters=(
        Parameter(
            "evaluation",
            "cross_validated",
            "ridge on held-out items, or plain least squares on the same items",
            ("cross_validated", "in_sample"),
        ),
        Parameter("direction", "x_to_y", "which side is predicted from which", ("x_to_y", "y_to_x", "mean")),
        Parameter("folds", 5, "how many parts the items are split into", minimum=2, maximum=100),
        Parameter("seed", 0, "seed of the split", minimum=0, maximum=2**31 - 1),
    ),
    symmetric=False,
    uses_item_order=True,
    min_items=4,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
    presets=(
        Preset("Kornblith 2019, R2_LR", {"evaluation": "in_sample"}, "no held-out items: 1 when n does not exceed d"),
        Preset(
            "ReSi, linear regression",
            {"evaluation": "in_sample", "direction": "y_to_x"},
            "predicts its first argument from its second, in sample",
        ),
    ),
)
