"""Measures x representations -> rows of the results table, computing only what is not there yet."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import polars as pl

from explorer.api import matrix_of
from explorer.device import limit_threads
from explorer.errors import ExplorerError
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, get_measure
from explorer.representation import Representation
from explorer.results import SCHEMA, Results, result_key
from explorer.store import Store
from explorer.sweep_single import Report, Row, base_row, content_mark, sweep_single

# A sweep runs over many layers unattended, so it keeps to sizes that end; the row's params say what was used.
SWEEP_PARAMS: dict[str, dict[str, Any]] = {"persistence": {"max_points": 500}}

# So many layers at once share one pass over the items; more would make the progress bar jump.
BLOCK_ROWS = 8


def sweep(
    representations: Sequence[Representation],
    measures: Sequence[str],
    results: Results | None = None,
    params: dict[str, dict[str, Any]] | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    report: Report | None = None,
    inputs: dict[str, Any] | None = None,
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
    inputs : dict, optional
        What single measures need beside a representation (``labels``, ...), for the items that all of them share.
    """
    tasks: list[tuple[Measure, dict[str, Any]]] = []
    for identity in measures:
        measure = get_measure(identity)
        if measure.kind not in ("single", "pairwise"):
            raise ExplorerError(f"{identity} takes layers together, not one by one or in pairs: use explorer.compute.")
        tasks.append((measure, measure.resolve(SWEEP_PARAMS.get(identity, {}) | (params or {}).get(identity, {}))))
    by_id = {r.id: r for r in representations}
    single = [task for task in tasks if task[0].kind == "single"]
    pairwise = [task for task in tasks if task[0].kind == "pairwise"]
    parts = len(pairwise) + (1 if single else 0)
    rows = sweep_single(single, list(by_id.values()), results, _part_of(report, 0, parts, ""), inputs)
    chosen = _pairs(by_id, pairs) if pairwise else []
    for number, (measure, resolved) in enumerate(pairwise, start=parts - len(pairwise)):
        rows += _sweep_pairs(measure, resolved, chosen, results, _part_of(report, number, parts, f"{measure.id}: "))
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


def _shares(frame: pl.DataFrame, measures: Sequence[str], workers: int) -> list[tuple[list[str], list[str]]]:
    """(measures, ids) tasks: single measures share their work and are cut into shares of ids, pairwise ones by dataset (they prepare once)."""
    ids = frame["id"].to_list()
    single = [m for m in measures if get_measure(m).kind == "single"]
    tasks = [(single, ids[k::workers]) for k in range(min(workers, len(ids)))] if single else []
    parts = frame.partition_by("dataset", maintain_order=True)
    return tasks + [([m], part["id"].to_list()) for m in measures if m not in single for part in parts]


def _sweep_in_processes(
    store: Store, tasks: list[tuple[list[str], list[str]]], workers: int, report: Report | None
) -> pl.DataFrame:
    # Spawned, not forked: torch and CUDA do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=limit_threads, initargs=(1,)) as pool:
        running = [pool.submit(_sweep_ids, store.path, store.read_only, some, ids) for some, ids in tasks]
        for number, _ in enumerate(as_completed(running)):
            if report is not None:
                report((number + 1) / len(running), f"{number + 1} of {len(running)} tasks")
        return pl.concat([future.result() for future in running])


def _part_of(report: Report | None, number: int, count: int, name: str) -> Report:
    def inner(share: float, note: str) -> None:
        if report is not None:
            report((number + share) / count, f"{name}{note}")

    return inner


def _pairs(
    by_id: dict[str, Representation], pairs: Sequence[tuple[str, str]] | None
) -> list[tuple[Representation, Representation]]:
    if pairs is not None:
        return [(by_id[a], by_id[b]) for a, b in pairs]
    together = itertools.combinations_with_replacement(by_id.values(), 2)
    return [(a, b) for a, b in together if a.origin.dataset == b.origin.dataset]


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
        row = base_row(measure, params, key, x)
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
