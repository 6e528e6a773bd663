"""TwoNN and maximum likelihood dimension: duplicates, limits, local values."""

from __future__ import annotations

import numpy as np
import pytest

import explorer
from explorer.verification.inputs import ball, geometry_set


def test_duplicates_are_merged_by_mle_and_counted() -> None:
    repeated = explorer.compute("mle", geometry_set("ball_5_float32_dup50"))
    once = explorer.compute("mle", ball(22, 950, 5))
    assert repeated.value == pytest.approx(once.value, rel=1e-12)
    assert repeated.details["duplicates"] == 50
    assert "50 items repeat another" in repeated.notes[0]
    assert np.isnan(repeated.items).sum() == 50


def test_duplicates_are_left_out_by_twonn_and_counted() -> None:
    found = explorer.compute("twonn", geometry_set("ball_5_float32_dup50"))
    assert found.details == {"duplicates": 100, "items_used": 900}
    assert "100 items coincide" in found.notes[0]


def test_float32_near_duplicates_do_not_matter() -> None:
    x = ball(22, 950, 5).astype(np.float32)
    near = np.concatenate([x, x[:50] * np.float32(1 + 1e-7)])
    assert explorer.compute("twonn", near).value == pytest.approx(explorer.compute("twonn", x).value, rel=0.05)


def test_an_offset_does_not_matter_in_float32() -> None:
    x = ball(22, 500, 5).astype(np.float32)
    shifted = explorer.compute("mle", x + np.float32(100)).value
    assert shifted == pytest.approx(explorer.compute("mle", x).value, rel=1e-2)


def test_local_dimension_tells_a_line_from_a_plane() -> None:
    rng = np.random.default_rng(0)
    line = np.zeros((300, 3))
    line[:, 0] = rng.uniform(0, 10, 300)
    plane = np.column_stack([rng.uniform(0, 3, (300, 2)), np.full(300, 50.0)])
    items = explorer.compute("mle", np.concatenate([line, plane]), k=15).items
    assert np.median(items[:300]) == pytest.approx(1, abs=0.15)
    assert np.median(items[300:]) == pytest.approx(2, abs=0.3)


def test_noise_in_many_dimensions_is_what_the_caveat_says() -> None:
    assert explorer.compute("twonn", geometry_set("circle_noise_pad384_s0.02")).value == pytest.approx(72.1, abs=0.1)


def test_all_items_equal_is_undefined() -> None:
    found = explorer.compute("twonn", np.ones((30, 3)))
    assert np.isnan(found.value)
    assert "30 of 30 items coincide" in found.notes[0]
