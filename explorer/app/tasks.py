"""What runs in the worker processes: small arguments in, small arrays out; data come from the stores."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from explorer.app.jobs import Report
from explorer.representation import Representation
from explorer.results import Results, result_key
from explorer.store import Store

PERMUTATIONS = 200


def warm_up(report: Report, lane: str) -> None:
    """Import what this lane's jobs need."""
    if lane == "layout":
        from explorer.projection import umap

        # umap-learn compiles on first use; a small layout now spares the first person that wait.
        umap(np.random.default_rng(0).normal(size=(60, 5)))
    else:
        import explorer.api
        import explorer.sweep  # noqa: F401


def pause(report: Report, seconds: float) -> float:
    """Wait, reporting; used to test that the app stays responsive."""
    started = time.time()
    while time.time() - started < seconds:
        report((time.time() - started) / seconds, "waiting")
        time.sleep(0.05)
    return seconds


def load(stores: list[str], identity: str) -> Representation:
    """Load a representation from whichever store holds it."""
    for path in stores:
        store = Store(path)
        if identity in set(store.representations(skip_damaged=True)["id"].to_list()):
            return store.load(identity)
    raise LookupError(f"representation {identity} is in none of the stores")


def layout(report: Report, stores: list[str], results: str, identity: str, seed: int) -> np.ndarray:
    """UMAP coordinates, kept beside the results."""
    from explorer.projection import umap
    from explorer.sweep import content_mark

    r = load(stores, identity)
    kept = Results(Path(results))
    key = result_key("layout-umap", {"seed": seed}, r.id, content_mark(r))
    arrays = kept.load_arrays(key)
    if arrays is None:
        report(0.1, "UMAP is laying out the items")
        arrays = {"points": umap(r.matrix, seed).points}
        kept.save_arrays(key, arrays)
    return arrays["points"]


def alignment(
    report: Report, stores: list[str], xs: list[str], ys: list[str], measure: str, params: dict, calibrated: bool
) -> dict[str, Any]:
    """A layer-by-layer matrix of two lists of representations, with its null where asked for."""
    from explorer.api import similarity_matrix
    from explorer.calibration import calibrate

    report(0.02, "reading representations")
    x = [load(stores, i) for i in xs]
    y = x if ys == xs else [load(stores, i) for i in ys]
    if not calibrated:
        return {"matrix": similarity_matrix(measure, x, y, **params)}
    found = calibrate(measure, x, y, permutations=PERMUTATIONS, report=report, **params)
    names = ("matrix", "null_mean", "null_sd", "corrected", "z", "cell_p", "p_value", "threshold", "score", "statistic")
    return {name: getattr(found, name) for name in names} | {"permutations": found.permutations, "seed": found.seed}


def profile(report: Report, stores: list[str], results: str, identities: list[str], measures: list[str]) -> Any:
    """Single measures over many representations, as rows of the results table."""
    from explorer.sweep import sweep

    loaded = [load(stores, i) for i in identities]
    return sweep(loaded, measures, Results(Path(results)), report=report)


def single(
    report: Report, stores: list[str], identity: str, items: list[int] | None, measure: str, params: dict
) -> dict[str, Any]:
    """One measure of one representation, on all items or on some."""
    import explorer

    report(0.05, "reading the representation")
    r = load(stores, identity)
    values = r.matrix if items is None else r.matrix[np.asarray(items)]
    report(0.1, f"{len(values)} items, {values.shape[1]} features")
    found = explorer.compute(measure, values, **params)
    return {
        "value": found.value,
        "items": found.items,
        "edges": found.edges,
        "diagrams": found.diagrams,
        "details": dict(found.details),
        "notes": list(found.notes),
    }


def extraction(
    report: Report, store: str, model: str, dataset: str, layers: str, pooling: str | None, batch_size: int
) -> dict[str, Any]:
    """Run a model over a dataset into a store."""
    from explorer.datasets.saved import find_dataset
    from explorer.extraction import extract
    from explorer.models import load_model

    report(0.0, f"loading {model}")
    done = extract(
        load_model(model), find_dataset(dataset, Path(store)), Store(store), layers, pooling, batch_size, report=report
    )
    return {"layers": len(done.layers), "rate": done.items_per_second, "seconds": done.seconds, "note": done.note}
