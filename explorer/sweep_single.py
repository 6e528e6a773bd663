"""Single measures over many representations: one search for neighbours and one spectrum each, whatever is asked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from explorer.api import matrix_of
from explorer.device import compute_device
from explorer.errors import ExplorerError
from explorer.files import short_hash
from explorer.measures.registry import Measure
from explorer.representation import Representation
from explorer.results import Results, result_key
from explorer.sharing import shared_work
from explorer.subsampling import search_once

Report = Callable[[float, str], None]
Row = dict[str, Any]
Task = tuple[Measure, dict[str, Any]]


def sweep_single(
    tasks: list[Task],
    representations: list[Representation],
    results: Results | None,
    report: Report,
    inputs: dict[str, Any] | None = None,
) -> list[Row]:
    """A row for each measure and representation, by measure; known ones are read, fresh ones are kept at once."""
    marked = [(measure, params, params | _marks(measure, inputs)) for measure, params in tasks]
    rows: dict[tuple[int, str], Row] = {}
    all_keys = [
        [result_key(measure.id, shown, x.id, content_mark(x)) for measure, _, shown in marked] for x in representations
    ]
    known = results.known(key for keys in all_keys for key in keys) if results is not None else {}
    for number, (x, keys) in enumerate(zip(representations, all_keys)):
        fresh = [i for i, key in enumerate(keys) if key not in known]
        found = _compute_fresh([marked[i] for i in fresh], [keys[i] for i in fresh], x, inputs or {})
        if results is not None:
            results.add(found)
        rows |= {(i, x.id): row for i, row in zip(fresh, found)}
        rows |= {(i, x.id): known[key] for i, key in enumerate(keys) if key in known}
        report((number + 1) / len(representations), f"{number + 1} of {len(representations)} representations")
    return [rows[i, x.id] for i in range(len(tasks)) for x in representations]


def _marks(measure: Measure, inputs: dict[str, Any] | None) -> dict[str, str]:
    """What stands for the needed inputs in a row's parameters: a hash of their values."""
    given = inputs or {}
    return {n.name: short_hash(repr(np.asarray(given[n.name]).tolist())) for n in measure.needs if n.name in given}


def _compute_fresh(
    tasks: list[tuple[Measure, dict[str, Any], dict[str, Any]]],
    keys: list[str],
    x: Representation,
    inputs: dict[str, Any],
) -> list[Row]:
    if not tasks:
        return []
    try:
        values, failure = matrix_of(x, x.name, 1), ""
    except ExplorerError as reason:
        values, failure = torch.empty(0, 0), str(reason)
    rows = []
    with shared_work():
        if not failure:
            search_once([(measure, params) for measure, params, _ in tasks], values)
        for (measure, params, shown), key in zip(tasks, keys):
            row = base_row(measure, shown, key, x)
            started = time.perf_counter()
            row |= {"value": float("nan"), "note": failure} if failure else _value(measure, params, values, inputs, x)
            row["seconds"] = time.perf_counter() - started
            rows.append(row)
    return rows


def _value(
    measure: Measure, params: dict[str, Any], values: torch.Tensor, inputs: dict[str, Any], x: Representation
) -> Row:
    assert measure.compute is not None
    try:
        if len(values) < measure.min_items:
            raise ExplorerError(f"{x.name} has {len(values)} item(s); at least {measure.min_items} are needed.")
        found = measure.compute(values, **measure.take_inputs(dict(inputs), values), **params)
        return {"value": found.value, "note": "; ".join(found.notes)}
    except ExplorerError as reason:
        return {"value": float("nan"), "note": str(reason)}


def base_row(measure: Measure, params: dict[str, Any], key: str, x: Representation) -> Row:
    return {
        "key": key,
        "measure": measure.id,
        "params": json.dumps(params, sort_keys=True),
        "kind": measure.kind,
        "dataset_name": x.origin.dataset_name,
        "x_id": x.id,
        "x_model": x.origin.model,
        "x_layer": x.origin.layer,
        "x_layer_index": x.origin.layer_index,
        "x_depth": x.origin.depth,
        "n_items": x.values.shape[0],
        "x_features": x.values.shape[1],
        "device": str(compute_device()),
    }


def content_mark(x: Representation) -> str:
    """A cheap mark of the content, so that a representation that was written anew is computed anew.

    Sums over all rows would read the whole file; eight spread rows tell a rewritten file from the old one.
    """
    rows = np.unique(np.linspace(0, len(x.values) - 1, 8).astype(int))
    return short_hash(np.ascontiguousarray(x.values[rows]).tobytes(), str(x.values.shape))
