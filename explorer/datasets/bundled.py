"""The demo sets that come with the project; see data/README.md for their sources and licences."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from explorer.datasets.base import Dataset
from explorer.errors import ExplorerError
from explorer.paths import data_folder

BUNDLED = {
    "words": "Words and sentences with categories, five languages and closed cycles (weekdays, months, hours, ...)",
    "emoji": "Emoji drawings (OpenMoji) with their English names: the same items for vision and for text models",
    "rotated-car": "One emoji car turned through 360 degrees in 48 steps: a loop that is known to be there",
    "digits": "1,797 handwritten digits of 8 x 8 pixels (scikit-learn, UCI)",
}

TILE = 96
ROTATION_STEPS = 48
CAR = "automobile"


@lru_cache(maxsize=8)
def load_bundled(name: str) -> Dataset:
    """Return one of the bundled sets: ``words``, ``emoji``, ``rotated-car`` or ``digits``."""
    makers = {"words": _words, "emoji": _emoji, "rotated-car": _rotated_car, "digits": _digits}
    if name not in makers:
        raise ExplorerError(f"There is no bundled dataset '{name}'; there are {', '.join(BUNDLED)}.")
    return makers[name]()


def bundled_fingerprints() -> dict[str, str]:
    """Name -> fingerprint of every bundled set, without loading them (a test keeps the file true)."""
    found: dict[str, str] = json.loads((data_folder() / "fingerprints.json").read_text())
    return found


def _words() -> Dataset:
    frame = pl.read_csv(data_folder() / "text" / "words.csv", schema_overrides={"position": pl.Int64})
    frame = frame.with_columns(pl.col("text").alias("label"))
    return Dataset("words", frame, texts=tuple(frame["text"].to_list()), about=BUNDLED["words"])


def read_sprite(path: Path, count: int) -> np.ndarray:
    """Cut a sheet of square tiles (row by row) into (count, TILE, TILE, 3) uint8 pictures."""
    from PIL import Image

    with Image.open(path) as opened:
        sheet = np.asarray(opened.convert("RGB"))
    rows, columns = sheet.shape[0] // TILE, sheet.shape[1] // TILE
    tiles = sheet.reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2).reshape(-1, TILE, TILE, 3)
    if len(tiles) < count:
        raise ExplorerError(f"{path.name} holds {len(tiles)} pictures; {count} are named beside it.")
    return np.ascontiguousarray(tiles[:count])


def _emoji() -> Dataset:
    folder = data_folder() / "emoji"
    frame = pl.read_csv(folder / "emoji.csv").with_columns(pl.col("name").alias("label"))
    images = read_sprite(folder / "drawings.png", frame.height)
    return Dataset("emoji", frame, tuple(frame["name"].to_list()), images, BUNDLED["emoji"])


def _rotated_car() -> Dataset:
    from PIL import Image

    emoji = _emoji()
    assert emoji.images is not None
    car = Image.fromarray(emoji.images[emoji.labels.index(CAR)])
    angles = [360 * step / ROTATION_STEPS for step in range(ROTATION_STEPS)]
    turned = [np.asarray(car.rotate(a, resample=Image.Resampling.BICUBIC, fillcolor=(255, 255, 255))) for a in angles]
    frame = pl.DataFrame({"label": [f"{a:g} degrees" for a in angles], "angle": angles})
    return Dataset("rotated-car", frame, images=np.stack(turned), about=BUNDLED["rotated-car"])


def _digits() -> Dataset:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    grey = (bunch.images * 255 / 16).round().astype(np.uint8)
    images = np.repeat(grey[..., None], 3, axis=-1)
    frame = pl.DataFrame(
        {
            "label": [f"{digit} (number {i})" for i, digit in enumerate(bunch.target)],
            "digit": [str(digit) for digit in bunch.target],
            "ink": bunch.images.mean(axis=(1, 2)),
        }
    )
    return Dataset("digits", frame, images=images, about=BUNDLED["digits"], pixelated=True)
