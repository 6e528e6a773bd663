"""The one place that chooses where and in which precision tensors are computed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def compute_device() -> torch.device:
    """Return the device for measures: ``REPGEO_DEVICE`` if set, else CUDA, else the CPU."""
    import torch

    name = os.environ.get("REPGEO_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(name)


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """Half precision and integers are promoted to float32; float32 and float64 stay as they are."""
    import torch

    return torch.float64 if dtype == torch.float64 else torch.float32


def limit_threads(count: int) -> None:
    """Let torch use ``count`` threads, so that a worker leaves a core to the server."""
    import torch

    torch.set_num_threads(max(1, count))
