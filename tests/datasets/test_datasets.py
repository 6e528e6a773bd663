"""Bundled sets and the user's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from explorer.datasets import BUNDLED, load_bundled, load_dataset
from explorer.datasets.bundled import bundled_fingerprints
from explorer.datasets.saved import find_dataset, save_dataset, saved_datasets
from explorer.errors import ExplorerError
from explorer.paths import data_folder


def test_bundled_sets_are_what_the_store_was_computed_on() -> None:
    from explorer.store import Store

    frame = Store(data_folder() / "store").representations()
    for name in ("words", "emoji", "rotated-car"):
        dataset = load_bundled(name)
        part = frame.filter(pl.col("dataset_name") == name)
        assert part["dataset"].unique().to_list() == [dataset.fingerprint]
        assert part["n_items"].unique().to_list() == [len(dataset)]


def test_listed_fingerprints_are_true() -> None:
    assert bundled_fingerprints() == {name: load_bundled(name).fingerprint for name in BUNDLED}


def test_bundled_data_stay_below_thirty_megabytes() -> None:
    assert sum(f.stat().st_size for f in data_folder().rglob("*") if f.is_file()) < 30e6


def test_words_have_closed_cycles() -> None:
    words = load_bundled("words")
    assert len(words) == len(set(words.texts or ()))
    months = words.metadata.filter((pl.col("cycle") == "months") & (pl.col("form") == "word"))
    assert months["position"].to_list() == list(range(12))
    assert {"weekdays", "months", "hours", "compass", "colours"} <= set(words.metadata["cycle"])


def test_emoji_have_names_and_drawings() -> None:
    emoji = load_bundled("emoji")
    assert emoji.modalities == {"text", "image"}
    assert emoji.images is not None and emoji.images.shape[1:] == (96, 96, 3)
    assert all(picture.std() > 5 for picture in emoji.images)


def test_turning_the_car_right_round_comes_back() -> None:
    car = load_bundled("rotated-car")
    assert car.images is not None
    steps = np.abs(np.diff(np.concatenate([car.images, car.images[:1]]).astype(float), axis=0)).mean(axis=(1, 2, 3))
    assert steps[-1] < 2 * np.median(steps)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_set_loads(name: str) -> None:
    assert len(load_dataset(name)) == len(load_bundled(name))


def test_lines_tables_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    assert load_dataset(tmp_path / "a.txt").texts == ("one", "two")
    pl.DataFrame({"text": ["x", "y"], "kind": ["p", "q"]}).write_csv(tmp_path / "b.csv")
    table = load_dataset(tmp_path / "b.csv")
    assert table.texts == ("x", "y") and table.metadata["kind"].to_list() == ["p", "q"]
    (tmp_path / "c.jsonl").write_text('{"text": "x", "n": 1}\n{"text": "y", "n": 2}\n')
    assert load_dataset(tmp_path / "c.jsonl").metadata["n"].to_list() == [1, 2]
    (tmp_path / "pics" / "cats").mkdir(parents=True)
    Image.new("RGBA", (20, 10), (255, 0, 0, 128)).save(tmp_path / "pics" / "cats" / "1.png")
    pictures = load_dataset(tmp_path / "pics")
    assert pictures.images is not None and pictures.images.shape == (1, 224, 224, 3)
    assert pictures.metadata["folder"].to_list() == ["cats"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", b"", "holds no items"),
        ("a.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("a.csv", b"n\n1\n2\n", "has no text column"),
        ("a.csv", b"text,n\na,1\n,2\n", "empty in row 2"),
        ("a.jsonl", b"{not json", "cannot be read as jsonl"),
        ("a.parquet", b"PAR1nonsense", "cannot be read as parquet"),
        ("a.exe", b"MZ", "is not a dataset"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ExplorerError, match=words):
        load_dataset(tmp_path / name)


def test_a_picture_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"no picture")
    with pytest.raises(ExplorerError, match=r"x\.png cannot be read as an image"):
        load_dataset(tmp_path)


def test_a_missing_file_lists_the_bundled_sets() -> None:
    with pytest.raises(ExplorerError, match="bundled: words, emoji, rotated-car, digits"):
        load_dataset("nowhere.csv")


def test_saved_datasets_come_back(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("one\ntwo\n")
    dataset = load_dataset(tmp_path / "mine.txt")
    save_dataset(dataset, tmp_path / "store")
    again = find_dataset(dataset.fingerprint, tmp_path / "store")
    assert again.texts == dataset.texts and again.fingerprint == dataset.fingerprint
    assert saved_datasets(tmp_path / "store") == {dataset.fingerprint: "mine"}
    with pytest.raises(ExplorerError, match="not in"):
        find_dataset("../../etc/passwd", tmp_path / "store")
