"""RDMs that people already have: .csv or .tsv, .npy, or the HDF5 files of rsatoolbox; recognised by content."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import ExplorerError
from explorer.formats.arrays import NPY_MAGIC
from explorer.rdms import checked_rdms

MAX_BYTES = 256 << 20
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
KEYS = ("dissimilarities", "rdm", "rdms", "RDM", "similarity", "matrix")


def read_rdms(path: Path) -> np.ndarray:
    """Read one RDM or several of the same items: (m, n, n) float64.

    Raises
    ------
    ExplorerError
        For another kind of file, one above 256 MiB, text where numbers should be (with its place), a matrix that is
        not square or not symmetric.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as handle:
            magic = handle.read(8)
    except OSError as error:
        raise ExplorerError(f"{path.name} cannot be opened: {error.strerror}.") from None
    if size > MAX_BYTES:
        raise ExplorerError(f"{path.name} has {size >> 20} MiB; RDMs of up to {MAX_BYTES >> 20} MiB are read.")
    if magic[:6] == NPY_MAGIC:
        return checked_rdms(_read_npy(path), path.name)
    if magic == HDF5_MAGIC:
        return checked_rdms(_read_hdf5(path), path.name)
    return checked_rdms(_read_table(path), path.name)


def _read_npy(path: Path) -> np.ndarray:
    try:
        return np.load(path, allow_pickle=False)
    except Exception as error:
        # Mutilated headers raise almost anything inside numpy; whatever it is, the file is to blame.
        words = "holds pickled objects, which are never loaded" if "pickle" in str(error).lower() else "is damaged"
        raise ExplorerError(f"{path.name} {words}.") from None


def _read_hdf5(path: Path) -> np.ndarray:
    import h5py

    try:
        with h5py.File(path, "r") as opened:
            for key in KEYS:
                found = opened.get(key, getlink=False)
                if isinstance(found, h5py.Dataset) and found.shape is not None:
                    if found.size * 8 > MAX_BYTES:
                        raise ExplorerError(f"{path.name}: {key} has shape {found.shape}, which is too large.")
                    return np.asarray(found)
            there = ", ".join(list(opened)[:10]) or "nothing"
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise ExplorerError(f"{path.name} is damaged: {str(error).splitlines()[0]}.") from None
    raise ExplorerError(f"{path.name} holds {there}, but none of {', '.join(KEYS)}.")


def _read_table(path: Path) -> np.ndarray:
    """Numbers in rows; a first row and a first column of labels are left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ExplorerError(f"{path.name} is neither .csv, .npy nor an HDF5 file.") from None
    sample = text[:4096]
    mark = "\t" if sample.count("\t") > sample.count(",") and sample.count("\t") > sample.count(";") else ","
    mark = ";" if sample.count(";") > max(sample.count(","), sample.count("\t")) else mark
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if any(cell.strip() for cell in row)]
    if not rows:
        raise ExplorerError(f"{path.name} is empty.")
    if not all(_is_number(cell) for cell in rows[0]):
        rows = rows[1:]
    labelled = bool(rows) and len(rows[0]) == len(rows) + 1
    return np.array([_numbers(row[1:] if labelled else row, i, len(rows), path.name) for i, row in enumerate(rows)])


def _numbers(row: list[str], line: int, wanted: int, name: str) -> list[float]:
    if len(row) != wanted:
        raise ExplorerError(
            f"{name}: row {line} has {len(row)} numbers, but there are {wanted} rows; an RDM is square."
        )
    for column, cell in enumerate(row):
        if not _is_number(cell):
            raise ExplorerError(f"{name} holds {cell!r} at row {line}, column {column}; a number is needed.")
    return [float(cell) for cell in row]


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
