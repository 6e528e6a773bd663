"""Every value that several public implementations agree on, through the same cases as `repgeo verify`."""

from __future__ import annotations

import numpy as np
import pytest

import explorer
from explorer.measures.registry import registry
from explorer.verification import Case, all_cases, differences, value_of
from explorer.verification.inputs import reference

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=[f"{c.measure}-{c.source}-{c.name}" for c in CASES])
def test_reference_value(case: Case) -> None:
    found = value_of(case)
    assert found == pytest.approx(case.expected, rel=case.tolerance, abs=case.tolerance)


def test_every_measure_has_a_case_and_most_have_a_package() -> None:
    assert {case.measure for case in CASES} == set(registry())
    with_package = {case.measure for case in CASES if case.agrees}
    assert len(with_package) > 25


def test_tied_canonical_correlations_are_refused() -> None:
    """The stored 1 of case B is right, but so would be any weights."""
    entry = reference("similarity-cases.json")["cases"]["B_wide_independent"]
    found = explorer.compute("pwcca", np.array(entry["X"]), np.array(entry["Y"]))
    assert np.isnan(found.value) and "tie at 1" in found.notes[0]


def test_what_packages_get_wrong_is_really_different() -> None:
    """A package that is listed as different differs from the right value, or fails."""
    table = differences()
    assert table.height > 30 and table["why"].str.len_chars().min() > 5
    gap = (table["right"] - table["theirs"]).abs()
    assert (gap.is_nan() | (gap > 1e-9)).all()
