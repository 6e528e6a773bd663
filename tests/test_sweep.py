"""Sweeps: rows, nothing twice, failures as notes; results table; layouts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.errors import ExplorerError
from explorer.projection import aligned, pca, project, umap
from explorer.representation import Origin, Representation
from explorer.results import Results
from explorer.store import Store
from explorer.sweep import sweep, sweep_store

RNG = np.random.default_rng(0)


def representation(layer: str, values: np.ndarray, dataset: str = "d0") -> Representation:
    return Representation(values, Origin(dataset, dataset, "m", "r", layer, int(layer), 4, "mean"))


def three() -> list[Representation]:
    return [representation(str(i), RNG.standard_normal((40, 3 + i)).astype(np.float32)) for i in range(3)]


def test_rows_equal_single_calls(tmp_path: Path) -> None:
    layers = three()
    frame = sweep(layers, ["cka", "twonn"], Results(tmp_path), params={"cka": {"estimator": "biased"}})
    assert frame.height == 6 + 3
    for row in frame.iter_rows(named=True):
        x = next(r for r in layers if r.id == row["x_id"])
        y = next((r for r in layers if r.id == row["y_id"]), None)
        direct = explorer.compute("twonn", x) if y is None else explorer.compute("cka", x, y, estimator="biased")
        assert row["value"] == pytest.approx(direct.value, abs=1e-6)
    assert frame["n_items"].unique().to_list() == [40]


@pytest.mark.parametrize("measure", ["cka", "mutual_knn", "procrustes"])
def test_a_sweep_over_many_layers_is_the_matrix(measure: str) -> None:
    layers = [representation(str(i), RNG.standard_normal((30, 4 + i))) for i in range(11)]
    frame = sweep(layers, [measure])
    matrix = explorer.similarity_matrix(measure, [r.values for r in layers])
    assert frame.height == 66
    place = {r.id: i for i, r in enumerate(layers)}
    for row in frame.iter_rows(named=True):
        assert row["value"] == pytest.approx(matrix[place[row["x_id"]], place[row["y_id"]]], abs=1e-9)


def test_nothing_is_computed_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers, results = three(), Results(tmp_path)
    first = sweep(layers, ["cka", "mle"], results)
    import explorer.sweep as module
    import explorer.sweep_single as single

    for place in (module, single):
        monkeypatch.setattr(place, "matrix_of", lambda *_: pytest.fail("computed again"))
    again = sweep(layers, ["cka", "mle"], results)
    assert again.select("key", "value").rows() == first.select("key", "value").rows()


def test_neighbours_are_searched_once_for_all_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer import neighbors

    asked: list[int] = []
    search = neighbors._search
    monkeypatch.setattr(neighbors, "_search", lambda x, k, metric: asked.append(k) or search(x, k, metric))
    layers = three()
    measures = ["twonn", "mle", "gride", "correlation_dimension", "lpca"]
    frame = sweep(layers, measures, params={"gride": {"scale": 8}, "mle": {"k": 5}, "lpca": {"k": 12}})
    assert asked == [20, 20, 20]
    for row in frame.iter_rows(named=True):
        x = next(r for r in layers if r.id == row["x_id"])
        assert row["value"] == explorer.compute(row["measure"], x, **json.loads(row["params"])).value


def test_labels_travel_with_a_sweep(tmp_path: Path) -> None:
    layers, results = three(), Results(tmp_path)
    labels = ["a", "b"] * 20
    frame = sweep(layers, ["class_separability"], results, inputs={"labels": labels})
    direct = [explorer.compute("class_separability", x, labels=labels).value for x in layers]
    assert frame["value"].to_list() == pytest.approx(direct)
    other = sweep(layers, ["class_separability"], results, inputs={"labels": labels[::-1][:20] + labels[:20]})
    assert other["value"].to_list() != frame["value"].to_list()
    without = sweep(layers, ["class_separability"])
    assert without["value"].is_nan().all() and "needs labels" in without["note"][0]


def test_measures_of_layers_together_are_refused() -> None:
    with pytest.raises(ExplorerError, match="takes layers together"):
        sweep(three(), ["layer_velocity"])


def test_other_content_is_computed_anew(tmp_path: Path) -> None:
    results = Results(tmp_path)
    a = sweep([representation("0", np.eye(30)[:, :9] + RNG.random((30, 9)))], ["twonn"], results)
    b = sweep([representation("0", RNG.standard_normal((30, 9)))], ["twonn"], results)
    assert a["value"][0] != b["value"][0]


def test_a_failing_layer_does_not_stop_the_others(tmp_path: Path) -> None:
    good, bad = RNG.standard_normal((40, 4)), np.ones((40, 4))
    frame = sweep([representation("0", good), representation("1", bad)], ["cka", "twonn"], Results(tmp_path))
    assert frame["value"].is_nan().sum() == 3
    assert all(len(note) > 20 for note in frame.filter(frame["value"].is_nan())["note"])
    assert "m / 1" in frame.filter((frame["measure"] == "cka") & frame["value"].is_nan())["note"][0]


def test_only_representations_of_the_same_items_are_paired() -> None:
    a = representation("0", RNG.standard_normal((20, 3)))
    b = representation("1", RNG.standard_normal((20, 3)), "other")
    assert sweep([a, b], ["cka"]).height == 2


def test_two_processes_give_what_one_gives(tmp_path: Path) -> None:
    about = {"dataset": "d0", "dataset_name": "toys", "model": "m", "revision": "r", "pooling": "mean"}
    layers = {str(i): RNG.standard_normal((40, 3 + i)) for i in range(5)}
    tables = []
    for workers in (1, 2):
        store = Store(tmp_path / str(workers))
        store.save(layers, **about)
        table = sweep_store(store, ["twonn", "cka"], workers=workers)
        tables.append(table.sort("key").select("key", "value").rows())
        assert Results(store.path / "results").table().height == table.height == 5 + 15
    assert tables[0] == tables[1]
    with pytest.raises(ExplorerError, match="workers = 0"):
        sweep_store(store, ["twonn"], workers=0)


def test_an_unknown_measure() -> None:
    with pytest.raises(ExplorerError, match="no measure 'nope'; `repgeo measures`"):
        sweep(three(), ["nope"])
    with pytest.raises(ExplorerError, match=r"no measure 'mutualknn'; did you mean mutual_knn"):
        sweep(three(), ["mutualknn"])


def test_arrays_beside_the_table(tmp_path: Path) -> None:
    results = Results(tmp_path)
    assert results.load_arrays("k") is None
    results.save_arrays("k", {"a": np.arange(3)})
    found = results.load_arrays("k")
    assert found is not None and found["a"].tolist() == [0, 1, 2]
    (tmp_path / "arrays" / "k.npz").write_bytes(b"PK\x03\x04nonsense")
    with pytest.raises(ExplorerError, match="damaged"):
        results.load_arrays("k")


def test_pca_is_that_of_the_svd_on_both_sides() -> None:
    for n, d in ((50, 5), (12, 40)):
        x = RNG.standard_normal((n, d))
        found = pca(x)
        left, s, _ = np.linalg.svd(x - x.mean(0), full_matrices=False)
        assert np.abs(found.points) == pytest.approx(np.abs(left[:, :2] * s[:2]), abs=1e-5)
        assert sum(found.variance) == pytest.approx((s[:2] ** 2).sum() / (s**2).sum())
    assert pca(np.arange(5.0)[:, None]).points[:, 1].tolist() == [0] * 5


def test_aligned_layouts_only_turn() -> None:
    x = RNG.standard_normal((30, 2))
    angle = 1.1
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert aligned(x @ turn, x) - aligned(x @ turn, x).mean(0) == pytest.approx(x - x.mean(0), abs=1e-5)
    other = RNG.standard_normal((30, 2))
    moved = aligned(other, x)
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(np.linalg.norm(other[0] - other[1]), abs=1e-5)


def test_umap_is_reproducible_and_keeps_clusters() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 0.1, (25, 4)), rng.normal(6, 0.1, (25, 4))])
    first, again = umap(x, seed=1).points, umap(x, seed=1).points
    assert (first == again).all()
    gap = np.linalg.norm(first[:25].mean(0) - first[25:].mean(0))
    assert gap > 4 * max(first[:25].std(axis=0).max(), first[25:].std(axis=0).max())


def test_projection_refusals() -> None:
    with pytest.raises(ExplorerError, match="no projection 'tsne'"):
        project(np.eye(4), "tsne")
    with pytest.raises(ExplorerError, match="at least four items"):
        umap(np.eye(3))
