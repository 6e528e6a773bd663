"""What the benchmarks share: clocks, made-up layers, and lines of a report."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
import torch


def clock(call: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def seconds(call: Callable[[], object], repeat: int = 3) -> float:
    """The least of several times."""
    return min(clock(call) for _ in range(repeat))


def layers(count: int, n: int, d: int, seed: int = 0) -> list[np.ndarray]:
    """Layers (n, d) float32 that share twenty directions and have noise of their own."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 20), dtype=np.float32)
    return [
        shared @ rng.standard_normal((20, d), dtype=np.float32) + rng.standard_normal((n, d), dtype=np.float32)
        for _ in range(count)
    ]


def peer(module: str, package: str) -> ModuleType | None:
    """A public package to measure against, or None with a line that says what is missing."""
    try:
        return importlib.import_module(module)
    except ImportError:
        print(f"{package} is not installed (pip install --no-deps {package}); left out")
        return None


def line(what: str, ours: float, theirs: float) -> None:
    """One comparison: both times and how many times faster we are."""
    print(f"{what}: ours {ours:.3g} s, theirs {theirs:.3g} s, ratio {theirs / ours:.3g}", flush=True)


def heading(text: str) -> None:
    """The case that the next lines are about, with the number of threads."""
    print(f"\n{text}, {torch.get_num_threads()} thread(s)", flush=True)


def exponent(sizes: list[int], times: list[float]) -> float:
    """The slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def apart(code: str) -> tuple[str, float]:
    """Run a few lines in a fresh process: what they print, and the process's peak memory in GB."""
    ending = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)"
    found = subprocess.run([sys.executable, "-c", code + ending], capture_output=True, text=True, check=True)
    *printed, peak = found.stdout.splitlines()
    return "\n".join(printed), float(peak)
