"""Ridge regression from one singular value decomposition, for any number of targets and penalties."""

from __future__ import annotations

import numpy as np
import torch

# Penalties relative to the mean squared singular value of the predictors.
PENALTIES = 10.0 ** np.arange(-8, 5)


def shrinkage(singular: torch.Tensor, penalty: float) -> torch.Tensor:
    """Weight of each principal axis: s / (s^2 + penalty), nothing for axes below rounding."""
    weights = singular / (singular.square() + penalty)
    return torch.where(singular > 1e-12 * singular[0], weights, 0.0)


def best_penalty(singular: torch.Tensor, coordinates: torch.Tensor, answers: torch.Tensor) -> float:
    """The penalty that generalised cross-validation prefers (Golub, Heath & Wahba 1979).

    Parameters
    ----------
    singular : torch.Tensor, shape (r,)
        Singular values of the centred predictors.
    coordinates : torch.Tensor, shape (r, d_y)
        The centred answers in the left singular basis.
    answers : torch.Tensor, shape (n, d_y)
        The centred answers.
    """
    n = len(answers)
    squared, energy = singular.square(), coordinates.square().sum(dim=1)
    outside = max(float(answers.square().sum() - energy.sum()), 0.0)
    scale = float(squared.mean())
    best, least = PENALTIES[-1] * scale, np.inf
    for penalty in PENALTIES * scale:
        kept = squared / (squared + penalty)
        freedom = 1 - (1 + float(kept.sum())) / n
        if freedom <= 1e-3:
            continue
        error = (outside + float(((1 - kept).square() * energy).sum())) / freedom**2
        if error < least:
            best, least = penalty, error
    return float(best)
