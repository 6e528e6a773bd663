"""Work that several measures of one representation have in common, done once while they are computed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import torch

T = TypeVar("T")
# Each entry keeps its tensor alive, so that the id in the key cannot come to mean another one.
_held: ContextVar[dict[tuple[Any, ...], tuple[torch.Tensor, Any]] | None] = ContextVar("shared_work", default=None)


@contextmanager
def shared_work() -> Iterator[None]:
    """Within this block neighbours, spectra and diagrams of the same tensor are computed once.

    Tensors must not be changed in place meanwhile.
    """
    token = _held.set({})
    try:
        yield
    finally:
        _held.reset(token)


def once(x: torch.Tensor, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """The result of ``make``, from before where it is known under this key for this tensor."""
    held = _held.get()
    if held is None:
        return make()
    place = (id(x), *key)
    if place not in held:
        held[place] = (x, make())
    found: T = held[place][1]
    return found


def known(x: torch.Tensor, key: tuple[Any, ...]) -> Any | None:
    """What is held under this key for this tensor, or None."""
    held = _held.get()
    entry = None if held is None else held.get((id(x), *key))
    return None if entry is None else entry[1]


def hold(x: torch.Tensor, key: tuple[Any, ...], value: Any) -> None:
    """Keep a result, in place of an earlier one."""
    held = _held.get()
    if held is not None:
        held[(id(x), *key)] = (x, value)
