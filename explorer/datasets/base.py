"""A dataset: items in a fixed order, their metadata, and a fingerprint of both content and order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from explorer.errors import ExplorerError

LABEL = "label"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items in a fixed order.

    Parameters
    ----------
    name : str
        Short name, shown to people.
    metadata : polars.DataFrame, n_items rows
        Typed columns about each item; a ``label`` column (what to call the item) is always present.
    texts : tuple of str, optional
        The text of each item, for text models.
    images : numpy.ndarray, shape (n_items, height, width, 3), uint8, optional
        The picture of each item, for vision models. An item may have both (a drawing and its name).
    about : str
        One sentence on what this is and where it comes from.
    """

    name: str
    metadata: pl.DataFrame
    texts: tuple[str, ...] | None = None
    images: np.ndarray | None = None
    about: str = ""
    pixelated: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if LABEL not in self.metadata.columns:
            raise ExplorerError(f"Dataset {self.name}: the metadata lack a '{LABEL}' column.")
        for what, held in (("texts", self.texts), ("images", self.images)):
            if held is not None and len(held) != self.metadata.height:
                raise ExplorerError(
                    f"Dataset {self.name} has {self.metadata.height} rows of metadata but {len(held)} {what}."
                )
        if self.metadata.height == 0:
            raise ExplorerError(f"Dataset {self.name} has no items.")

    def __len__(self) -> int:
        return self.metadata.height

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over the content and the order of the items; metadata other than the label do not count."""
        digest = hashlib.sha256(f"items:{len(self)}".encode())
        for row in self.texts if self.texts is not None else self.metadata[LABEL].cast(pl.String).to_list():
            digest.update(b"\x00text" + str(row).encode())
        if self.images is not None:
            digest.update(b"\x00images" + np.ascontiguousarray(self.images).tobytes())
        return digest.hexdigest()[:16]

    @property
    def modalities(self) -> frozenset[str]:
        """Which kinds of model can read these items: ``text``, ``image`` or both."""
        held = {"text": self.texts is not None, "image": self.images is not None}
        return frozenset(kind for kind, present in held.items() if present)

    @property
    def labels(self) -> list[str]:
        """What to call each item."""
        return [str(v) for v in self.metadata[LABEL].to_list()]

    def inputs(self, modality: str) -> tuple[str, ...] | np.ndarray:
        """Return the texts or the images, whichever a model of this modality reads."""
        found = {"text": self.texts, "image": self.images}.get(modality)
        if found is None:
            raise ExplorerError(
                f"Dataset {self.name} has no {modality} items (it has {', '.join(sorted(self.modalities)) or 'only ids'})."
            )
        return found
