"""Measures x representations -> rows of the results table, computing only what is not there yet."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from explorer.api import matrix_of
from explorer.device import compute_device, limit_threads
from explorer.errors import ExplorerError
from explorer.files import short_hash
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, get_measure
from explorer.representation import Representation
from explorer.results import SCHEMA, Results, result_key
from explorer.store import Store

# A sweep runs over many layers unattended, so it keeps to sizes that end; the row's params say what was used.
SWEEP_PARAMS: dict[str, dict[str, Any]] = {"persistence": {"max_points": 500}}

# So many layers at once share one pass over the items; more would make the progress bar jump.
BLOCK_ROWS = 8
Report = Callable[[float, str], None]
Row = dict[str, Any]


def sweep(
    representations: Sequence[Representation],
    measures: Sequence[str],
    results: Results | None = None,
    params: dict[str, dict[str, Any]] | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    report: Report | None = None,
) -> pl.DataFrame:
    """Compute measures over representations.

    Single measures give a row a representation; pairwise measures a row for each unordered pair (or each of
    ``pairs``, given as ids) of representations of the same items. A measure that fails on one input gives a row
    with NaN and the reason as its note; the others go on.

    Parameters
    ----------
    results : Results, optional
        Where finished rows are looked up and kept.
    params : dict, optional
        Parameters by measure id, over the defaults of sweeps and of the measures.
    """
    tasks: list[tuple[Measure, dict[str, Any]]] = []
    for identity in measures:
        measure = get_measure(identity)
        tasks.append((measure, measure.resolve(SWEEP_PARAMS.get(identity, {}) | (params or {}).get(identity, {}))))
    by_id = {r.id: r for r in representations}
    rows: list[Row] = []
    for number, (measure, resolved) in enumerate(tasks):
        inner = _part_of(report, number, len(tasks), measure.id)
        if measure.kind == "single":
            rows += _sweep_single(measure, resolved, list(by_id.values()), results, inner)
        else:
            chosen = _pairs(by_id, pairs)
            rows += _sweep_pairs(measure, resolved, chosen, results, inner)
    return pl.DataFrame(rows, schema=SCHEMA)


def sweep_store(
    store: Store,
    measures: Sequence[str],
    dataset: str | None = None,
    workers: int = 1,
    report: Report | None = None,
) -> pl.DataFrame:
    """Sweep over everything in a store, keeping the results beside it.

    Parameters
    ----------
    dataset : str, optional
        Only representations of this dataset (name or fingerprint).
    workers : int
        Processes to share the work; only ids travel to them and only rows come back.
    """
    frame = store.representations()
    if dataset is not None:
        frame = frame.filter((pl.col("dataset_name") == dataset) | (pl.col("dataset") == dataset))
    if frame.height == 0:
        raise ExplorerError(f"The store {store.path} holds no representations{f' of {dataset}' if dataset else ''}.")
    if workers < 1:
        raise ExplorerError(f"workers = {workers}; at least 1 is needed.")
    ids = frame["id"].to_list()
    if workers == 1:
        return _sweep_ids(store.path, store.read_only, measures, ids, report)
    return _sweep_in_processes(store, _shares(frame, measures, workers), workers, report)


def _sweep_ids(
    path: Path, read_only: bool, measures: Sequence[str], ids: Sequence[str], report: Report | None = None
) -> pl.DataFrame:
    store = Store(path, read_only)
    results = None if read_only else Results(path / "results")
    return sweep([store.load(i) for i in ids], measures, results, report=report)


def _shares(frame: pl.DataFrame, measures: Sequence[str], workers: int) -> list[tuple[str, list[str]]]:
    """(measure, ids) tasks: single measures are cut into shares, pairwise ones by dataset (they prepare once)."""
    tasks: list[tuple[str, list[str]]] = []
    for identity in measures:
        if get_measure(identity).kind == "single":
            ids = frame["id"].to_list()
            tasks += [(identity, ids[k::workers]) for k in range(min(workers, len(ids)))]
        else:
            parts = frame.partition_by("dataset", maintain_order=True)
            tasks += [(identity, part["id"].to_list()) for part in parts]
    return tasks


def _sweep_in_processes(
    store: Store, tasks: list[tuple[str, list[str]]], workers: int, report: Report | None
) -> pl.DataFrame:
    # Spawned, not forked: torch and CUDA do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=limit_threads, initargs=(1,)) as pool:
        running = [pool.submit(_sweep_ids, store.path, store.read_only, [m], ids) for m, ids in tasks]
        for number, _ in enumerate(as_completed(running)):
            if report is not None:
                report((number + 1) / len(running), f"{number + 1} of {len(running)} tasks")
        return pl.concat([future.result() for future in running])


def _part_of(report: Report | None, number: int, count: int, name: str) -> Report:
    def inner(share: float, note: str) -> None:
        if report is not None:
            report((number + share) / count, f"{name}: {note}")

    return inner


def _pairs(
    by_id: dict[str, Representation], pairs: Sequence[tuple[str, str]] | None
) -> list[tuple[Representation, Representation]]:
    if pairs is not None:
        return [(by_id[a], by_id[b]) for a, b in pairs]
    together = itertools.combinations_with_replacement(by_id.values(), 2)
    return [(a, b) for a, b in together if a.origin.dataset == b.origin.dataset]


def _base_row(measure: Measure, params: dict[str, Any], key: str, x: Representation) -> Row:
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


def _sweep_single(
    measure: Measure, params: dict[str, Any], xs: list[Representation], results: Results | None, report: Report
) -> list[Row]:
    assert measure.compute is not None
    keys = {x.id: result_key(measure.id, params, x.id, content_mark(x)) for x in xs}
    known = results.known(keys.values()) if results is not None else {}
    rows, fresh = [], []
    for number, x in enumerate(xs):
        row = known.get(keys[x.id])
        if row is None:
            row = _base_row(measure, params, keys[x.id], x)
            started = time.perf_counter()
            try:
                found = measure.compute(matrix_of(x, x.name, measure.min_items), **params)
                row |= {"value": found.value, "note": "; ".join(found.notes)}
            except ExplorerError as reason:
                row |= {"value": float("nan"), "note": str(reason)}
            row["seconds"] = time.perf_counter() - started
            fresh.append(row)
        rows.append(row)
        report((number + 1) / len(xs), f"{number + 1} of {len(xs)} representations")
    if results is not None:
        results.add(fresh)
    return rows


def _sweep_pairs(
    measure: Measure,
    params: dict[str, Any],
    pairs: list[tuple[Representation, Representation]],
    results: Results | None,
    report: Report,
) -> list[Row]:
    keys = [result_key(measure.id, params, x.id, content_mark(x), y.id, content_mark(y)) for x, y in pairs]
    known = results.known(keys) if results is not None else {}
    missing = [(key, x, y) for key, (x, y) in zip(keys, pairs) if key not in known]
    started = time.perf_counter()
    values = pair_values(measure, params, [(x, y) for _, x, y in missing], report)
    seconds = (time.perf_counter() - started) / max(1, len(missing))
    fresh = {}
    for (key, x, y), (value, note) in zip(missing, values):
        row = _base_row(measure, params, key, x)
        row |= {
            "y_id": y.id,
            "y_model": y.origin.model,
            "y_layer": y.origin.layer,
            "y_layer_index": y.origin.layer_index,
            "y_depth": y.origin.depth,
            "y_features": y.values.shape[1],
            "value": value,
            "note": note,
            "seconds": seconds,
        }
        fresh[key] = row
    if results is not None:
        results.add(list(fresh.values()))
    return [known.get(key) or fresh[key] for key in keys]


def pair_values(
    measure: Measure, params: dict[str, Any], pairs: list[tuple[Representation, Representation]], report: Report
) -> list[tuple[float, str]]:
    """Prepare every representation once, then compare; (value, reason where it is NaN) for each pair."""
    assert measure.prepare is not None
    different = {r.id: r for pair in pairs for r in pair}
    states: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for number, (identity, r) in enumerate(different.items()):
        try:
            states[identity] = measure.prepare(matrix_of(r, r.name, measure.min_items), **params)
        except ExplorerError as reason:
            reasons[identity] = f"{r.name}: {reason}"
        report(0.5 * (number + 1) / len(different), f"prepared {number + 1} of {len(different)} representations")
    found: dict[tuple[str, str], tuple[float, str]] = {}
    rows = BLOCK_ROWS if measure.compare_matrix is not None else 1
    blocks = _blocks([(x.id, y.id) for x, y in pairs if x.id in states and y.id in states], rows)
    for number, (firsts, partners) in enumerate(blocks):
        found |= _compare_block(measure, params, states, firsts, partners)
        report(0.5 + 0.5 * (number + 1) / len(blocks), f"compared {number + 1} of {len(blocks)} groups of layers")
    unknown = "undefined for this pair"
    return [
        found.get((x.id, y.id), (float("nan"), reasons.get(x.id) or reasons.get(y.id) or unknown)) for x, y in pairs
    ]


def _blocks(pairs: list[tuple[str, str]], rows: int) -> list[tuple[list[str], list[str]]]:
    """Cover the pairs by rectangles of some rows each; cells that nobody asked for ride along."""
    partners: dict[str, list[str]] = {}
    for first, second in pairs:
        partners.setdefault(first, []).append(second)
    firsts = list(partners)
    groups = [firsts[i : i + rows] for i in range(0, len(firsts), rows)]
    return [(group, list(dict.fromkeys(j for i in group for j in partners[i]))) for group in groups]


def _compare_block(
    measure: Measure, params: dict[str, Any], states: dict[str, Any], firsts: list[str], partners: list[str]
) -> dict[tuple[str, str], tuple[float, str]]:
    """One call for a rectangle; where the measure refuses it, pair by pair, so that only the culprit is lost."""
    try:
        matrix = measure.matrix([states[i] for i in firsts], [states[i] for i in partners], **params)
    except Undefined as reason:
        if len(firsts) == len(partners) == 1:
            return {(firsts[0], partners[0]): (float("nan"), str(reason))}
        pairs = [([i], [j]) for i in firsts for j in partners]
        return {key: cell for a, b in pairs for key, cell in _compare_block(measure, params, states, a, b).items()}
    return {(i, j): (float(v), "") for i, row in zip(firsts, matrix.tolist()) for j, v in zip(partners, row)}


def content_mark(x: Representation) -> str:
    """A cheap mark of the content, so that a representation that was written anew is computed anew.

    Sums over all rows would read the whole file; eight spread rows tell a rewritten file from the old one.
    """
    rows = np.unique(np.linspace(0, len(x.values) - 1, 8).astype(int))
    return short_hash(np.ascontiguousarray(x.values[rows]).tobytes(), str(x.values.shape))
