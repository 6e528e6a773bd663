"""A reference case: what a measure must give, and what packages give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """What another package gives (NaN where it fails), and why."""

    package: str
    value: float
    reason: str


@dataclass(frozen=True)
class Case:
    """One value that a measure must give.

    ``inputs`` gives the arguments of :func:`explorer.compute`; ``tolerance`` is relative, and absolute near zero.
    ``detail`` names the entry of the details that is meant, where it is not the value.
    """

    measure: str
    params: dict[str, Any]
    source: str
    name: str
    expected: float
    tolerance: float
    inputs: Callable[[], dict[str, Any]]
    agrees: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    remark: str = ""
    detail: str = ""
