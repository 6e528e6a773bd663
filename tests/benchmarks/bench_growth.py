"""How time grows with items and with layers, what fifty thousand items cost, and what float32 costs in digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from common import apart, exponent, heading, layers, seconds

import explorer

SIZES = [1000, 2000, 4000, 8000, 16000, 50_000]
COUNTS = [4, 8, 16, 32]
MEASURES = ("cka", "mutual_knn", "rsa")
LARGE = """
import sys, time
sys.path.insert(0, "tests/benchmarks")
from common import layers
import explorer
stack = layers(2, 50_000, 768)
started = time.perf_counter()
value = explorer.compute({measure!r}, *stack, **{params!r}).value
print(f"value {{value:.4f}}, {{time.perf_counter() - started:.1f}} s")
"""


def report(what: str, sizes: list[int], run: Callable[[int], object]) -> None:
    times = [seconds(lambda s=size: run(s), 2) for size in sizes]
    listed = ", ".join(f"{size}: {took:.3f} s" for size, took in zip(sizes, times))
    print(f"{what}: {listed}; exponent {exponent(sizes, times):.2f}", flush=True)


def growth() -> None:
    heading("Two layers, d = 256, by the number of items")
    for measure in MEASURES:
        sizes = SIZES[:3] if measure == "rsa" else SIZES  # an RDM of 16,000 items has 128 million entries
        stacks = {n: layers(2, n, 256) for n in sizes}
        report(measure, sizes, lambda n, m=measure: explorer.compute(m, *stacks[n]))  # noqa: B023
    heading("n = 1000, d = 256, by the number of layers on either side")
    stack = layers(max(COUNTS), 1000, 256)
    for measure in MEASURES:
        report(measure, COUNTS, lambda c, m=measure: explorer.similarity_matrix(m, stack[:c]))


def large() -> None:
    heading("Two layers, n = 50,000, d = 768, each in a fresh process (inputs included: 0.3 GB)")
    cases = (
        ("cka", {"estimator": "biased"}),
        ("cka", {"estimator": "debiased"}),
        ("mutual_knn", {"k": 10}),
    )
    for measure, params in cases:
        printed, peak = apart(LARGE.format(measure=measure, params=params))
        print(f"{measure} {params}: {printed}, peak memory {peak:.2f} GB", flush=True)


def digits() -> None:
    heading("float32 against float64, n = 4000, d = 256")
    x, y = layers(2, 4000, 256)
    for measure, params in (("cka", {"estimator": "biased"}), ("cka", {"estimator": "debiased"}), ("mutual_knn", {})):
        single = explorer.compute(measure, x, y, **params).value
        double = explorer.compute(measure, x.astype(np.float64), y.astype(np.float64), **params).value
        print(f"{measure} {params}: difference {abs(single - double):.1e}")


if __name__ == "__main__":
    digits()
    growth()
    large()
