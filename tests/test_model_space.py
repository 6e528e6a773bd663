"""Representations as points: distances, map and tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer.errors import ExplorerError
from explorer.measures.registry import get_measure, registry
from explorer.model_space import as_distances, model_space


def test_points_of_a_plane_are_found_again() -> None:
    plane = np.random.default_rng(0).standard_normal((9, 2))
    distances = np.linalg.norm(plane[:, None] - plane[None], axis=2)
    found = model_space(distances)
    again = np.linalg.norm(found.points[:, None] - found.points[None], axis=2)
    assert again == pytest.approx(distances, abs=1e-9)
    assert found.share == pytest.approx(1)
    assert sorted(found.order) == list(range(9))


def test_families_stand_together() -> None:
    rng = np.random.default_rng(1)
    bases = [rng.standard_normal((80, 10)) for _ in range(2)]
    layers = [bases[i % 2] + 0.3 * rng.standard_normal((80, 10)) for i in range(6)]
    matrix = explorer.similarity_matrix("procrustes", layers)
    found = model_space(as_distances(matrix, get_measure("procrustes")))
    family = np.array(found.order) % 2
    assert (np.diff(family) != 0).sum() == 1


@pytest.mark.parametrize(
    "measure", [m for m in registry().values() if m.kind == "pairwise" and m.is_metric], ids=lambda m: m.id
)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_declared_metrics_obey_the_triangle(measure, seed: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    layers = [rng.standard_normal((15, d)) for d in (3, 5, 4)]
    m = explorer.similarity_matrix(measure.id, layers)
    assert m[0, 2] <= m[0, 1] + m[1, 2] + 1e-7


@pytest.mark.parametrize("measure", ["cka", "mutual_knn", "bures", "procrustes"])
def test_similarities_become_distances(measure: str) -> None:
    rng = np.random.default_rng(2)
    layers = [rng.standard_normal((40, 6)) for _ in range(4)]
    params = {"estimator": "biased"} if measure == "cka" else {}
    distances = as_distances(explorer.similarity_matrix(measure, layers, **params), get_measure(measure))
    assert (np.diag(distances) == 0).all() and (distances >= 0).all()
    for i in range(4):
        for j in range(4):
            assert (distances[i, j] <= distances[i] + distances[:, j] + 1e-9).all()


def test_too_few_and_undefined() -> None:
    with pytest.raises(ExplorerError, match="three representations or more"):
        model_space(np.zeros((2, 2)))
    with pytest.raises(ExplorerError, match="no value for representations 0 and 1"):
        as_distances(np.array([[1, np.nan], [np.nan, 1.0]]), get_measure("cka"))
