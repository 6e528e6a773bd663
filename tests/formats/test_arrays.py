"""Importing activations: recognised by content, refused in a sentence, never unpickled."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from explorer.errors import ExplorerError
from explorer.formats import read_activations
from explorer.store import Store

RNG = np.random.default_rng(0)


def test_npy_of_one_layer_and_of_several(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", RNG.standard_normal((6, 4)).astype(">f4"))
    np.save(tmp_path / "many.npy", np.asfortranarray(RNG.standard_normal((3, 6, 4))))
    one, many = read_activations(tmp_path / "one.npy"), read_activations(tmp_path / "many.npy")
    assert one.n_items == 6 and list(one.layers) == ["layer"]
    assert list(many.layers) == ["layer0", "layer1", "layer2"]
    assert many.layers["layer1"].shape == (6, 4)


def test_npz_keeps_keys_flattens_maps_and_says_what_it_left(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz", conv=np.ones((5, 2, 3, 3)), fc=np.ones((5, 4)), names=np.array(["x"] * 5), y=np.arange(5)
    )
    found = read_activations(tmp_path / "a.npz")
    assert {k: v.shape for k, v in found.layers.items()} == {"conv": (5, 18), "fc": (5, 4)}
    assert len(found.skipped) == 2


def test_safetensors_with_bfloat16(tmp_path: Path) -> None:
    save_file({"l": torch.ones(4, 3, dtype=torch.bfloat16)}, tmp_path / "a.safetensors")
    assert read_activations(tmp_path / "a.safetensors").layers["l"].dtype == np.float32


def test_the_name_does_not_decide(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.ones((4, 2)))
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    assert list(read_activations(tmp_path / "x.npy").layers) == ["a"]


def bytes_of(save, *values, **named) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *values, **named)
    return buffer.getvalue()


BAD = {
    "text": (b"hello, I am text", "neither .npy, .npz nor .safetensors"),
    "empty": (b"", "neither"),
    "objects": (
        bytes_of(lambda b, v: np.save(b, v, allow_pickle=True), np.array([{}, []], dtype=object)),
        "pickled objects",
    ),
    "truncated": (bytes_of(np.save, np.ones((9, 9)))[:-50], "damaged"),
    "nan": (bytes_of(np.save, np.array([[1.0, 2.0], [3.0, np.nan]])), "nan at item 1, feature 1"),
    "vector": (bytes_of(np.save, np.ones(5)), "no matrix of numbers"),
    "strings": (bytes_of(np.save, np.array([["a", "b"]])), "no matrix of numbers"),
    "uneven": (bytes_of(np.savez, a=np.ones((4, 2)), b=np.ones((5, 2))), "different numbers of items"),
    "no items": (bytes_of(np.save, np.empty((0, 4))), "is empty"),
    "broken zip": (b"PK\x03\x04 and then nonsense", "damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, words = BAD[name]
    (tmp_path / "bad.npy").write_bytes(content)
    with pytest.raises(ExplorerError, match=words) as caught:
        read_activations(tmp_path / "bad.npy")
    assert "bad.npy" in str(caught.value)


def test_an_absurd_shape_in_the_header(tmp_path: Path) -> None:
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000), }"
    head += b" " * (118 - len(head)) + b"\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + b"\0" * 64)
    with pytest.raises(ExplorerError, match="damaged"):
        read_activations(tmp_path / "a.npy")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.formats.arrays.MAX_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\0" * (4 << 20))
    with pytest.raises(ExplorerError, match="unpacks to 4 MiB; at most 1 MiB"):
        read_activations(tmp_path / "bomb.npz")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutilated_files_never_make_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    good = data.draw(
        st.sampled_from([bytes_of(np.save, np.ones((4, 3))), bytes_of(np.savez, a=np.ones((4, 3)), b=np.ones((4, 2)))])
    )
    content = bytearray(good)
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "fuzz.npy"
    path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    try:
        found = read_activations(path)
    except ExplorerError as error:
        assert "fuzz.npy" in str(error)
    else:
        assert all(np.isfinite(v).all() for v in found.layers.values())


def test_imported_layers_join_a_dataset(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", RNG.standard_normal((6, 4)))
    store = Store(tmp_path / "s")
    read_activations(tmp_path / "mine.npy").save(store, "abc123", "toys")
    assert store.representations().select("dataset", "dataset_name", "model").row(0) == ("abc123", "toys", "mine")
