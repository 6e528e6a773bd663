"""Stochastic shape distance: means and covariances over repeated trials, after the best rotation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from explorer.measures.registry import Measure, Parameter, Preset


@dataclass(frozen=True)
class TrialState:
    """Means (n, d) and roots of covariances (n, d, d) of each item's trials, float64."""

    mean: torch.Tensor
    root: torch.Tensor
    notes: tuple[str, ...] = ()


def prepare(x: torch.Tensor, **_: object) -> TrialState:
    """Mean and unbiased covariance of each item over its trials; without trials only the means are compared."""
    if x.ndim == 2:
        n, d = x.shape
        root = (
            torch.zeros(n, d, d, dtype=torch.float64, device=x.device) if n * d * d <= 10**8 else x.new_zeros(n, 0, 0)
        )
        return TrialState(x.double(), root, ("one trial an item: only the means are compared",))
    values = x.double()
    mean = values.mean(dim=1)
    shifted = values - mean[:, None]
    covariance = shifted.transpose(1, 2) @ shifted / max(values.shape[1] - 1, 1)
    return from_moments(mean, covariance)


def from_moments(mean: torch.Tensor, covariance: torch.Tensor) -> TrialState:
    """From means (n, d) and covariances (n, d, d) that are already known."""
    values, vectors = torch.linalg.eigh(covariance)
    root = (vectors * values.clamp(min=0).sqrt()[:, None, :]) @ vectors.transpose(1, 2)
    return TrialState(mean, root)


def _padded(state: TrialState, width: int) -> TrialState:
    extra = width - state.mean.shape[1]
    if extra == 0 and state.root.shape[1] == width:
        return state
    grown = width - state.root.shape[1]
    pad = torch.nn.functional.pad
    return TrialState(pad(state.mean, (0, extra)), pad(state.root, (0, grown, 0, grown)))


def compare(sx: TrialState, sy: TrialState, alpha: float, restarts: int, seed: int) -> float:
    """Root of the mean over items of alpha |m_x - Q m_y|^2 + (2 - alpha) Bures^2, at the best rotation Q.

    Found by alternating the closed-form optimum of the covariance couplings with that of the rotation, from
    several starts: the objective rises in every step but has local optima.
    """
    width = max(sx.mean.shape[1], sy.mean.shape[1])
    x, y = _padded(sx, width), _padded(sy, width)
    total = alpha * (x.mean.square().sum() + y.mean.square().sum())
    total += (2 - alpha) * (x.root.square().sum() + y.root.square().sum())
    trials = bool(x.root.any()) and bool(y.root.any()) and alpha < 2
    best = max(_aligned(x, y, alpha, start, trials) for start in _starts(x, y, restarts if trials else 1, seed))
    squared = max(float(total) - 2 * best, 0.0)
    return math.sqrt(squared / len(x.mean)) if squared > 1e-13 * float(total) else 0.0


def _starts(x: TrialState, y: TrialState, restarts: int, seed: int) -> list[torch.Tensor]:
    """The rotation that aligns the means first, then random ones."""
    rng = np.random.default_rng(seed)
    width = x.mean.shape[1]
    drawn = [torch.from_numpy(np.linalg.qr(rng.standard_normal((width, width)))[0]) for _ in range(restarts - 1)]
    return [_polar(y.mean.T @ x.mean)[0], *(q.to(x.mean.device) for q in drawn)]


def _polar(product: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The orthogonal factor U V^T (also of a batch), which maximises the trace; and the nuclear norm."""
    left, singular, right = torch.linalg.svd(product, full_matrices=False)
    return left @ right, singular.sum(dim=-1)


def _aligned(x: TrialState, y: TrialState, alpha: float, rotation: torch.Tensor, trials: bool) -> float:
    """Largest alpha tr(M_x^T M_y Q) + (2 - alpha) sum_i |C_x^(1/2) Q^T C_y^(1/2)|_* reached from this start."""
    means = alpha * (y.mean.T @ x.mean)
    if not trials:
        return float(_polar(means)[1])
    reached = -math.inf
    for _ in range(500):
        coupling, nuclear = _polar(x.root @ rotation.T @ y.root)
        value = float((means * rotation).sum() + (2 - alpha) * nuclear.sum())
        if value - reached <= 1e-13 * abs(value):
            break
        reached = value
        pull = means + (2 - alpha) * (y.root @ coupling.transpose(1, 2) @ x.root).sum(dim=0)
        rotation = _polar(pull)[0]
    return reached


def permute(state: TrialState, order: torch.Tensor) -> TrialState:
    """Reorder the items."""
    return TrialState(state.mean[order], state.root[order], state.notes)


MEASURE = Measure(
    id="stochastic_shape",
    name="Stochastic shape distance",
    family="similarity",
    kind="pairwise",
    authors="Duong, Zhou, Nassar, Berman, Olieslagers & Williams",
    year=2023,
    title="Representational Dissimilarity Metric Spaces for Stochastic Neural Networks",
    formula=r"\min_Q \sqrt{\tfrac1n\sum_i \alpha\lVert \mu^X_i - \mu^Y_i Q\rVert^2 + (2-\alpha)\,\mathcal{B}^2\big(\Sigma^X_i, Q^\top\Sigma^Y_i Q\big)}",
    range=(0.0, float("inf")),
    higher_means="less alike",
    cost="restarts x iterations x n d^3 a pair",
    invariances=frozenset({"orthogonal", "feature_permutation"}),
    caveat=(
        "Needs repeated trials of each item, (n_items, n_trials, n_features); covariances need more trials than "
        "features to be trusted. Neither centred nor scaled. The search may end in a local optimum: raise restarts."
    ),
    parameters=(
        Parameter("alpha", 1.0, "2: means only, 1: both (Wasserstein), 0: covariances only", minimum=0.0, maximum=2.0),
        Parameter("restarts", 5, "starts of the search for the rotation", minimum=1, maximum=1000),
        Parameter("seed", 0, "seed of the starts", minimum=0, maximum=2**31 - 1),
    ),
    is_metric=True,
    best=0.0,
    accepts_trials=True,
    prepare=prepare,
    compare=compare,
    permute=permute,
    presets=(Preset("netrep GaussianStochasticMetric, alpha=1", {"alpha": 1.0}, "starts from the means only"),),
)
