"""Laws that every measure declares, checked over the whole registry; and bad input, as sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import explorer
from explorer.errors import ExplorerError
from explorer.measures.registry import INVARIANCES, Measure, registry

MEASURES = list(registry().values())
PAIRWISE = [m for m in MEASURES if m.kind == "pairwise"]
SINGLE = [m for m in MEASURES if m.kind == "single"]


def by_id(measure: Measure) -> str:
    return measure.id


# Small sizes, so that many examples run in little time.
SMALL = {"k": 5, "triplets": 400, "restarts": 2, "max_points": 40, "splits": 8, "draws": 5, "iterations": 3}
# Where the default counts something rare, or needs more items, in which case nothing would be tested.
OF_ONE = {
    "extrinsic_curvature": {"k": 12},
    "outlier_dimensions": {"factor": 1.2},
    "pca_dimension": {"share": 0.7},
    "stabilisation": {"threshold": 0.55},
}


def small(measure: Measure) -> dict[str, Any]:
    return {p.name: SMALL[p.name] for p in measure.parameters if p.name in SMALL} | OF_ONE.get(measure.id, {})


def beside(measure: Measure, y: np.ndarray) -> dict[str, Any]:
    """What a measure needs beside X; y stands for another view of the items."""
    n, d = y.shape
    rng = np.random.default_rng(11)
    made = {
        "labels": np.arange(n) % 3,
        "view": y,
        "views": y,
        "readout": rng.standard_normal((7, d)),
        "analogies": np.stack([rng.permutation(n)[:4] for _ in range(12)]),
        "compositions": np.stack([rng.permutation(n)[:3] for _ in range(16)]),
        "factors": np.stack([np.arange(n) % 4, np.arange(n) // 4 % 5], axis=1),
    }
    return {need.name: made[need.name] for need in measure.needs if not need.optional}


def result(measure: Measure, x: Any, y: Any) -> explorer.Result:
    if measure.kind == "pairwise":
        return explorer.compute(measure.id, x, y, **small(measure))
    if measure.kind == "group":
        return explorer.compute(measure.id, [x, y, y], **small(measure))
    if measure.kind == "trajectory":
        return explorer.compute(measure.id, [x, y, np.tanh(y)], **small(measure))
    return explorer.compute(measure.id, x, **small(measure), **beside(measure, y))


def evaluate(measure: Measure, x: Any, y: Any) -> float:
    return result(measure, x, y).value


def transformed(x: np.ndarray, invariance: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    d = x.shape[1]
    if invariance == "orthogonal":
        return x @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    if invariance == "isotropic_scaling":
        return 7.3 * x
    if invariance == "translation":
        return x + 3 * rng.standard_normal(d)
    if invariance == "feature_permutation":
        return x[:, rng.permutation(d)]
    if invariance == "invertible_linear":
        return x @ (np.eye(d) + np.triu(rng.standard_normal((d, d)), 1) + np.diag(rng.uniform(0, 3, d)))
    return x * rng.uniform(0.2, 5, (len(x), 1))


def evaluate_transformed(measure: Measure, x: np.ndarray, y: np.ndarray, invariance: str, seed: int) -> float:
    """X in another form; what lies in the same space (another view, the other layers) is transformed alike."""
    if measure.kind == "trajectory":
        layers = [transformed(v, invariance, seed) for v in (x, y, np.tanh(y))]
        return explorer.compute(measure.id, layers, **small(measure)).value
    if measure.kind == "single" and {"view", "views"} & {need.name for need in measure.needs}:
        y = transformed(y, invariance, seed)
    return evaluate(measure, transformed(x, invariance, seed), y)


def data(seed: int, n: int = 40, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) + 0.5
    return x, x @ rng.standard_normal((d, d)) + 0.7 * rng.standard_normal((n, d))


def invariance_pairs(declared: bool) -> list[Any]:
    pairs = [(m, i) for m in MEASURES for i in INVARIANCES if (i in m.invariances) == declared]
    return [pytest.param(m, i, id=f"{m.id}-{i}") for m, i in pairs]


@pytest.mark.parametrize(("measure", "invariance"), invariance_pairs(declared=True))
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_declared_invariances_hold(measure: Measure, invariance: str, seed: int) -> None:
    x, y = data(seed)
    before = evaluate(measure, x, y)
    assert evaluate_transformed(measure, x, y, invariance, seed) == pytest.approx(before, abs=1e-6, rel=1e-6)
    if not measure.symmetric:
        assert evaluate(measure, x, transformed(y, invariance, seed)) == pytest.approx(before, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize(("measure", "invariance"), invariance_pairs(declared=False))
def test_undeclared_invariances_fail(measure: Measure, invariance: str) -> None:
    """What is not declared must really not hold: otherwise the declaration is wrong."""
    changes = []
    for seed in range(8):
        x, y = data(seed)
        before = evaluate(measure, x, y)
        changes.append(abs(evaluate_transformed(measure, x, y, invariance, seed) - before))
        if not measure.symmetric:
            changes.append(abs(evaluate(measure, x, transformed(y, invariance, seed)) - before))
    assert max(changes) > 1e-3


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(12, 40), d=st.integers(1, 60))
def test_declared_range_holds(measure: Measure, seed: int, n: int, d: int) -> None:
    x, y = data(seed, n, d)
    value = evaluate(measure, x, y)
    if np.isnan(value):
        return
    low, high = measure.range
    assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_symmetry_and_best_value(measure: Measure) -> None:
    x, y = data(1)
    if measure.symmetric:
        assert evaluate(measure, x, y) == pytest.approx(evaluate(measure, y, x), abs=1e-9)
    elif measure.family != "alignment":  # retrieval is averaged over both ways
        assert abs(evaluate(measure, x, y) - evaluate(measure, y, x)) > 1e-4
    best = measure.best_value(measure.resolve(small(measure)))
    if measure.self_is_best:
        assert evaluate(measure, x, x) == pytest.approx(best, abs=1e-9)
    if measure.is_distance:
        assert evaluate(measure, x, x) == 0


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_permuting_items_of_both_changes_nothing(measure: Measure) -> None:
    x, y = data(2)
    order = np.random.default_rng(0).permutation(len(x))
    # A split or a sample that is drawn by position meets other items, so only the size of the number stays.
    tolerance = 0.25 if measure.uses_item_order else 1e-9
    assert evaluate(measure, x[order], y[order]) == pytest.approx(evaluate(measure, x, y), abs=tolerance)


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
@pytest.mark.parametrize("kind", ["float32", "float16", "torch", "fortran", "big_endian", "strided", "read_only"])
def test_other_layouts_and_precisions(measure: Measure, kind: str) -> None:
    x, y = data(3)
    x, y = x.astype(np.float16).astype(float), y.astype(np.float16).astype(float)
    expected = evaluate(measure, x, y)
    makers = {
        "float32": lambda v: v.astype(np.float32),
        "float16": lambda v: v.astype(np.float16),
        "torch": torch.from_numpy,
        "fortran": np.asfortranarray,
        "big_endian": lambda v: v.astype(">f8"),
        "strided": lambda v: np.repeat(v, 2, axis=0)[::2],
        "read_only": lambda v: np.frombuffer(v.tobytes()).reshape(v.shape),
    }
    given = evaluate(measure, makers[kind](x), makers[kind](y))
    assert given == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
@pytest.mark.parametrize(("offset", "dtype"), [(1000.0, np.float32), (30.0, np.float16)])
def test_a_large_common_offset_loses_no_digits(measure: Measure, offset: float, dtype: type) -> None:
    x, y = ((v + offset).astype(dtype) for v in data(3))
    expected = evaluate(measure, x.astype(float), y.astype(float))
    assert evaluate(measure, x, y) == pytest.approx(expected, rel=1e-4, abs=1e-4)


def spoiled(value: float) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal((20, 4))
    x[7, 2] = value
    return x


BAD = {
    "nan": (spoiled(np.nan), "item 7, feature 2"),
    "infinity": (spoiled(np.inf), "item 7, feature 2"),
    "empty": (np.empty((0, 4)), "0 item(s)"),
    "one item": (np.ones((1, 4)), "1 item(s)"),
    "no features": (np.empty((20, 0)), "no features"),
    "three axes": (np.ones((3, 4, 5)), "shape (3, 4, 5)"),
    "strings": (np.array([["a", "b"]] * 20), "real numbers are needed"),
    "objects": (np.array([[{}, {}]] * 20), "real numbers are needed"),
    "complex": (np.ones((20, 4), dtype=complex), "real numbers are needed"),
    "ragged": ([[1.0, 2.0], [3.0]], "ragged"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
def test_bad_input_is_a_sentence_with_the_place(measure: Measure, name: str) -> None:
    bad, words = BAD[name]
    if measure.accepts_trials and name == "three axes":
        bad, words = np.ones((3, 0, 5)), "no items or no trials"
    good = np.random.default_rng(1).standard_normal((20, 4))
    with pytest.raises(ExplorerError) as caught:
        evaluate(measure, bad, good)
    assert words in str(caught.value)
    if measure.kind == "pairwise" and not (measure.accepts_trials and name == "three axes"):
        with pytest.raises(ExplorerError, match="Y"):
            evaluate(measure, good, bad)


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_mismatched_items(measure: Measure) -> None:
    with pytest.raises(ExplorerError, match="X has 20 items and Y has 21"):
        evaluate(measure, np.eye(20), np.eye(21))


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
def test_equal_items_give_nan_with_a_reason_or_a_number(measure: Measure) -> None:
    x, y = np.ones((20, 4)), data(0, 20, 4)[1]
    found = result(measure, x, y)
    if np.isnan(found.value):
        assert found.notes and len(found.notes[0]) > 20
    else:
        assert np.isfinite(found.value)


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
def test_constant_features_and_duplicates_do_not_break(measure: Measure) -> None:
    x, y = data(4)
    x[:, 0] = 3.0
    x[5] = x[6]
    assert np.isfinite(evaluate(measure, x, y))


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
def test_metadata_are_complete(measure: Measure) -> None:
    for words in (measure.authors, measure.title, measure.formula, measure.caveat, measure.cost, measure.higher_means):
        assert words.strip()
    assert 1900 < measure.year < 2027
    assert measure.range[0] < measure.range[1]
    with pytest.raises(ExplorerError, match="has no parameter 'nonsense'"):
        measure.resolve({"nonsense": 1})
    for parameter in measure.parameters:
        assert parameter.check(parameter.default, measure.id) == parameter.default
        wrong: Any = "no such choice" if parameter.choices else "text"
        with pytest.raises(ExplorerError, match=parameter.name):
            parameter.check(wrong, measure.id)
    for preset in measure.presets:
        assert measure.resolve(preset.params) and preset.note
        assert measure.preset(preset.name) is preset
    with pytest.raises(ExplorerError, match="no convention"):
        measure.preset("nonsense")


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_permuting_a_state_is_permuting_the_rows(measure: Measure) -> None:
    """The null of every measure rests on this: reordering what was prepared must equal preparing what was reordered."""
    x, y = data(5)
    order = np.random.default_rng(3).permutation(len(x))
    params = small(measure)
    found = explorer.calibrate(measure.id, x, y, permutations=1, seed=3, **params)
    assert found.null[0] == pytest.approx(explorer.compute(measure.id, x, y[order], **params).value, abs=1e-9)


@pytest.mark.parametrize("measure", [m for m in PAIRWISE if m.null_moments is not None], ids=by_id)
def test_closed_form_of_chance(measure: Measure) -> None:
    """A mean of chance that a measure claims to know must be the mean of its permutations."""
    x, y = data(6, 24)
    found = explorer.calibrate(measure.id, x, y, permutations=600, **small(measure))
    error = found.null.std() / np.sqrt(600)
    assert found.null_mean[0, 0] == pytest.approx(found.null.mean(), abs=4.5 * error)


@pytest.mark.parametrize("measure", [m for m in PAIRWISE if m.compare_matrix is not None], ids=by_id)
def test_a_matrix_is_its_cells(measure: Measure) -> None:
    x, y = data(7)
    layers_x, layers_y = [x, np.tanh(x)], [y, np.tanh(y), y[:, :3]]
    found = explorer.similarity_matrix(measure.id, layers_x, layers_y, **small(measure))
    cells = [[evaluate(measure, a, b) for b in layers_y] for a in layers_x]
    assert found == pytest.approx(np.array(cells), abs=1e-9)
