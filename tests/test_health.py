"""Data health: each defect is found, named by its place, and clean data are called clean."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import ExplorerError
from explorer.health import examine


def clean(n: int = 300, d: int = 8) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def found(x: np.ndarray) -> dict:
    return {f.name: f for f in examine(x)}


def test_clean_data_are_good() -> None:
    assert {f.level for f in examine(clean())} == {"good"}
    assert [f.name for f in examine(clean())] == [f.name for f in examine(np.ones((5, 3)) + np.eye(5, 3))]


def test_few_items_for_the_features() -> None:
    assert found(clean(30, 8))["items per feature"].level == "look"
    assert found(clean(7, 8))["items per feature"].level == "bad"


def test_constant_features_are_counted() -> None:
    x = clean()
    x[:, [3, 5]] = 7
    assert found(x)["constant features"].value == 2


def test_a_feature_that_rules_is_named() -> None:
    x = clean()
    x[:, 4] *= 60
    finding = found(x)["variance in one feature"]
    assert finding.level == "bad" and "feature 4" in finding.meaning


@pytest.mark.parametrize(("offset", "level"), [(0, "good"), (1.5, "look"), (10, "bad")])
def test_narrow_cones(offset: float, level: str) -> None:
    assert found(clean() + offset)["mean cosine"].level == level


def test_a_row_of_zeros_has_no_direction() -> None:
    x = clean()
    x[9] = 0
    assert "item 9" in found(x)["mean cosine"].meaning


def test_duplicates_are_counted() -> None:
    x = clean()
    x[10:20] = x[0:10]
    assert found(x)["duplicate items"].value >= 10
    assert found(clean())["duplicate items"].value == 0


def test_hubs_appear_in_many_dimensions() -> None:
    skew = [found(np.random.default_rng(1).standard_normal((500, d)))["hubness (skewness)"].value for d in (3, 200)]
    assert skew[0] < 1 < skew[1]


def test_an_item_far_outside_is_named() -> None:
    x = clean()
    x[33] *= 40
    finding = found(x)["furthest item"]
    assert finding.level == "bad" and "item 33" in finding.meaning


def test_bad_input_is_a_sentence() -> None:
    with pytest.raises(ExplorerError, match="2 item"):
        examine(np.ones((2, 3)))
