"""The linked view: scatter plots of the same items, brushed together in the browser."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from explorer.app import blobs
from explorer.app.routes import base
from explorer.datasets.base import LABEL, Dataset
from explorer.figures.theme import PALETTE, SEQUENTIAL, escape

HERE = Path(__file__).parent
TILE, SHOWN, MAX_TILES = 64, 84, 4000
SPRITE_COLUMNS = 40


@dataclass(frozen=True)
class View:
    """One scatter plot: a title, a caption for its axes, and (n, 2) coordinates."""

    title: str
    axes: str
    points: np.ndarray


@dataclass(frozen=True)
class Colour:
    """What the points are coloured by: nothing, category codes, or numbers."""

    kind: str = "none"
    name: str = ""
    values: np.ndarray | None = None
    names: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def _component() -> Any:
    script = (HERE / "shared.js").read_text() + (HERE / "linked_view.js").read_text()
    return st.components.v2.component(
        "explorer_linked_view",
        html='<div class="linked-view" data-testid="linked-view" data-items="0" data-selected="0"></div>',
        css=(HERE / "linked_view.css").read_text(),
        js=script,
        isolate_styles=False,
    )


def pack(dataset: str, views: Sequence[View], colour: Colour, height: int) -> bytes:
    """Coordinates and colours as bytes: a JSON head, then float32 or uint16 columns padded to 8 bytes."""
    n = len(views[0].points)
    columns: dict[str, np.ndarray] = {}
    for k, view in enumerate(views):
        columns[f"x{k}"] = np.ascontiguousarray(view.points[:, 0], dtype="<f4")
        columns[f"y{k}"] = np.ascontiguousarray(view.points[:, 1], dtype="<f4")
    about: dict[str, Any] = {"kind": colour.kind, "name": colour.name, "palette": list(PALETTE)}
    if colour.kind == "category" and colour.values is not None:
        columns["color"] = colour.values.astype("<u2")
        about |= {"names": list(colour.names), "palette": [PALETTE[i % len(PALETTE)] for i in range(len(colour.names))]}
    elif colour.kind == "number" and colour.values is not None:
        columns["color"] = colour.values.astype("<f4")
        finite = colour.values[np.isfinite(colour.values)]
        low, high = (float(v) for v in np.percentile(finite, [2, 98])) if len(finite) else (0.0, 1.0)
        about |= {"low": low, "high": high if high > low else low + 1, "scale": SEQUENTIAL}
        about |= {"lowText": f"{low:.3g}", "highText": f"{high:.3g}"}
    head = {
        "n": n,
        "dataset": dataset,
        "height": height,
        "views": [{"title": escape(v.title), "plain": v.title, "x": escape(v.axes)} for v in views],
        "color": about,
        "columns": [{"name": k, "dtype": v.dtype.str[1:], "n": int(v.size)} for k, v in columns.items()],
    }
    text = json.dumps(head).encode()
    out = bytearray(struct.pack("<I", len(text)) + text)
    for values in columns.values():
        out += b"\0" * (-len(out) % 8) + values.tobytes()
    return bytes(out)


@lru_cache(maxsize=8)
def item_payloads(dataset: Dataset) -> tuple[bytes, bytes | None]:
    """What hovering shows: labels and metadata as JSON, and the pictures as one sheet (PNG)."""
    fields = [c for c in dataset.metadata.columns if c not in (LABEL, "text", "name")][:6]
    columns = [dataset.labels] + [["" if v is None else f"{v}" for v in dataset.metadata[f]] for f in fields]
    about: dict[str, Any] = {"fields": fields, "rows": [list(row) for row in zip(*columns)]}
    sheet = None
    if dataset.images is not None and len(dataset) <= MAX_TILES:
        sheet, tile = sprite_sheet(dataset.images)
        about["sprite"] = {"tile": tile, "columns": SPRITE_COLUMNS, "show": SHOWN, "pixelated": dataset.pixelated}
    return json.dumps(about).encode(), sheet


def sprite_sheet(images: np.ndarray) -> tuple[bytes, int]:
    """Lay all pictures out on one sheet of SPRITE_COLUMNS columns, none larger than TILE pixels."""
    from PIL import Image

    tile = min(TILE, images.shape[1])
    rows = -(-len(images) // SPRITE_COLUMNS)
    sheet = Image.new("RGB", (SPRITE_COLUMNS * tile, rows * tile), "white")
    for i, picture in enumerate(images):
        small = Image.fromarray(picture)
        small = small if small.size == (tile, tile) else small.resize((tile, tile), Image.Resampling.LANCZOS)
        sheet.paste(small, (i % SPRITE_COLUMNS * tile, i // SPRITE_COLUMNS * tile))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue(), tile


def as_bits(index: np.ndarray, n: int) -> str:
    """A selection as a base64 bitmap."""
    mask = np.zeros(n, dtype=bool)
    mask[index] = True
    return base64.b64encode(np.packbits(mask, bitorder="little").tobytes()).decode()


def from_bits(bits: str, n: int) -> np.ndarray:
    """The item indices of a base64 bitmap; anything beyond n items is dropped."""
    raw = np.frombuffer(base64.b64decode(bits), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little")[:n])


def linked_view(
    dataset: Dataset,
    views: Sequence[View],
    colour: Colour,
    key: str,
    height: int = 430,
    push: tuple[str, np.ndarray] | None = None,
) -> np.ndarray | None:
    """Show the views; return the indices of the selected items, or None when nothing is selected.

    ``push`` is (id, indices): a selection made on another page, shown until people select in this view.
    """
    if _own_selection(key, dataset) is not None:
        push = None
    items, sheet = item_payloads(dataset)
    n = len(dataset)
    data = {
        "base": base(),
        "points": blobs.put(pack(dataset.fingerprint, views, colour, height)),
        "items": blobs.put(items),
        "sprite": blobs.put(sheet) if sheet is not None else None,
        "push": {"id": push[0], "bits": as_bits(push[1], n) if len(push[1]) else None} if push else None,
    }
    state = _component()(key=key, data=data, on_selection_change=lambda: None, on_missing_change=lambda: None)
    found = state.selection
    if not found or found.get("dataset") != dataset.fingerprint:
        return push[1] if push else None
    return from_bits(found["bits"], n) if found["bits"] else None


def _own_selection(key: str, dataset: Dataset) -> Mapping[str, Any] | None:
    """What people last did in the view of this key, if they did anything since it was opened."""
    held = st.session_state.get(key)
    found = held.get("selection") if isinstance(held, Mapping) else None
    return found if found and found.get("dataset") == dataset.fingerprint else None
