"""Representation Geometry Explorer: the geometry of neural representations, calibrated and linked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.api import calibrate, compute, fit_map, measures, similarity_matrix
    from explorer.errors import ExplorerError
    from explorer.measures.registry import Result
    from explorer.representation import Representation
    from explorer.store import Store

__version__ = "0.1.0"

# Loaded on first use, so that importing the package does not import torch.
_WHERE = {
    "calibrate": "explorer.api",
    "compute": "explorer.api",
    "fit_map": "explorer.api",
    "measures": "explorer.api",
    "similarity_matrix": "explorer.api",
    "ExplorerError": "explorer.errors",
    "Representation": "explorer.representation",
    "Result": "explorer.measures.registry",
    "Store": "explorer.store",
}
__all__ = [
    "ExplorerError",
    "Representation",
    "Result",
    "Store",
    "calibrate",
    "compute",
    "fit_map",
    "measures",
    "similarity_matrix",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'explorer' has no attribute '{name}'")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
