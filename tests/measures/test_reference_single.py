"""Reference values of measures of one representation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import explorer
from explorer.verification.inputs import geometry_set, point_shape, polygon, reference

CASES = reference("geometry-cases.json")
geometry = lru_cache(maxsize=None)(geometry_set)


@pytest.mark.parametrize("name", list(CASES["id"]))
def test_recipe_reproduces_the_points(name: str) -> None:
    assert geometry(name)[0, :3] == pytest.approx(CASES["id"][name]["x0"][:3], abs=1e-12)


@pytest.mark.parametrize("name", ["sphere_2_in_10", "gauss_10_in_50", "swiss_roll"])
def test_scikit_dimension(name: str) -> None:
    x = reference("geometry.npz")[name]
    expected = reference("geometry.json")["dimension"][name]
    assert explorer.compute("twonn", x).value == pytest.approx(expected["TwoNN"], rel=1e-6)
    assert explorer.compute("mle", x).value == pytest.approx(expected["MLE"], rel=0.05)


@pytest.mark.parametrize("case", list(CASES["spectrum"]["cases"]))
def test_given_spectra(case: str) -> None:
    entry = CASES["spectrum"]["cases"][case]
    eigenvalues = np.array(entry["eigenvalues"])
    d = len(eigenvalues)
    # Rows +-sqrt(lambda_i) e_i have a covariance with exactly these eigenvalues (up to one factor).
    x = np.concatenate([np.diag(np.sqrt(eigenvalues)), -np.diag(np.sqrt(eigenvalues))])
    assert explorer.compute("participation_ratio", x).value == pytest.approx(entry["participation_ratio"], rel=1e-12)
    expected = np.exp(entry["von_neumann_entropy_nats"])
    assert explorer.compute("effective_rank", x, of="covariance").value == pytest.approx(expected, rel=1e-9)
    assert d >= explorer.compute("effective_rank", x).value >= 1


def test_uniformity_and_cosine_closed_forms() -> None:
    cross = np.concatenate([np.eye(3), -np.eye(3)])
    expected = CASES["uniformity"]["cases"]["cross_polytope_R3(6 points)"]["closed_form"]
    assert explorer.compute("uniformity", cross).value == pytest.approx(expected, rel=1e-12)
    case = CASES["average_cosine"]
    assert explorer.compute("mean_cosine", case["X"]).value == pytest.approx(case["closed_form"], rel=1e-12)


@pytest.mark.parametrize("name", list(CASES["persistent_homology"]["cases"]))
def test_persistent_homology(name: str) -> None:
    entry = CASES["persistent_homology"]["cases"][name]
    top = 2 if "H2" in entry else 1
    found = explorer.compute("persistence", point_shape(name), max_dim=top)
    for degree in range(top + 1):
        expected = entry.get(f"H{degree}", {"n_finite": 0, "top": []})
        diagram = found.diagrams[degree]
        finite = diagram[np.isfinite(diagram[:, 1])]
        finite = finite[finite[:, 1] - finite[:, 0] > 1e-6]
        assert len(finite) == expected["n_finite"]
        for given, wanted in zip(finite, expected["top"]):
            assert given[1] - given[0] == pytest.approx(wanted[1] - wanted[0], abs=1e-6)


@pytest.mark.parametrize("n", [12, 20])
def test_polygon_from_two_programs(n: int) -> None:
    found = explorer.compute("persistence", polygon(n), max_dim=1).diagrams[1]
    entry = reference("geometry.json")["persistence"][f"circle_{n}"]
    assert found == pytest.approx(np.array(entry["ripser"]), abs=1e-6)
    assert found[0, 0] == pytest.approx(entry["closed_form_birth"], abs=1e-6)
