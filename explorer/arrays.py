"""The door: what people pass in becomes a checked (items, features) tensor, or a sentence says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from explorer.device import compute_device, working_dtype
from explorer.errors import ExplorerError


def as_matrix(values: Any, name: str = "X", min_items: int = 2) -> torch.Tensor:
    """Check a representation and move it to the compute device.

    Parameters
    ----------
    values : array_like or torch.Tensor, shape (n_items, n_features)
        Numbers of any real dtype; half precision and integers are promoted to float32.
    name : str
        How the error sentence names this input.
    min_items : int
        Fewest items that the caller can work with.

    Returns
    -------
    torch.Tensor, shape (n_items, n_features), float32 or float64, contiguous.

    Raises
    ------
    ExplorerError
        For text, complex numbers, wrong shape, too few items, no features, NaN or infinity (with its place).
    """
    tensor = _as_tensor(values, name)
    if tensor.ndim == 1:
        tensor = tensor[:, None]
    if tensor.ndim != 2:
        raise ExplorerError(f"{name} has shape {tuple(tensor.shape)}; a matrix of shape (items, features) is needed.")
    if tensor.shape[1] == 0:
        raise ExplorerError(f"{name} has no features (shape {tuple(tensor.shape)}); at least one is needed.")
    if tensor.shape[0] < min_items:
        raise ExplorerError(f"{name} has {tensor.shape[0]} item(s); at least {min_items} are needed.")
    tensor = tensor.to(device=compute_device(), dtype=working_dtype(tensor.dtype)).contiguous()
    _refuse_non_finite(tensor, name)
    return tensor


def as_trials(values: Any, name: str = "X", min_items: int = 2) -> torch.Tensor:
    """Check repeated trials of shape (n_items, n_trials, n_features), as :func:`as_matrix` does a matrix."""
    tensor = _as_tensor(values, name)
    items, trials, features = tensor.shape
    if items == 0 or trials == 0:
        raise ExplorerError(f"{name} holds no items or no trials: shape {tuple(tensor.shape)}.")
    flat = as_matrix(tensor.reshape(items * trials, features), f"{name} (item x {trials} trials)", 1)
    if items < min_items:
        raise ExplorerError(f"{name} has {items} item(s); at least {min_items} are needed.")
    return flat.reshape(items, trials, features)


def _as_tensor(values: Any, name: str) -> torch.Tensor:
    if isinstance(values, torch.Tensor):
        if values.is_complex():
            raise ExplorerError(f"{name} holds complex numbers; real numbers are needed.")
        return values.detach()
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ExplorerError(f"{name} is ragged: its rows have different lengths ({error}).") from None
    if array.dtype.kind not in "fiub":
        raise ExplorerError(f"{name} holds values of type {array.dtype}; real numbers are needed.")
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    if native.dtype.kind in "ub" or not native.flags.writeable:
        native = native.astype(np.float64 if native.dtype == np.float64 else np.float32)
    return torch.from_numpy(native)


def _refuse_non_finite(tensor: torch.Tensor, name: str) -> None:
    # NaN and infinity both show in the extremes, which are read several times faster than a mask is made.
    if all(bool(torch.isfinite(extreme)) for extreme in torch.aminmax(tensor)):
        return
    finite = torch.isfinite(tensor)
    item, feature = (int(v) for v in torch.nonzero(~finite)[0])
    value = float(tensor[item, feature])
    count = int((~finite).any(dim=1).sum())
    raise ExplorerError(
        f"{name} holds {value} at item {item}, feature {feature} ({count} item(s) affected); "
        "every value must be finite."
    )


def check_same_items(x: torch.Tensor, y: torch.Tensor, x_name: str = "X", y_name: str = "Y") -> None:
    """Refuse two representations of different numbers of items."""
    if x.shape[0] != y.shape[0]:
        raise ExplorerError(
            f"{x_name} has {x.shape[0]} items and {y_name} has {y.shape[0]}; "
            "the same items in the same order are needed."
        )


def drop_constant_features(tensor: torch.Tensor, name: str = "X") -> tuple[torch.Tensor, int]:
    """Remove features that have one value over all items; return the rest and how many were dropped."""
    constant = (tensor == tensor[:1]).all(dim=0)
    dropped = int(constant.sum())
    if dropped == tensor.shape[1]:
        raise ExplorerError(f"Every feature of {name} is constant over its {tensor.shape[0]} items.")
    return (tensor[:, ~constant].contiguous(), dropped) if dropped else (tensor, 0)
