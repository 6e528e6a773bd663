"""The activation store: a folder of safetensors files, one per (dataset, model, pooling), one key per layer.

Everything that is known about a file is in its own header, so the manifest can be rebuilt from the files.
Nothing here is ever unpickled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from explorer.errors import ExplorerError
from explorer.files import slug, write_atomic
from explorer.representation import Origin, Representation

SCHEMA = {
    "id": pl.String,
    "dataset": pl.String,
    "dataset_name": pl.String,
    "model": pl.String,
    "revision": pl.String,
    "layer": pl.String,
    "layer_index": pl.Int64,
    "n_layers": pl.Int64,
    "pooling": pl.String,
    "depth": pl.Float64,
    "n_items": pl.Int64,
    "n_features": pl.Int64,
    "dtype": pl.String,
    "file": pl.String,
}
FOLDER = "representations"
HEADER_KEY = "explorer"


class Store:
    """A folder of representations and of the results computed from them.

    Parameters
    ----------
    path : str or Path
        The folder; made on the first write.
    read_only : bool
        Refuse to write (the bundled demo store).
    """

    def __init__(self, path: str | Path, read_only: bool = False) -> None:
        self.path, self.read_only = Path(path), read_only
        if self.path.exists() and not self.path.is_dir():
            raise ExplorerError(f"{self.path} is a file; a store is a folder.")
        self._listing: tuple[tuple[Any, ...], pl.DataFrame] | None = None
        self.problems: tuple[str, ...] = ()

    def representations(self, skip_damaged: bool = False) -> pl.DataFrame:
        """List what is stored: one row a representation, in order of dataset, model, pooling and depth.

        A file that cannot be read raises, or with ``skip_damaged`` is left out and named in ``self.problems``.
        """
        files = sorted((self.path / FOLDER).glob("*/*.safetensors"))
        state = (skip_damaged, *((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files))
        if self._listing is None or self._listing[0] != state:
            rows, problems = [], []
            for file in files:
                try:
                    rows += self._rows(file)
                except ExplorerError as error:
                    if not skip_damaged:
                        raise
                    problems.append(str(error))
            frame = pl.DataFrame(rows, schema=SCHEMA).sort("dataset_name", "model", "pooling", "layer_index")
            self._listing, self.problems = (state, frame), tuple(problems)
        return self._listing[1]

    def _rows(self, file: Path) -> list[dict[str, Any]]:
        header = read_header(file)
        rows = []
        for origin in _origins(file, header):
            entry = header[origin.layer]
            shape = entry["shape"]
            rows.append(
                {
                    **origin.as_row(),
                    "n_items": shape[0],
                    "n_features": shape[1],
                    "dtype": entry["dtype"],
                    "file": str(file.relative_to(self.path)),
                }
            )
        return rows

    def load(
        self,
        id: str | None = None,
        *,
        model: str | None = None,
        layer: str | None = None,
        dataset: str | None = None,
        pooling: str | None = None,
    ) -> Representation:
        """Load one representation, by id or by what it is.

        ``dataset`` is a name or a fingerprint. The values stay memory-mapped in the dtype of the file.

        Raises
        ------
        ExplorerError
            When nothing or more than one representation fits.
        """
        wanted = {"id": id, "model": model, "layer": layer, "pooling": pooling}
        frame = self.representations(skip_damaged=True)
        for column, value in wanted.items():
            if value is not None:
                frame = frame.filter(pl.col(column) == value)
        if dataset is not None:
            frame = frame.filter((pl.col("dataset") == dataset) | (pl.col("dataset_name") == dataset))
        asked = ", ".join(f"{k} {v}" for k, v in {**wanted, "dataset": dataset}.items() if v is not None)
        if frame.height != 1:
            found = "holds nothing" if frame.height == 0 else f"holds {frame.height} representations"
            raise ExplorerError(f"The store {self.path} {found} that fits {asked or 'an empty request'}.")
        return self._read(frame.row(0, named=True))

    def _read(self, row: Mapping[str, Any]) -> Representation:
        from safetensors import SafetensorError, safe_open

        file = self.path / row["file"]
        try:
            with safe_open(file, framework="numpy") as opened:
                values = opened.get_tensor(row["layer"])
        except (SafetensorError, OSError, KeyError) as error:
            raise ExplorerError(f"Layer {row['layer']} cannot be read from {file.name}: {error}") from None
        origin = Origin(**{name: row[name] for name in Origin.__dataclass_fields__})
        return Representation(values, origin)

    def save(
        self,
        layers: Mapping[str, np.ndarray],
        *,
        dataset: str,
        dataset_name: str,
        model: str,
        revision: str,
        pooling: str,
        layer_order: Iterable[str] | None = None,
        dtype: str = "float32",
    ) -> Path:
        """Write the layers of one (dataset, model, pooling) as one file, over an older one if there is one.

        ``layer_order`` names all layers of the model in order of depth when only some are stored.
        """
        from safetensors.numpy import save_file

        self.require_writable()
        if not layers:
            raise ExplorerError(f"There are no layers of {model} to store.")
        order = list(layer_order) if layer_order is not None else list(layers)
        about = {
            "format": 1,
            "dataset": dataset,
            "dataset_name": dataset_name,
            "model": model,
            "revision": revision,
            "pooling": pooling,
            "layers": order,
        }
        arrays = {name: _checked(values, name, dtype) for name, values in layers.items()}
        counts = {values.shape[0] for values in arrays.values()}
        if len(counts) != 1:
            raise ExplorerError(f"The layers of {model} have different numbers of items: {sorted(counts)}.")
        target = self.file_for(dataset, dataset_name, model, revision, pooling)
        note = {HEADER_KEY: json.dumps(about)}
        write_atomic(target, lambda temporary: save_file(arrays, temporary, metadata=note))
        return target

    def file_for(self, dataset: str, dataset_name: str, model: str, revision: str, pooling: str) -> Path:
        """The path of one (dataset, model, pooling), whether or not it exists."""
        folder = slug(f"{dataset_name}-{dataset[:8]}")
        return self.path / FOLDER / folder / f"{slug(model)}--{slug(revision)}--{slug(pooling)}.safetensors"

    def require_writable(self) -> None:
        """Refuse to change a read-only store."""
        if self.read_only:
            raise ExplorerError(f"The store {self.path} is read only; choose another folder.")


def _checked(values: np.ndarray, layer: str, dtype: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind != "f" or 0 in array.shape:
        raise ExplorerError(
            f"Layer {layer} has shape {array.shape} and type {array.dtype}; real numbers of shape (items, features) are needed."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise ExplorerError(f"Layer {layer} holds {array[tuple(bad[0])]} at item {bad[0][0]}, feature {bad[0][1]}.")
    with np.errstate(over="ignore"):
        stored = np.ascontiguousarray(array, dtype=dtype)
    if not np.isfinite(stored).all():
        raise ExplorerError(f"Layer {layer} does not fit into {dtype} (largest value {np.abs(array).max():.3g}).")
    return stored


def read_header(file: Path) -> dict[str, Any]:
    """Read the JSON header of a safetensors file; refuses a file that is none, or an absurd header."""
    try:
        with file.open("rb") as handle:
            size = int.from_bytes(handle.read(8), "little")
            if not 2 <= size <= min(100 << 20, file.stat().st_size - 8):
                raise ValueError("its header has an impossible length")
            header = json.loads(handle.read(size))
        if not isinstance(header, dict):
            raise ValueError("its header is not a table")
        return header
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise ExplorerError(f"{file.name} is not a safetensors file: {error}.") from None


def _origins(file: Path, header: dict[str, Any]) -> list[Origin]:
    try:
        about = json.loads(header["__metadata__"][HEADER_KEY])
        order = list(about["layers"])
        shared = {k: str(about[k]) for k in ("dataset", "dataset_name", "model", "revision", "pooling")}
    except (KeyError, TypeError, ValueError):
        raise ExplorerError(f"{file.name} was not written by this project: import it first.") from None
    held = [name for name in order if name in header]
    return [Origin(**shared, layer=n, layer_index=order.index(n), n_layers=len(order)) for n in held]
