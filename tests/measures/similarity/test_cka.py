"""CKA: limiting cases, the traps in which other implementations fall, and its null in closed form."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

import explorer
from explorer.errors import ExplorerError
from explorer.gram import GramState
from explorer.measures.similarity import cka
from explorer.verification.inputs import reference, supplement_inputs


def brute_force_debiased(x: np.ndarray, y: np.ndarray) -> float:
    """Song's U-statistic as an average over all ordered 4-tuples of different items."""

    def hsic(k: np.ndarray, m: np.ndarray) -> float:
        tuples = np.array(list(permutations(range(len(k)), 4)))
        i, j, q, r = tuples.T
        return float((k[i, j] * m[i, j] + k[i, j] * m[q, r] - 2 * k[i, j] * m[i, q]).mean())

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / np.sqrt(hsic(k, k) * hsic(m, m))


def test_debiased_is_the_average_over_four_tuples() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.standard_normal((9, 2)), rng.standard_normal((9, 3))
    assert explorer.compute("cka", x, y).value == pytest.approx(brute_force_debiased(x, y), abs=1e-12)


@pytest.mark.parametrize("case", ["A_tall", "B_wide_independent", "E_closed_form_1d"])
def test_rbf_with_the_median_of_squared_distances(case: str) -> None:
    """The stored cases take the median of squared distances; ours is of distances: convert, then compare."""
    entry = reference("similarity-cases.json")["cases"][case]

    def state(values: list) -> GramState:
        x = torch.tensor(values, dtype=torch.float64)
        distances = torch.pdist(x).numpy()
        return cka.prepare(x, "rbf", float(np.sqrt(np.median(distances**2)) / np.median(distances)))

    found = cka.compare(state(entry["X"]), state(entry["Y"]), estimator="biased")
    assert found == pytest.approx(entry["measures"]["cka_rbf_median"]["value"], rel=1e-9)


def test_independent_data_average_to_zero_only_when_debiased() -> None:
    rng = np.random.default_rng(0)
    draws = [(rng.standard_normal((32, 64)), rng.standard_normal((32, 64))) for _ in range(60)]
    debiased = [explorer.compute("cka", x, y).value for x, y in draws]
    biased = [explorer.compute("cka", x, y, estimator="biased").value for x, y in draws]
    assert abs(np.mean(debiased)) < 4 * np.std(debiased) / np.sqrt(60)
    assert min(debiased) < 0, "negative values are shown, not clipped"
    assert np.mean(biased) > 0.6


def test_offset_does_not_cancel_digits_in_float32() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((500, 64))
    y = x @ rng.standard_normal((64, 64)) / 8 + rng.standard_normal((500, 64))
    exact = explorer.compute("cka", x, y).value
    for offset in (10.0, 1000.0):
        shifted = explorer.compute("cka", (x + offset).astype(np.float32), (y + offset).astype(np.float32)).value
        assert shifted == pytest.approx(exact, abs=2e-3 if offset == 1000 else 1e-5)


def test_float32_sums_keep_their_digits_at_four_thousand_items() -> None:
    rng = np.random.default_rng(2)
    z = rng.standard_normal((4000, 20))
    x = np.concatenate([z, rng.standard_normal((4000, 60))], axis=1)
    y = np.concatenate([z, rng.standard_normal((4000, 40))], axis=1)
    for estimator in ("biased", "debiased"):
        exact = explorer.compute("cka", x, y, estimator=estimator).value
        single = explorer.compute("cka", x.astype(np.float32), y.astype(np.float32), estimator=estimator).value
        assert single == pytest.approx(exact, abs=1e-6)


def test_narrow_cone_agrees_with_itself() -> None:
    rng = np.random.default_rng(0)
    for mu in (0, 3, 10, 30):
        x = mu * np.ones(256) / 16 + rng.standard_normal((200, 256)) / 16
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        assert explorer.compute("cka", x, x).value == pytest.approx(1, abs=1e-9)


def test_very_different_scales_of_features() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((50, 8)).astype(np.float32)
    for scale in (1e-18, 1e18):
        assert explorer.compute("cka", x, x * np.float32(scale)).value == pytest.approx(1, abs=1e-5)


def test_gram_side_and_feature_side_agree() -> None:
    rng = np.random.default_rng(4)
    layers = [rng.standard_normal((60, d)) for d in (3, 40, 200)]
    whole = explorer.similarity_matrix("cka", layers)
    pairs = [[explorer.compute("cka", a, b).value for b in layers] for a in layers]
    assert whole == pytest.approx(np.array(pairs), abs=1e-12)
    assert np.diag(whole) == pytest.approx(np.ones(3), abs=1e-12)


def test_a_state_is_nan_where_debiased_norm_vanishes() -> None:
    x = np.zeros((6, 1))
    x[0] = 1.0
    found = explorer.compute("cka", np.eye(6), np.random.default_rng(0).standard_normal((6, 2)))
    assert np.isnan(found.value)
    assert "indistinguishable" in found.notes[0]


def test_fewer_than_four_items_only_when_biased() -> None:
    x, y = np.eye(3), np.arange(9.0).reshape(3, 3) ** 2
    with pytest.raises(ExplorerError, match="there are 3 items; at least 4 are needed"):
        explorer.compute("cka", x, y)
    assert 0 <= explorer.compute("cka", x, y, estimator="biased").value <= 1


def test_all_items_equal_is_nan_with_a_reason() -> None:
    found = explorer.compute("cka", np.ones((6, 3)), np.random.default_rng(0).standard_normal((6, 2)))
    assert np.isnan(found.value)
    assert "nothing varies" in found.notes[0]


def test_closed_form_null_against_all_720_permutations() -> None:
    entry = reference("similarity-cases.json")["extra"]["exact_permutation_N6"]
    x, y = (torch.tensor(entry[key], dtype=torch.float64) for key in "XY")
    params = {"estimator": "biased", "kernel": "linear", "bandwidth": 1.0}
    sx, sy = (cka.prepare(v, **params) for v in (x, y))
    orders = torch.tensor(list(permutations(range(6))))
    sample = cka.null_sampler([sx], [sy], **params)
    nulls = np.array([sample(order)[0, 0] for order in orders])
    assert nulls.mean() == pytest.approx(entry["cka_linear_null_mean"], abs=1e-12)
    mean, deviation = cka.null_moments(sx, sy, **params)
    assert mean == pytest.approx(nulls.mean(), abs=1e-12)
    assert deviation**2 == pytest.approx(entry["cka_linear_null_variance"], abs=1e-12)
    share = (nulls >= entry["cka_linear_observed"] - 1e-12).mean()
    assert share == pytest.approx(entry["p_value_exact"])
    params["estimator"] = "debiased"
    sample = cka.null_sampler([sx], [sy], **params)
    debiased = np.array([sample(order)[0, 0] for order in orders])
    assert debiased.mean() == pytest.approx(0, abs=1e-12)
    mean, deviation = cka.null_moments(sx, sy, **params)
    assert (mean, deviation) == (0.0, pytest.approx(debiased.std(), abs=1e-12))
    assert deviation == pytest.approx(np.sqrt(2 / (6 * 3)))


@pytest.mark.parametrize("measure", ["cka", "distance_correlation"])
def test_chance_of_the_debiased_ratio_depends_on_the_number_of_items_alone(measure: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.exponential(size=(6, 3)) ** 3, rng.standard_normal((6, 9))
    everything = [
        explorer.compute(measure, x, y[list(order)], estimator="debiased").value for order in permutations(range(6))
    ]
    assert np.std(everything) == pytest.approx(np.sqrt(2 / (6 * 3)), abs=1e-9)


def test_permuted_states_equal_permuted_rows() -> None:
    x, y = supplement_inputs("tall")
    order = np.random.default_rng(0).permutation(40)
    params = {"estimator": "debiased", "kernel": "rbf", "bandwidth": 0.7}
    sx, sy = (cka.prepare(torch.from_numpy(v), **params) for v in (x, y))
    direct = explorer.compute("cka", x, y[order], **params).value
    assert cka.compare(sx, cka.permute(sy, torch.from_numpy(order)), **params) == pytest.approx(direct, abs=1e-12)
