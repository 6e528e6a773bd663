"""Ranks with ties, and the correlation of ranks."""

from __future__ import annotations

import torch


def doubled_ranks(values: torch.Tensor) -> torch.Tensor:
    """Twice the rank (from 0, ties share the mean) along the last axis, plus one: float64, exact."""
    ordered = values.sort(dim=-1).values
    return (torch.searchsorted(ordered, values) + torch.searchsorted(ordered, values, right=True)).double()


def spearman(a: torch.Tensor, b: torch.Tensor) -> float:
    """Spearman's correlation of two vectors; NaN where one of them is constant."""
    x, y = (doubled_ranks(v) for v in (a, b))
    x, y = x - x.mean(), y - y.mean()
    norm = float(x.norm() * y.norm())
    return float(x @ y) / norm if norm > 0 else float("nan")
