"""Calibration: stored values of the official code, exact nulls, and what it must mean."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import explorer
from explorer.errors import ExplorerError
from explorer.verification.inputs import reference, supplement_inputs

CASES = reference("similarity-supplement.json")["cases"]
MEASURES: dict[str, tuple[str, dict[str, Any]]] = {
    "cka_linear_biased": ("cka", {"estimator": "biased"}),
    "cka_linear_debiased": ("cka", {"estimator": "debiased"}),
    "mutual_knn_cosine_k5": ("mutual_knn", {"k": 5}),
}


@pytest.mark.parametrize("case", ["tall", "independent"])
@pytest.mark.parametrize("name", MEASURES)
def test_stored_calibrations(case: str, name: str) -> None:
    measure, params = MEASURES[name]
    x, y = supplement_inputs(case)
    found = explorer.calibrate(measure, x, y, permutations=19, seed=11, **params)
    for field, value in {"p": found.p_value, "threshold": found.threshold, "score": found.score}.items():
        expected = CASES[case][f"calibrated_{name}_K19_{field}"]["value"]
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9), field


def test_stored_layer_maximum() -> None:
    x, y = supplement_inputs("tall")
    found = explorer.calibrate(
        "cka", [x, np.tanh(x)], [y, np.tanh(y), np.maximum(y, 0)], permutations=19, seed=11, estimator="biased"
    )
    assert found.matrix.shape == (2, 3)
    assert found.p_value == pytest.approx(CASES["layers"]["max_aggregate_p"]["value"])
    assert found.threshold == pytest.approx(CASES["layers"]["max_aggregate_threshold"]["value"], rel=1e-6)
    assert found.score == pytest.approx(CASES["layers"]["max_aggregate_score"]["value"], rel=1e-6)


def test_all_layers_get_the_same_permutation() -> None:
    x, y = supplement_inputs("tall")
    one = explorer.calibrate("mutual_knn", x, y, permutations=30, seed=2, k=5)
    three = explorer.calibrate("mutual_knn", x, [y, y, y], permutations=30, seed=2, k=5)
    assert (one.null == three.null).all()


def test_null_of_a_measure_with_and_without_a_fast_path() -> None:
    """The gathered Gram matrices must give what permuting the rows gives."""
    x, y = supplement_inputs("tall")
    order = np.random.default_rng(5).permutation(40)
    for measure in ("cka", "mutual_knn", "procrustes", "rsa", "cca"):
        found = explorer.calibrate(measure, x, y, permutations=1, seed=5)
        assert found.null[0] == pytest.approx(explorer.compute(measure, x, y[order]).value, abs=1e-10), measure


def test_expected_chance_of_mutual_knn() -> None:
    rng = np.random.default_rng(0)
    found = explorer.calibrate("mutual_knn", rng.standard_normal((200, 5)), rng.standard_normal((200, 5)))
    assert found.null_mean[0, 0] == pytest.approx(10 / 199, abs=1e-12)
    assert found.null.mean() == pytest.approx(10 / 199, abs=4 * found.null_sd[0, 0] / np.sqrt(200))


@pytest.mark.parametrize("params", [{"estimator": "biased"}, {"estimator": "biased", "kernel": "rbf"}, {}])
def test_draws_agree_with_the_closed_form_of_cka(params: dict) -> None:
    x, y = supplement_inputs("tall")
    found = explorer.calibrate("cka", [x, np.tanh(x)], [y], permutations=2000, **params)
    drawn = np.array([explorer.calibrate("cka", v, y, permutations=2000, **params).null for v in (x, np.tanh(x))])
    error = drawn.std(axis=1) / np.sqrt(2000)
    assert (np.abs(drawn.mean(axis=1) - found.null_mean[:, 0]) < 4 * error).all()
    assert drawn.std(axis=1) == pytest.approx(found.null_sd[:, 0], rel=0.08)


def test_unrelated_layers_are_not_called_alike() -> None:
    """The best of 24 x 24 cells of noise is far above a single cell's chance, and must still be chance."""
    rng = np.random.default_rng(1)
    xs, ys = ([rng.standard_normal((60, 8)) for _ in range(12)] for _ in range(2))
    found = explorer.calibrate("mutual_knn", xs, ys, permutations=99, seed=0)
    assert found.matrix.max() > 1.25 * 10 / 59
    assert found.p_value > 0.05
    assert found.score == 0
    assert found.cell_p.min() > 0.05


def test_p_values_are_uniform_under_the_null() -> None:
    rng = np.random.default_rng(2)
    values = []
    for _ in range(200):
        x, y = rng.standard_normal((15, 3)), rng.standard_normal((15, 3))
        values.append(explorer.calibrate("cka", x, y, permutations=19, seed=int(rng.integers(1 << 30))).p_value)
    assert 0.01 <= np.mean(np.array(values) <= 0.05) <= 0.10
    assert np.mean(values) == pytest.approx(0.525, abs=0.07)


def test_distances_are_calibrated_the_right_way_round() -> None:
    x, y = supplement_inputs("tall")
    found = explorer.calibrate("procrustes", x, y, permutations=99)
    assert found.p_value == pytest.approx(0.01)
    assert found.statistic < found.threshold < found.null.mean()
    assert 0 < found.score <= 1
    assert found.z[0, 0] > 3


def test_mean_aggregate_and_closed_definitions() -> None:
    x, y = supplement_inputs("tall")
    layers = [y, np.tanh(y)]
    found = explorer.calibrate("cka", x, layers, permutations=49, aggregate="mean", alpha=0.1)
    assert found.statistic == pytest.approx(found.matrix.mean())
    together = np.sort(np.append(found.null, found.statistic))
    assert found.threshold == together[45 - 1]
    assert found.corrected == pytest.approx((found.matrix - found.null_mean) / (1 - found.null_mean))


def test_every_permutation_of_six_items() -> None:
    entry = reference("similarity-cases.json")["extra"]["exact_permutation_N6"]
    x, y = np.array(entry["X"]), np.array(entry["Y"])
    counts = []
    for order in permutations(range(6)):
        counts.append(explorer.compute("mutual_knn", x, y[list(order)], k=2).value)
    observed = entry["mutual_knn_k2_cosine_observed"]
    assert np.mean(counts) == pytest.approx(0.4)
    assert np.mean(np.array(counts) >= observed - 1e-12) == pytest.approx(entry["mutual_knn_k2_p"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"permutations": 0}, "between 1 and 10,000"),
        ({"permutations": 20_000}, "between 1 and 10,000"),
        ({"alpha": 1.5}, "between 0 and 1"),
        ({"aggregate": "median"}, "'median' is not one of"),
        ({"k": 0}, "k = 0"),
    ],
)
def test_bad_options(options: dict, words: str) -> None:
    x, y = supplement_inputs("tall")
    with pytest.raises(ExplorerError, match=words):
        explorer.calibrate("mutual_knn", x, y, **options)


def test_progress_and_cancel() -> None:
    x, y = supplement_inputs("tall")
    seen: list[float] = []
    explorer.calibrate("cka", x, y, permutations=25, report=lambda share, _: seen.append(share))
    assert seen == sorted(seen) and seen[-1] == 1

    class Stop(Exception):
        pass

    def stop(share: float, note: str) -> None:
        raise Stop

    with pytest.raises(Stop):
        explorer.calibrate("cka", x, y, report=stop)


def test_restricted_permutations_stay_within_groups() -> None:
    """What classes alone bring about is chance under the stricter null, and not under the plain one."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(6), 20)
    centres = 4 * rng.standard_normal((6, 8))
    x, y = (centres[groups] + rng.standard_normal((120, 8)) for _ in range(2))
    plain = explorer.calibrate("cka", x, y, permutations=99)
    strict = explorer.calibrate("cka", x, y, permutations=99, groups=groups)
    assert plain.p_value == 0.01
    assert strict.p_value > 0.05
    assert strict.null_mean[0, 0] == pytest.approx(plain.matrix[0, 0], abs=0.05)
    names = explorer.calibrate("cka", x, y, permutations=99, groups=[f"class {g}" for g in groups])
    assert (names.null == strict.null).all()


def test_groups_that_cannot_be_permuted() -> None:
    x, y = supplement_inputs("tall")
    with pytest.raises(ExplorerError, match="Every group holds one item"):
        explorer.calibrate("cka", x, y, permutations=5, groups=np.arange(40))
    with pytest.raises(ExplorerError, match="one label for each of the 40 items"):
        explorer.calibrate("cka", x, y, permutations=5, groups=[1, 2])


def test_benjamini_hochberg_by_hand() -> None:
    from explorer.calibration import benjamini_hochberg

    # Sorted 0.01, 0.02, 0.03, 0.5: times 4 / rank = 0.04, 0.04, 0.04, 0.5.
    found = benjamini_hochberg(np.array([[0.02, 0.5], [0.01, 0.03]]))
    assert found == pytest.approx(np.array([[0.04, 0.5], [0.04, 0.04]]))
    with_gap = benjamini_hochberg(np.array([0.01, np.nan, 0.04]))
    assert with_gap[0] == pytest.approx(0.02) and np.isnan(with_gap[1])


def test_false_discoveries_are_kept_down() -> None:
    rng = np.random.default_rng(4)
    layers = [rng.standard_normal((60, 6)) for _ in range(8)]
    strangers = [rng.standard_normal((60, 6)) for _ in range(8)]
    found = explorer.calibrate("cka", layers, strangers, permutations=199)
    assert (found.own_p <= 0.05).sum() >= 1  # some of 64 cells look good on their own
    assert (found.q <= 0.05).sum() == 0


def test_cells_without_a_value_leave_the_others_alone() -> None:
    x, y = supplement_inputs("wide")
    found = explorer.calibrate("pwcca", [x, x[:, :2]], [y[:, :3]], permutations=19)
    assert np.isfinite(found.matrix[1, 0]) and np.isfinite(found.statistic)
    with pytest.raises(ExplorerError, match="no value for any pair"):
        explorer.calibrate("pwcca", x, y, permutations=5)
