"""What runs in the worker processes: small arguments in, small arrays out; data come from the stores."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from explorer.app.jobs import Report
from explorer.files import short_hash
from explorer.representation import Representation
from explorer.results import Results, result_key
from explorer.store import Store

# Which curves over layers the trajectory measures give, and what they are called.
TRAJECTORIES: dict[str, dict[str, str]] = {
    "layer_velocity": {"steps": "Step from the layer before (shape distance, radians)"},
    "stabilisation": {"similarity": "Similarity to the last layer (debiased CKA)"},
    "homogenisation": {"mean_cosine": "Mean cosine between items (homogenisation)"},
    "trajectory_curvature": {"layers": "Turning angle of the items' paths (radians)"},
    "layer_update": {
        "linear_share": "Share of the update that is linear (held out)",
        "size": "Length of the update over that of the item",
        "angle": "Angle between update and item (radians)",
    },
}


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
    """Load a representation from whichever store holds it; "id~how" asks for it in another form."""
    from explorer.preprocess import preprocessed

    stored, _, how = identity.partition("~")
    for path in stores:
        store = Store(path)
        if stored in set(store.representations(skip_damaged=True)["id"].to_list()):
            return preprocessed(store.load(stored), how or "none")
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


DIMENSIONS = ("twonn", "mle", "gride", "correlation_dimension", "lpca")
LINEAR = ("participation_ratio", "effective_rank", "pca_dimension")


def shape(report: Report, stores: list[str], identity: str, items: list[int] | None) -> dict[str, Any]:
    """Dimensions (over scales), spectrum and outlier dimensions of one representation, from one search and one spectrum."""
    from explorer.api import matrix_of
    from explorer.errors import ExplorerError
    from explorer.measures.registry import get_measure
    from explorer.sharing import shared_work

    r = _on_items(load(stores, identity), items)
    x = matrix_of(r, r.name, 4)
    largest = max(1, min(128, (len(x) - 1) // 4))
    found: dict[str, Any] = {"n": len(x), "d": x.shape[1], "values": {}, "notes": []}
    wanted = ("gride", *DIMENSIONS, *LINEAR, "power_law_exponent", "outlier_dimensions", "mean_cosine")
    with shared_work():
        for done, name in enumerate(dict.fromkeys(wanted), start=1):
            measure = get_measure(name, "single")
            params = measure.resolve({"scale": largest} if name == "gride" else {})
            try:
                assert measure.compute is not None
                result = measure.compute(x, **params)
                found["values"][name] = result.value
                found[name] = dict(result.details)
                found["notes"] += result.notes
                if name in ("mle", "lpca"):
                    found[f"{name}_items"] = result.items
            except ExplorerError as reason:
                found["notes"].append(f"{measure.name}: {reason}")
            report(done / len(wanted), measure.name)
    found["notes"] = list(dict.fromkeys(found["notes"]))
    return found


def shape_by_items(report: Report, stores: list[str], identity: str, items: list[int] | None) -> Any:
    """Dimensions against the number of items."""
    from explorer.subsampling import subsample_curve

    r = _on_items(load(stores, identity), items)
    return subsample_curve(["twonn", "mle", "gride", "participation_ratio"], r, report=report)


def _on_items(r: Representation, items: list[int] | None) -> Representation:
    """A representation of some items only; its origin says so."""
    from dataclasses import replace

    if items is None:
        return r
    dataset = short_hash(r.origin.dataset, *map(str, items))
    return Representation(r.values[np.asarray(items)], replace(r.origin, dataset=dataset))


def profile(
    report: Report,
    stores: list[str],
    results: str,
    identities: list[str],
    measures: list[str],
    items: list[int] | None = None,
    labels: list[int] | None = None,
    draws: int = 0,
) -> Any:
    """Single measures over many representations, as rows of the results table; with half-widths of bands on request."""
    from explorer.sweep import SWEEP_PARAMS, sweep

    loaded = [_on_items(load(stores, i), items) for i in identities]
    inputs: dict[str, Any] = (
        {} if labels is None else {"labels": labels if items is None else [labels[i] for i in items]}
    )
    share = 0.2 if draws else 1.0
    rows = sweep(
        loaded, measures, Results(Path(results)), inputs=inputs, report=lambda done, note: report(share * done, note)
    )
    if not draws:
        return rows
    from explorer.api import matrix_of
    from explorer.measures.registry import get_measure
    from explorer.subsampling import bands

    tasks = [(m, m.resolve(SWEEP_PARAMS.get(m.id, {}))) for m in map(get_measure, measures)]
    widths = []
    for done, r in enumerate(loaded, start=1):
        widths.append(bands(tasks, matrix_of(r, r.name, 2), draws, inputs=inputs))
        report(share + (1 - share) * done / len(loaded), f"bands of {done} of {len(loaded)} representations")
    # Rows stand by measure, then by representation.
    return rows.with_columns(band=pl.Series(np.array(widths).T.ravel()))


def trajectories(report: Report, stores: list[str], models: dict[str, list[str]], items: list[int] | None) -> Any:
    """What happens between the layers of each model, as rows: measure, model, layer, depth, value."""
    import explorer
    from explorer.errors import ExplorerError

    rows, notes = [], []
    for done, (model, identities) in enumerate(models.items(), start=1):
        layers = [_on_items(load(stores, i), items) for i in identities]
        for measure, wanted in TRAJECTORIES.items():
            try:
                found = explorer.compute(measure, layers).details
            except ExplorerError as reason:
                notes.append(f"{model}, {measure}: {reason}")
                continue
            for name, label in wanted.items():
                values = np.asarray(found[name], dtype=float)
                # A step is shown at the layer that it leads to, an angle at the layer in its middle.
                first = {len(layers): 0, len(layers) - 1: 1, len(layers) - 2: 1}[len(values)]
                for i, value in enumerate(values, start=first):
                    o = layers[i].origin
                    rows.append(
                        (label, model, o.layer, o.layer_index, o.depth, layers[i].values.shape[1], float(value))
                    )
        report(done / len(models), f"{done} of {len(models)} models")
    columns = ["measure", "x_model", "x_layer", "x_layer_index", "x_depth", "x_features", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row"), notes


def checkpoints(
    report: Report, stores: list[str], layers: dict[str, list[tuple[float, str]]], identities: list[str]
) -> tuple[dict[str, tuple[list[float], list[float]]], dict[str, float]]:
    """Similarity of each checkpoint to the last, by layer; and the epoch from which on it stays close."""
    import explorer

    curves, settled = {}, {}
    for done, (layer, stages) in enumerate(layers.items(), start=1):
        if len(stages) > 1:
            found = explorer.compute("stabilisation", [load(stores, identity) for _, identity in stages]).details
            curves[layer] = ([epoch for epoch, _ in stages], found["similarity"].tolist())
            settled[layer] = stages[found["first"]][0]
        report(done / len(layers), f"{done} of {len(layers)} layers")
    return curves, settled


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
