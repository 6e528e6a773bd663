"""What some measures need beside a representation: labels, a second view, a readout matrix, analogies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.arrays import as_matrix, as_trials
from explorer.errors import ExplorerError


@dataclass(frozen=True)
class Input:
    """A named input: what it is, and the check that turns what people pass into what the measure gets.

    ``check(value, x)`` knows the representation ``x`` (n_items, n_features), so that it can compare sizes.
    """

    name: str
    help: str
    check: Callable[[Any, torch.Tensor], Any]
    optional: bool = False


def as_codes(values: Any, n: int, name: str) -> np.ndarray:
    """One label an item, of any type, as whole numbers in order of appearance: (n,) int64."""
    array = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values)
    if array.shape != (n,):
        raise ExplorerError(f"{name} has shape {array.shape}; one label for each of the {n} items is needed.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ExplorerError(f"{name} holds a value that is not finite at item {int(np.argmin(np.isfinite(array)))}.")
    labels = array.tolist()
    number = {value: i for i, value in enumerate(dict.fromkeys(labels))}
    return np.array([number[value] for value in labels], dtype=np.int64)


def _labels(values: Any, x: torch.Tensor) -> np.ndarray:
    codes = as_codes(values, len(x), "labels")
    if len(np.unique(codes)) < 2:
        raise ExplorerError("labels name a single class; at least two are needed.")
    return codes


def _parents(values: Any, x: torch.Tensor) -> np.ndarray:
    return as_codes(values, len(x), "parents")


def _view(values: Any, x: torch.Tensor) -> torch.Tensor:
    view = as_matrix(values, "view", 1)
    if view.shape != x.shape:
        raise ExplorerError(
            f"view has shape {tuple(view.shape)} but X has {tuple(x.shape)}; row i must be another view of item i."
        )
    return view


def _views(values: Any, x: torch.Tensor) -> torch.Tensor:
    if getattr(values, "ndim", 3) == 2:
        return torch.stack([x, _view(values, x).to(x.dtype)], dim=1)
    views = as_trials(values, "views", 1)
    if len(views) != len(x) or views.shape[2] != x.shape[1]:
        raise ExplorerError(
            f"views has shape {tuple(views.shape)}; (n_items, n_views, n_features) that fits X {tuple(x.shape)} is needed."
        )
    return torch.cat([x[:, None], views.to(x.dtype)], dim=1)


def _readout(values: Any, x: torch.Tensor) -> torch.Tensor:
    readout = as_matrix(values, "readout", 1)
    if readout.shape[1] != x.shape[1]:
        raise ExplorerError(
            f"readout has {readout.shape[1]} columns but X has {x.shape[1]} features; (n_outputs, n_features) is needed."
        )
    return readout


def _places(width: int, name: str) -> Callable[[Any, torch.Tensor], np.ndarray]:
    def check(values: Any, x: torch.Tensor) -> np.ndarray:
        array = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values)
        if array.ndim != 2 or array.shape[1] != width or len(array) == 0 or array.dtype.kind not in "iu":
            raise ExplorerError(f"{name} has shape {array.shape}; whole numbers of shape (m, {width}) are needed.")
        bad = np.argwhere((array < 0) | (array >= len(x)))
        if len(bad):
            row, column = bad[0]
            raise ExplorerError(
                f"{name}[{row}, {column}] is {array[row, column]}, but items run from 0 to {len(x) - 1}."
            )
        return array.astype(np.int64)

    return check


def _factors(values: Any, x: torch.Tensor) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[0] != len(x) or array.shape[1] == 0:
        raise ExplorerError(f"factors has shape {array.shape}; (n_items, n_factors) with {len(x)} items is needed.")
    return np.stack([as_codes(array[:, f], len(x), f"factors[:, {f}]") for f in range(array.shape[1])], axis=1)


LABELS = Input("labels", "a class for each item, (n_items,), of any type", _labels)
PARENTS = Input("parents", "the class above each item's class, (n_items,)", _parents, optional=True)
VIEW = Input("view", "the same items seen another way (augmented), (n_items, n_features)", _view)
VIEWS = Input("views", "one or more further views of each item, (n_items, n_views, n_features)", _views)
READOUT = Input("readout", "the matrix that reads this space out (unembedding), (n_outputs, n_features)", _readout)
ANALOGIES = Input("analogies", "positions a, b, c, d with a : b = c : d, (m, 4)", _places(4, "analogies"))
COMPOSITIONS = Input(
    "compositions", "positions a, b, c where item c is composed of a and b, (m, 3)", _places(3, "compositions")
)
FACTORS = Input("factors", "the level of each factor for each item, (n_items, n_factors)", _factors)
