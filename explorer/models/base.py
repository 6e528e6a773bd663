"""What every model adapter offers: named layers in order, and pooled activations of a batch of items."""

from __future__ import annotations

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.errors import ExplorerError


class Model(ABC):
    """An adapter around one model.

    Attributes
    ----------
    name, revision : str
        What it is and exactly which weights (part of the key under which activations are stored).
    modality : str
        ``text`` or ``image``: which items it reads.
    layers : tuple of str
        Names in order of depth.
    poolings : tuple of str
        How one item's activations can become one vector; the first is the default.
    """

    name: str
    revision: str
    modality: str
    layers: tuple[str, ...]
    poolings: tuple[str, ...]

    @abstractmethod
    def activations(self, items: Sequence[Any], layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        """Run a batch; return for each layer a float32 array of shape (len(items), n_features)."""

    def select_layers(self, patterns: str | Sequence[str] = "all") -> tuple[str, ...]:
        """Resolve ``all``, names and globs (``layers.*``) to layer names, in order of depth."""
        wanted = patterns.split(",") if isinstance(patterns, str) else list(patterns)
        wanted = [p.strip() for p in wanted if p.strip()]
        if wanted == ["all"]:
            return self.layers
        chosen: set[str] = set()
        for pattern in wanted:
            matched = fnmatch.filter(self.layers, pattern)
            if not matched:
                raise ExplorerError(f"{self.name} has no layer '{pattern}'; it has {shorten(self.layers)}.")
            chosen.update(matched)
        if not chosen:
            raise ExplorerError(f"No layer of {self.name} was chosen; it has {shorten(self.layers)}.")
        return tuple(layer for layer in self.layers if layer in chosen)

    def check_pooling(self, pooling: str | None) -> str:
        """Return the pooling to use (the default for None), or say which ones there are."""
        if pooling is None:
            return self.poolings[0]
        if pooling not in self.poolings:
            raise ExplorerError(f"{self.name} has no pooling '{pooling}'; it has {', '.join(self.poolings)}.")
        return pooling


def shorten(names: Sequence[str], show: int = 6) -> str:
    """List names, with an ellipsis in the middle of a long list."""
    if len(names) <= show:
        return ", ".join(names)
    return f"{', '.join(names[: show - 1])}, ..., {names[-1]} ({len(names)} layers)"
