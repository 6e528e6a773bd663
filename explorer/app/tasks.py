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
    report: Report,
    stores: list[str],
    xs: list[str],
    ys: list[str],
    measure: str,
    params: dict,
    permutations: int = 0,
    groups: list[int] | None = None,
) -> dict[str, Any]:
    """A layer-by-layer matrix of two lists of representations, with its null where permutations are asked for."""
    from explorer.api import similarity_matrix
    from explorer.calibration import calibrate

    report(0.02, "reading representations")
    x = [load(stores, i) for i in xs]
    y = x if ys == xs else [load(stores, i) for i in ys]
    if not permutations:
        return {"matrix": similarity_matrix(measure, x, y, **params)}
    found = calibrate(measure, x, y, permutations=permutations, groups=groups, report=report, **params)
    return _calibration(found)


def _calibration(found: Any) -> dict[str, Any]:
    from dataclasses import fields

    return {field.name: getattr(found, field.name) for field in fields(found)}


def interval(report: Report, stores: list[str], xs: list[str], ys: list[str], measure: str, params: dict) -> Any:
    """The interval of one pair over items."""
    from explorer.resampling import interval as run

    return run(measure, load(stores, xs[0]), load(stores, ys[0]), report=report, **params)


def gallery(
    report: Report, stores: list[str], xs: list[str], ys: list[str], measure: str, params: dict, growing: bool
) -> dict[str, list]:
    """One pair against the number of items; k is a fixed number, or the share that it is of all items."""
    from explorer.resampling import gallery_curve

    x, y = load(stores, xs[0]), load(stores, ys[0])
    share = params["k"] / len(x.values) if growing else None
    return gallery_curve(measure, x, y, k_share=share, report=report, **params).to_dict(as_series=False)


def health(report: Report, stores: list[str], identities: list[str]) -> list[list[Any]]:
    """The findings of every layer."""
    from explorer.health import examine

    found = []
    for done, identity in enumerate(identities, start=1):
        found.append(examine(load(stores, identity)))
        report(done / len(identities), f"layer {done} of {len(identities)}")
    return found


def agreement(
    report: Report, stores: list[str], xs: list[str], ys: list[str], measure: str, params: dict, k: int
) -> dict[str, Any]:
    """How well two representations agree on each item, and each item's neighbours in both."""
    import explorer
    from explorer.api import matrix_of
    from explorer.neighbors import nearest

    x, y = load(stores, xs[0]), load(stores, ys[0])
    report(0.2, f"{len(x.values)} items")
    found = explorer.compute(measure, x, y, **params)
    metric = params.get("metric", "cosine")
    lists = [nearest(matrix_of(r, "X", 3), k, metric).index.cpu().numpy() for r in (x, y)]
    return {"value": found.value, "items": found.items, "notes": list(found.notes), "neighbours": lists}


def maps(report: Report, stores: list[str], xs: list[str], ys: list[str], share: float) -> list[dict[str, Any]]:
    """Every map from one representation to another, judged on held-out items."""
    import explorer
    from explorer.measures.registry import registry

    x, y = load(stores, xs[0]), load(stores, ys[0])
    known = [m for m in registry().values() if m.fit is not None]
    rows = []
    for done, measure in enumerate(known, start=1):
        report((done - 1) / len(known), measure.name)
        found = explorer.compute(measure.id, x, y, share=share)
        rows.append({"id": measure.id, "name": measure.name, "notes": list(found.notes)} | dict(found.details))
    return rows


def universe(report: Report, stores: list[str], identities: list[str], measure: str, share: float) -> dict[str, Any]:
    """Three representations or more in one space: retrieval between all, and where the items lie (two axes)."""
    import explorer
    from explorer.projection import pca

    layers = [load(stores, i) for i in identities]
    report(0.2, f"aligning {len(layers)} representations")
    found = explorer.compute(measure, layers, share=share)
    placed = np.asarray(found.details["universe"])
    # One pair of axes for all models together, so that their views can be compared.
    points = np.split(pca(np.concatenate(placed)).points, len(placed))
    tables = {name: found.details[name] for name in ("top1", "top5", "mrr")}
    kept = {name: found.details.get(name) for name in ("objective", "residuals", "distance_change", "gpa_mrr")}
    return {"value": found.value, "points": list(points), **tables, **kept}


def rdm_views(
    report: Report, stores: list[str], xs: list[str], distance: str, items: list[int], clustered: bool
) -> dict[str, Any]:
    """RDMs of representations on some items, as ranks and plain, and an order in which clusters of the first stand together."""
    from explorer.rdms import clustered_order, layer_rdm, ranked_rdm

    plain = []
    for done, identity in enumerate(xs, start=1):
        r = load(stores, identity)
        plain.append(layer_rdm(np.asarray(r.matrix)[np.asarray(items)], distance))
        report(done / (len(xs) + 1), r.name)
    order = clustered_order(plain[0]) if clustered else np.arange(len(items))
    ranks = [ranked_rdm(p) for p in plain]
    return {
        "plain": [p.astype(np.float32) for p in plain],
        "ranks": [r.astype(np.float32) for r in ranks],
        "order": order,
    }


def rdm_layers(
    report: Report,
    stores: list[str],
    xs: list[str],
    given: str,
    distance: str,
    comparison: str,
) -> dict[str, Any]:
    """Every layer against given RDMs (a file that the app keeps), with chance and, for several, the noise ceiling."""
    from explorer.rdms import compare_with_layers, noise_ceiling

    rdms = np.load(given, allow_pickle=False)
    found = compare_with_layers(rdms, [load(stores, i) for i in xs], distance, comparison, report=report)
    ceiling = noise_ceiling(rdms, comparison) if len(rdms) > 1 else None
    return _calibration(found) | {"ceiling": ceiling}


def verification(report: Report, measures: list[str] | None = None) -> Any:
    """Our values and those of public packages on the reference cases."""
    from explorer.verification import differences, verify

    return verify(measures, report), differences(measures)


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
