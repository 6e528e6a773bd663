"""Activations as .npy, .npz or .safetensors: recognised by content, never unpickled, bounded in size."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.errors import ExplorerError
from explorer.files import short_hash
from explorer.store import Store, read_header

MAX_BYTES = 4 << 30
NPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class Imported:
    """Layers found in a file, in order, and what was left out and why."""

    name: str
    layers: dict[str, np.ndarray]
    skipped: tuple[str, ...] = ()

    @property
    def n_items(self) -> int:
        return len(next(iter(self.layers.values())))

    def save(self, store: Store, dataset: str | None = None, dataset_name: str | None = None) -> Path:
        """Write into a store; without a dataset the items are known only by the name of the file and their number."""
        name = dataset_name or f"{self.name} ({self.n_items} items)"
        return store.save(
            self.layers,
            dataset=dataset or short_hash("imported", name, str(self.n_items)) + "0000",
            dataset_name=name,
            model=self.name,
            revision=short_hash(*(np.ascontiguousarray(v[:64]).tobytes() for v in self.layers.values())),
            pooling="imported",
        )


def read_activations(path: Path, name: str | None = None) -> Imported:
    """Read a file of activations.

    A .npy is one layer of shape (items, features) or several as (layers, items, features); a .npz or
    .safetensors has one layer a key. More axes after the first are flattened.

    Raises
    ------
    ExplorerError
        For a file that is none of these whatever its name says, pickled objects, absurd sizes, layers with
        different numbers of items, text, NaN or infinity (with their place).
    """
    title = name or path.stem
    try:
        with path.open("rb") as handle:
            magic = handle.read(6)
    except OSError as error:
        raise ExplorerError(f"{path.name} cannot be opened: {error.strerror}.") from None
    if magic == NPY_MAGIC:
        arrays = _read_npy(path)
    elif magic[:4] == ZIP_MAGIC:
        arrays = _read_npz(path)
    elif path.suffix == ".safetensors":
        arrays = _read_safetensors(path)
    else:
        raise ExplorerError(f"{path.name} is neither .npy, .npz nor .safetensors (it starts with {magic!r}).")
    return _as_layers(title, path.name, arrays)


def _read_npy(path: Path) -> dict[str, np.ndarray]:
    try:
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    except Exception as error:
        # Mutilated headers raise almost anything inside numpy; whatever it is, the file is to blame.
        raise ExplorerError(_reading_failed(path.name, error)) from None
    if array.ndim == 3:
        return {f"layer{i}": layer for i, layer in enumerate(array)}
    return {"layer": array}


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise ExplorerError(f"{path.name} unpacks to {size >> 20} MiB; at most {MAX_BYTES >> 20} MiB are read.")
        with np.load(path, allow_pickle=False) as opened:
            return {key: opened[key] for key in opened.files}
    except ExplorerError:
        raise
    except Exception as error:
        raise ExplorerError(_reading_failed(path.name, error)) from None


def _reading_failed(name: str, error: Exception) -> str:
    if any(word in str(error).lower() for word in ("pickle", "python objects")):
        return (
            f"{name} holds pickled objects, which are never loaded; save plain numbers, e.g. "
            "np.save(file, np.asarray(values, dtype=np.float32))."
        )
    return f"{name} is damaged or not what it claims to be: {str(error).splitlines()[0] if str(error) else error!r}."


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    read_header(path)
    try:
        with safe_open(path, framework="pt") as opened:
            tensors = {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, RuntimeError) as error:
        raise ExplorerError(f"{path.name} is damaged: {error}.") from None
    # numpy knows no bfloat16, so half precision goes through torch.
    return {
        k: (t.float() if t.dtype.itemsize == 2 and t.is_floating_point() else t).numpy() for k, t in tensors.items()
    }


def _as_layers(title: str, file: str, arrays: dict[str, np.ndarray]) -> Imported:
    layers: dict[str, np.ndarray] = {}
    skipped = []
    for key, array in arrays.items():
        if array.dtype.kind not in "fiu" or array.ndim < 2:
            skipped.append(f"{key}: shape {array.shape}, type {array.dtype}")
            continue
        wide = array.astype(np.float64 if array.dtype.itemsize == 8 and array.dtype.kind == "f" else np.float32)
        layers[key] = np.ascontiguousarray(wide.reshape(len(array), int(np.prod(array.shape[1:]))))
    if not layers:
        seen = "; ".join(skipped) or "nothing"
        raise ExplorerError(f"{file} holds no matrix of numbers of shape (items, features); it holds {seen}.")
    counts: dict[int, list[str]] = {}
    for key, values in layers.items():
        counts.setdefault(len(values), []).append(key)
    if len(counts) > 1:
        said = "; ".join(f"{keys[0]} has {n}" for n, keys in list(counts.items())[:3])
        raise ExplorerError(f"The layers of {file} have different numbers of items: {said}.")
    for key, values in layers.items():
        if values.size == 0:
            raise ExplorerError(f"Layer {key} of {file} is empty (shape {values.shape}).")
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = bad[0]
            raise ExplorerError(f"Layer {key} of {file} holds {values[row, column]} at item {row}, feature {column}.")
    return Imported(title, layers, tuple(skipped))
