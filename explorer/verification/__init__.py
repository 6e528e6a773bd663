"""Recompute every measure on the reference cases and put the values of public packages beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from explorer.errors import ExplorerError
from explorer.measures.registry import get_measure
from explorer.verification.case import Case
from explorer.verification.cases import all_cases

__all__ = ["Case", "all_cases", "differences", "value_of", "verify"]

SCHEMA = {
    "measure": pl.String,
    "parameters": pl.String,
    "case": pl.String,
    "source": pl.String,
    "ours": pl.Float64,
    "reference": pl.Float64,
    "difference": pl.Float64,
    "tolerance": pl.Float64,
    "agrees": pl.Boolean,
    "same_in": pl.String,
    "remark": pl.String,
}


def verify(measures: Sequence[str] | None = None, report: Callable[[float, str], None] | None = None) -> pl.DataFrame:
    """One row a reference case: our value, the reference value, whether they agree within the stated tolerance."""
    for identity in measures or ():
        get_measure(identity)
    cases = [case for case in all_cases() if measures is None or case.measure in measures]
    if not cases:
        raise ExplorerError("There is no reference case for these measures.")
    rows = []
    for done, case in enumerate(cases, start=1):
        rows.append(_row(case))
        if report is not None:
            report(done / len(cases), f"{case.measure}: {case.name}")
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def value_of(case: Case) -> float:
    """What we give on a case."""
    from explorer.api import compute

    found = compute(case.measure, **case.inputs(), **case.params)
    return float(found.details[case.detail]) if case.detail else found.value


def _row(case: Case) -> tuple[object, ...]:
    ours = value_of(case)
    difference = abs(ours - case.expected)
    allowed = case.tolerance * max(1.0, abs(case.expected))
    params = ", ".join(f"{name}={value}" for name, value in case.params.items())
    return (
        case.measure,
        params,
        case.name,
        case.source,
        ours,
        case.expected,
        difference,
        allowed,
        difference <= allowed,
        ", ".join(case.agrees),
        case.remark,
    )


def differences(measures: Sequence[str] | None = None) -> pl.DataFrame:
    """One row a public package that gives another value on a reference case, and why."""
    rows = [
        (case.measure, case.name, case.expected, each.package, each.value, each.reason)
        for case in all_cases()
        if measures is None or case.measure in measures
        for each in case.differs
    ]
    columns = ["measure", "case", "right", "package", "theirs", "why"]
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
