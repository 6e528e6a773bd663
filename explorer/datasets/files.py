"""Datasets from the user's files: text lines, tables with a text column, folders of images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from explorer.datasets.base import LABEL, Dataset
from explorer.datasets.bundled import BUNDLED, load_bundled
from explorer.errors import ExplorerError

TABLES = {".csv", ".tsv", ".jsonl", ".parquet"}
IMAGES = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif"}
IMAGE_SIDE = 224
MAX_ITEMS = 200_000
MAX_BYTES = 1 << 30


def load_dataset(source: str | Path) -> Dataset:
    """Load a bundled set by name, or a .txt, .csv, .tsv, .jsonl or .parquet file, or a folder of images.

    A text file has one item a line. A table needs a column called ``text`` (else its first text column is
    taken); the other columns become metadata. Pictures are fitted into a white square of 224 pixels.
    """
    if str(source) in BUNDLED:
        return load_bundled(str(source))
    path = Path(source)
    if not path.exists():
        raise ExplorerError(f"There is no file, folder or bundled dataset '{source}' (bundled: {', '.join(BUNDLED)}).")
    if path.is_dir():
        return _image_folder(path)
    if path.stat().st_size > MAX_BYTES:
        raise ExplorerError(f"{path.name} is larger than {MAX_BYTES >> 20} MiB; split it first.")
    if path.suffix.lower() in TABLES:
        return _table(path)
    if path.suffix.lower() == ".txt":
        return _text_lines(path)
    raise ExplorerError(
        f"{path.name}: '{path.suffix}' is not a dataset; .txt, .csv, .tsv, .jsonl, .parquet or a folder of images is needed."
    )


def _text_lines(path: Path) -> Dataset:
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise ExplorerError(f"{path.name} is not UTF-8 text (byte {error.start}).") from None
    _check_count(path, len(lines))
    return Dataset(path.stem, pl.DataFrame({LABEL: lines}), texts=tuple(lines), about=f"Lines of {path.name}")


def _read_table(path: Path) -> pl.DataFrame:
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            return pl.read_parquet(path)
        if suffix == ".jsonl":
            return pl.read_ndjson(path)
        return pl.read_csv(path, separator="\t" if suffix == ".tsv" else ",", infer_schema_length=10_000)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ExplorerError(f"{path.name} cannot be read as {suffix[1:]}: {first}.") from None


def _table(path: Path) -> Dataset:
    frame = _read_table(path)
    _check_count(path, frame.height)
    strings = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    column = "text" if "text" in frame.columns else next(iter(strings), None)
    if column is None:
        raise ExplorerError(f"{path.name} has no text column (columns: {', '.join(frame.columns[:12])}).")
    empty = frame[column].is_null().arg_true().to_list()
    if empty:
        raise ExplorerError(f"{path.name}: column '{column}' is empty in row {empty[0] + 1} ({len(empty)} row(s)).")
    texts = frame[column].cast(pl.String)
    if LABEL not in frame.columns:
        frame = frame.with_columns(texts.alias(LABEL))
    flat = [n for n, t in frame.schema.items() if not t.is_nested()]
    return Dataset(path.stem, frame.select(flat), tuple(texts.to_list()), about=f"Rows of {path.name}")


def _image_folder(folder: Path) -> Dataset:
    from PIL import Image, ImageOps, UnidentifiedImageError

    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in IMAGES and p.is_file())
    _check_count(folder, len(files))
    pictures = []
    for file in files:
        try:
            with Image.open(file) as opened:
                rgba = opened.convert("RGBA")
        except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
            raise ExplorerError(f"{file.relative_to(folder)} cannot be read as an image ({error}).") from None
        white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
        flat = Image.alpha_composite(white, rgba).convert("RGB")
        pictures.append(np.asarray(ImageOps.pad(flat, (IMAGE_SIDE, IMAGE_SIDE), color=(255, 255, 255))))
    names = [str(file.relative_to(folder)) for file in files]
    groups = [file.parent.name if file.parent != folder else "" for file in files]
    frame = pl.DataFrame({LABEL: names, "folder": groups})
    return Dataset(folder.name, frame, images=np.stack(pictures), about=f"Images in {folder.name}")


def _check_count(path: Path, count: int) -> None:
    if count == 0:
        raise ExplorerError(f"{path.name} holds no items.")
    if count > MAX_ITEMS:
        raise ExplorerError(f"{path.name} holds {count:,} items; at most {MAX_ITEMS:,} can be loaded.")
