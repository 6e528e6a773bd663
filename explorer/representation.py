"""A representation: one (items, features) matrix and where it came from. The unit that all else works on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from explorer.errors import ExplorerError
from explorer.files import short_hash


@dataclass(frozen=True)
class Origin:
    """Where a representation came from.

    ``dataset`` is the fingerprint of the items and their order; two representations can be compared only
    when it agrees.
    """

    dataset: str
    dataset_name: str
    model: str
    revision: str
    layer: str
    layer_index: int
    n_layers: int
    pooling: str

    @property
    def id(self) -> str:
        """12 hex digits that name this representation by its origin."""
        return short_hash(self.dataset, self.model, self.revision, self.layer, self.pooling)

    @property
    def depth(self) -> float:
        """Normalised depth: 0 for the first layer, 1 for the last."""
        return self.layer_index / (self.n_layers - 1) if self.n_layers > 1 else 0.0

    def as_row(self) -> dict[str, object]:
        """The origin as one row of a table."""
        return {"id": self.id, **asdict(self), "depth": self.depth}


@dataclass(frozen=True, eq=False)
class Representation:
    """A matrix of shape (n_items, n_features) and its origin; the values may be memory-mapped float16."""

    values: np.ndarray
    origin: Origin

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise ExplorerError(
                f"Layer {self.origin.layer} of {self.origin.model} has shape {self.values.shape}; (items, features) is needed."
            )

    @property
    def id(self) -> str:
        """The id by which the store and the results table know it."""
        return self.origin.id

    @property
    def name(self) -> str:
        """How people read it: model and layer."""
        return f"{self.origin.model} / {self.origin.layer}"

    @cached_property
    def matrix(self) -> np.ndarray:
        """The values as contiguous float32 (float64 stays float64)."""
        dtype = np.float64 if self.values.dtype == np.float64 else np.float32
        return np.ascontiguousarray(self.values, dtype=dtype)


def require_same_items(first: Representation, second: Representation) -> None:
    """Refuse to compare representations of different items or orders."""
    if first.origin.dataset != second.origin.dataset:
        raise ExplorerError(
            f"{first.name} was computed on dataset {first.origin.dataset_name} and {second.name} on "
            f"{second.origin.dataset_name}; only representations of the same items in the same order can be compared."
        )
