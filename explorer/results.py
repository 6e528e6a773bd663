"""The results table: one tidy row per measure, parameters and representation (or pair), saved as Parquet.

Rows are keyed by content, so that nothing is computed twice; arrays (diagrams, edges, layouts) are kept beside
the table as .npz files under the same kind of key.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from explorer.errors import ExplorerError
from explorer.files import short_hash, write_atomic

SCHEMA: dict[str, Any] = {
    "key": pl.String,
    "measure": pl.String,
    "params": pl.String,
    "kind": pl.String,
    "dataset_name": pl.String,
    "x_id": pl.String,
    "x_model": pl.String,
    "x_layer": pl.String,
    "x_layer_index": pl.Int64,
    "x_depth": pl.Float64,
    "y_id": pl.String,
    "y_model": pl.String,
    "y_layer": pl.String,
    "y_layer_index": pl.Int64,
    "y_depth": pl.Float64,
    "n_items": pl.Int64,
    "x_features": pl.Int64,
    "y_features": pl.Int64,
    "value": pl.Float64,
    "null_mean": pl.Float64,
    "null_sd": pl.Float64,
    "z": pl.Float64,
    "p_value": pl.Float64,
    "permutations": pl.Int64,
    "seed": pl.Int64,
    "device": pl.String,
    "seconds": pl.Float64,
    "note": pl.String,
}
# Raise this when a measure's numbers change, so that old results are not taken for new ones.
REVISION = 1


def result_key(measure: str, params: Mapping[str, Any], *parts: str) -> str:
    """The content key of one result: measure, parameters, ids, and the revision of the code."""
    return short_hash(str(REVISION), measure, json.dumps(dict(params), sort_keys=True), *parts)


class Results:
    """The results beside a store: ``results/*.parquet`` and ``results/arrays/*.npz``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def table(self) -> pl.DataFrame:
        """All rows, the newest of each key."""
        files = sorted(self.folder.glob("*.parquet"), key=lambda f: f.stat().st_mtime_ns)
        frames = [pl.read_parquet(file) for file in files]
        if not frames:
            return pl.DataFrame(schema=SCHEMA)
        return pl.concat(frames, how="diagonal_relaxed").unique("key", keep="last", maintain_order=True)

    def known(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Rows that are already there, by key."""
        wanted = list(keys)
        frame = self.table().filter(pl.col("key").is_in(wanted))
        return {row["key"]: row for row in frame.iter_rows(named=True)}

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Append rows as a new file; two writers never touch the same file."""
        if rows:
            frame = pl.DataFrame(rows, schema=SCHEMA)
            name = short_hash(*frame["key"].to_list())
            write_atomic(self.folder / f"{name}.parquet", lambda path: frame.write_parquet(path))

    def load_arrays(self, key: str) -> dict[str, np.ndarray] | None:
        """Arrays saved under this key, or None."""
        path = self.folder / "arrays" / f"{key}.npz"
        if not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as opened:
                return {name: opened[name] for name in opened.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise ExplorerError(f"{path.name} is damaged ({error}); delete it and compute again.") from None

    def save_arrays(self, key: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Save arrays under this key."""

        def write(path: Path) -> None:
            with path.open("wb") as handle:
                np.savez(handle, **arrays)  # type: ignore[arg-type]

        write_atomic(self.folder / "arrays" / f"{key}.npz", write)
