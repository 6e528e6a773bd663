"""Datasets that people brought, kept beside the store so that every page can show their items."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from explorer.datasets.base import LABEL, Dataset
from explorer.datasets.bundled import BUNDLED, bundled_fingerprints, load_bundled
from explorer.errors import ExplorerError
from explorer.files import write_atomic

FOLDER = "datasets"
TEXTS = "__texts__"
NAME = "__name__"


def save_dataset(dataset: Dataset, store: Path) -> None:
    """Keep the metadata, texts and pictures of a dataset under its fingerprint."""
    folder = store / FOLDER
    frame = dataset.metadata.with_columns(pl.lit(dataset.name).alias(NAME))
    if dataset.texts is not None:
        frame = frame.with_columns(pl.Series(TEXTS, dataset.texts))
    if dataset.images is not None:
        images = dataset.images

        def write(path: Path) -> None:
            with path.open("wb") as handle:
                np.savez_compressed(handle, images=images)

        write_atomic(folder / f"{dataset.fingerprint}.npz", write)
    write_atomic(folder / f"{dataset.fingerprint}.parquet", lambda path: frame.write_parquet(path))


def find_dataset(reference: str, store: Path) -> Dataset:
    """Return a bundled dataset by name or fingerprint, or one saved beside the store by fingerprint."""
    if reference in BUNDLED:
        return load_bundled(reference)
    path = store / FOLDER / f"{reference}.parquet"
    if reference.isalnum() and path.is_file():
        return _read(path)
    for name, fingerprint in bundled_fingerprints().items():
        if fingerprint == reference:
            return load_bundled(name)
    raise ExplorerError(f"The items of dataset {reference} are not in {store}.")


def saved_datasets(store: Path) -> dict[str, str]:
    """Fingerprint -> name of every dataset kept beside the store."""
    files = sorted((store / FOLDER).glob("*.parquet"))
    return {file.stem: str(pl.read_parquet(file, columns=[NAME])[NAME][0]) for file in files}


def _read(path: Path) -> Dataset:
    frame = pl.read_parquet(path)
    name = str(frame[NAME][0])
    texts = tuple(frame[TEXTS].to_list()) if TEXTS in frame.columns else None
    pictures = path.with_suffix(".npz")
    images = None
    if pictures.is_file():
        with np.load(pictures, allow_pickle=False) as opened:
            images = opened["images"]
    kept = frame.drop(NAME, *([TEXTS] if texts is not None else []))
    return Dataset(name, kept, texts, images, f"Brought by you: {name}")


def nameless(name: str, count: int) -> Dataset:
    """Items of which only the number is known (activations imported without their items)."""
    frame = pl.DataFrame({LABEL: [f"item {i}" for i in range(count)]})
    return Dataset(name, frame, about="Imported activations; nothing is known about their items")
