"""Persistence: landmarks, covering radius, Betti curves, angle metric."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import explorer
from explorer.homology import betti_curve, maxmin_landmarks
from tests.measures.test_reference_single import polygon


def test_value_is_the_longest_bar_over_the_diameter() -> None:
    found = explorer.compute("persistence", polygon(60))
    closed = (np.sqrt(3) - 2 * np.sin(np.pi / 60)) / 2
    assert found.value == pytest.approx(closed, abs=1e-6)


def test_landmarks_cover_and_are_said() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 1500)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = explorer.compute("persistence", x, max_points=100)
    chosen, radius = found.details["landmarks"], found.details["covering_radius"]
    assert len(set(chosen.tolist())) == 100
    nearest = np.linalg.norm(x[:, None] - x[chosen][None], axis=2).min(axis=1)
    assert radius == pytest.approx(nearest.max(), abs=1e-9)
    assert "100 of 1500 items as landmarks" in found.notes[0]
    whole = explorer.compute("persistence", x[:600], max_points=600)
    moved = abs(found.diagrams[1][0] - whole.diagrams[1][0]).max()
    assert moved <= 2 * (radius + 0.05)


def test_landmarks_follow_the_seed() -> None:
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((200, 3)))
    first, again = (maxmin_landmarks(x, 20, "euclidean", 3)[0] for _ in range(2))
    assert (first == again).all()
    assert (maxmin_landmarks(x, 20, "euclidean", 4)[0] != first).any()


def test_betti_curve_counts_living_bars() -> None:
    diagram = np.array([[0.0, 1.0], [0.5, 2.0], [0.5, np.inf]])
    assert betti_curve(diagram, np.array([0.0, 0.5, 0.99, 1.0, 2.0, 9.0])).tolist() == [1, 3, 3, 2, 1, 1]
    assert betti_curve(np.empty((0, 2)), np.array([1.0])).tolist() == [0]


def test_cosine_uses_the_angle() -> None:
    found = explorer.compute("persistence", polygon(12) * np.linspace(1, 5, 12)[:, None], metric="cosine")
    assert found.diagrams[1][0] == pytest.approx([2 * np.pi / 12, 2 * np.pi / 3], abs=1e-5)


def test_a_cluster_pair_has_one_long_component() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 0.01, (20, 2)), rng.normal(5, 0.01, (20, 2))])
    deaths = explorer.compute("persistence", x, max_dim=0).diagrams[0][:, 1]
    assert np.isinf(deaths).sum() == 1
    assert (deaths[np.isfinite(deaths)] > 1).sum() == 1
