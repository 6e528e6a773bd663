"""The activation store: what is written is read, and nothing half-written or foreign is believed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import explorer
from explorer.errors import ExplorerError
from explorer.representation import require_same_items
from explorer.store import Store, read_header

ABOUT = {
    "dataset": "feed00",
    "dataset_name": "toys",
    "model": "org/model v1",
    "revision": "r1",
    "pooling": "mean",
}


def layers(n: int = 7) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"b": rng.standard_normal((n, 3)), "a": rng.standard_normal((n, 5))}


def test_round_trip_keeps_values_order_and_origin(tmp_path: Path) -> None:
    store = explorer.Store(tmp_path / "s")
    store.save(layers(), **ABOUT)
    frame = store.representations()
    assert frame["layer"].to_list() == ["b", "a"]
    assert frame["depth"].to_list() == [0.0, 1.0]
    assert frame["n_features"].to_list() == [3, 5]
    r = store.load(model="org/model v1", layer="a")
    assert r.matrix == pytest.approx(layers()["a"].astype(np.float32))
    assert store.load(r.id).origin == r.origin
    assert r.name == "org/model v1 / a"


def test_layer_order_of_the_model_is_kept_when_some_are_stored(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(layers(), **ABOUT, layer_order=["a", "x", "b"])
    assert store.representations().select("layer", "layer_index", "depth").rows() == [("a", 0, 0.0), ("b", 2, 1.0)]


def test_listing_follows_changes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.representations().height == 0
    store.save(layers(), **ABOUT)
    assert store.representations().height == 2
    store.save(layers(), **ABOUT | {"pooling": "last"})
    assert store.representations().height == 4


@pytest.mark.parametrize(
    ("wanted", "words"),
    [({"layer": "z"}, "holds nothing that fits layer z"), ({"model": "org/model v1"}, "holds 2 representations")],
)
def test_load_says_what_is_missing(tmp_path: Path, wanted: dict, words: str) -> None:
    store = Store(tmp_path)
    store.save(layers(), **ABOUT)
    with pytest.raises(ExplorerError, match=words):
        store.load(**wanted)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"a": np.array([[1.0, np.nan]])}, "nan at item 0, feature 1"),
        ({"a": np.ones(3)}, "shape"),
        ({"a": np.ones((2, 2)), "b": np.ones((3, 2))}, "different numbers of items"),
        ({}, "no layers"),
        ({"a": np.array([["x"]])}, "real numbers"),
    ],
)
def test_bad_layers_leave_the_store_as_it_was(tmp_path: Path, bad: dict, words: str) -> None:
    store = Store(tmp_path)
    store.save(layers(), **ABOUT)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(ExplorerError, match=words):
        store.save(bad, **ABOUT)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_overflow_into_half_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="does not fit into float16"):
        Store(tmp_path).save({"a": np.full((2, 2), 1e6)}, **ABOUT, dtype="float16")


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    file = store.save(layers(), **ABOUT)
    before = file.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("safetensors.numpy.save_file", fail)
    with pytest.raises(OSError, match="No space"):
        store.save({"a": np.zeros((7, 2))}, **ABOUT)
    assert file.read_bytes() == before
    assert list(tmp_path.rglob("*.partial")) == []


def test_foreign_and_damaged_files(tmp_path: Path) -> None:
    folder = tmp_path / "representations" / "x"
    folder.mkdir(parents=True)
    save_file({"a": np.ones((2, 2))}, folder / "foreign.safetensors")
    with pytest.raises(ExplorerError, match="was not written by this project"):
        Store(tmp_path).representations()
    (folder / "foreign.safetensors").write_bytes(b"\xff" * 40)
    with pytest.raises(ExplorerError, match="not a safetensors file"):
        Store(tmp_path).representations()
    store = Store(tmp_path)
    store.save(layers(), **ABOUT)
    assert store.representations(skip_damaged=True).height == 2
    assert "foreign.safetensors is not a safetensors file" in store.problems[0]
    assert store.load(layer="a", model=ABOUT["model"]).values.shape == (7, 5)
    with pytest.raises(ExplorerError, match="impossible length"):
        read_header(folder / "foreign.safetensors")


def test_read_only_and_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="read only"):
        Store(tmp_path, read_only=True).save(layers(), **ABOUT)
    (tmp_path / "f").write_text("x")
    with pytest.raises(ExplorerError, match="is a file; a store is a folder"):
        Store(tmp_path / "f")


def test_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    store = Store(tmp_path / "s")
    names = {"dataset_name": "../../up", "model": "../../../etc/x", "pooling": "/abs"}
    file = store.save(layers(), **ABOUT | names)
    assert file.resolve().is_relative_to((tmp_path / "s").resolve())
    assert store.representations()["model"].unique().to_list() == ["../../../etc/x"]


def test_only_the_same_items_are_compared(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(layers(), **ABOUT)
    store.save(layers(), **ABOUT | {"dataset": "beef00", "dataset_name": "others"})
    a, b = (store.load(layer="a", dataset=d) for d in ("toys", "others"))
    with pytest.raises(ExplorerError, match="dataset toys and .* on others"):
        require_same_items(a, b)
    with pytest.raises(ExplorerError, match="same items in the same order"):
        explorer.compute("cka", a, b)
    assert explorer.compute("cka", a, a).value == pytest.approx(1)


def test_the_bundled_store_lists_and_loads() -> None:
    from explorer.paths import data_folder

    store = Store(data_folder() / "store", read_only=True)
    frame = store.representations()
    assert set(frame["dataset_name"]) == {"words", "emoji", "rotated-car"}
    assert frame.filter((frame["dataset_name"] == "words") & (frame["model"] == "smollm2")).height == 31
    assert set(frame["dtype"]) == {"F16"}
    for identity in frame["id"].to_list()[::9]:
        assert np.isfinite(store.load(identity).matrix).all()
