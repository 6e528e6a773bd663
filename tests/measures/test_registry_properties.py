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


def evaluate(measure: Measure, x: Any, y: Any) -> float:
    params = {"k": 5} if any(p.name == "k" for p in measure.parameters) else {}
    if measure.kind == "pairwise":
        return explorer.compute(measure.id, x, y, **params).value
    return explorer.compute(measure.id, x, **params).value


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
    before, after = evaluate(measure, x, y), evaluate(measure, transformed(x, invariance, seed), y)
    assert after == pytest.approx(before, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize(("measure", "invariance"), invariance_pairs(declared=False))
def test_undeclared_invariances_fail(measure: Measure, invariance: str) -> None:
    """What is not declared must really not hold: otherwise the declaration is wrong."""
    changes = []
    for seed in range(8):
        x, y = data(seed)
        changes.append(abs(evaluate(measure, transformed(x, invariance, seed), y) - evaluate(measure, x, y)))
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
    assert evaluate(measure, x, x) == pytest.approx(measure.best, abs=1e-9)


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_permuting_items_of_both_changes_nothing(measure: Measure) -> None:
    x, y = data(2)
    order = np.random.default_rng(0).permutation(len(x))
    assert evaluate(measure, x[order], y[order]) == pytest.approx(evaluate(measure, x, y), abs=1e-9)


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
    assert given == pytest.approx(expected, rel=2e-4, abs=2e-4)


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
    good = np.random.default_rng(1).standard_normal((20, 4))
    with pytest.raises(ExplorerError) as caught:
        evaluate(measure, bad, good)
    assert words in str(caught.value)
    if measure.kind == "pairwise":
        with pytest.raises(ExplorerError, match="Y"):
            evaluate(measure, good, bad)


@pytest.mark.parametrize("measure", PAIRWISE, ids=by_id)
def test_mismatched_items(measure: Measure) -> None:
    with pytest.raises(ExplorerError, match="X has 20 items and Y has 21"):
        evaluate(measure, np.eye(20), np.eye(21))


@pytest.mark.parametrize("measure", MEASURES, ids=by_id)
def test_equal_items_give_nan_with_a_reason_or_a_number(measure: Measure) -> None:
    x, y = np.ones((20, 4)), data(0, 20, 4)[1]
    params = {"k": 5} if any(p.name == "k" for p in measure.parameters) else {}
    found = (
        explorer.compute(measure.id, x, y, **params)
        if measure.kind == "pairwise"
        else explorer.compute(measure.id, x, **params)
    )
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
