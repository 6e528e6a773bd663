"""Persistent homology of the Vietoris-Rips filtration, on landmarks where there are many items."""

from __future__ import annotations

import numpy as np
import torch

from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import metric_points, pairwise_distances

TIED = 1e-9


def maxmin_landmarks(x: torch.Tensor, count: int, metric: str, seed: int) -> tuple[np.ndarray, float]:
    """Choose items one by one, each farthest from those chosen; return positions and the covering radius.

    Every item lies within the covering radius of a landmark, so diagrams move by at most twice that radius
    (bottleneck distance). de Silva & Carlsson (2004), "Topological estimation using witness complexes".
    """
    points = metric_points(x, metric).double()
    chosen = [int(np.random.default_rng(seed).integers(len(points)))]
    nearest = (points - points[chosen[0]]).norm(dim=1)
    while len(chosen) < min(count, len(points)):
        chosen.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, (points - points[chosen[-1]]).norm(dim=1))
    return np.array(chosen), float(nearest.max())


def filtration_distances(x: torch.Tensor, metric: str) -> np.ndarray:
    """Distances that obey the triangle inequality: Euclidean, or the angle for cosine."""
    if metric == "euclidean":
        return pairwise_distances(x, "euclidean").cpu().numpy()
    chord = (2 * pairwise_distances(x, "cosine")).sqrt()
    angle = 2 * torch.arcsin((chord / 2).clamp(max=1))
    return angle.fill_diagonal_(0).cpu().numpy()


def compute(x: torch.Tensor, max_dim: int, metric: str, max_points: int, seed: int) -> Result:
    """Birth and death of components, loops and voids; the value is the longest finite bar over the diameter."""
    from ripser import ripser

    n = len(x)
    chosen, radius = np.arange(n), 0.0
    if n > max_points:
        chosen, radius = maxmin_landmarks(x, max_points, metric, seed)
    distances = filtration_distances(x[torch.from_numpy(chosen).to(x.device)], metric)
    diameter = float(distances.max())
    found = ripser(distances, distance_matrix=True, maxdim=max_dim)["dgms"]
    diagrams = [np.asarray(d, dtype=np.float64)[np.argsort(lifetimes(d))[::-1]] for d in found]
    value = longest(diagrams[max_dim]) / diameter if diameter > 0 else 0.0
    notes = (f"{len(chosen)} of {n} items as landmarks, covering radius {radius:.3g}",) if n > max_points else ()
    details = {"diameter": diameter, "covering_radius": radius, "landmarks": chosen, "max_dim": max_dim}
    return Result(value, diagrams=diagrams, details=details, notes=notes)


def lifetimes(diagram: np.ndarray) -> np.ndarray:
    """Death minus birth of every bar."""
    return diagram[:, 1] - diagram[:, 0] if len(diagram) else np.empty(0)


def longest(diagram: np.ndarray) -> float:
    """The longest finite lifetime, 0 for an empty diagram."""
    life = lifetimes(diagram)
    return float(life[np.isfinite(life)].max(initial=0.0))


def betti_curve(diagram: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """How many bars are alive at each radius: birth <= r < death."""
    births, deaths = np.sort(diagram[:, 0]), np.sort(diagram[:, 1])
    return np.searchsorted(births, radii, side="right") - np.searchsorted(deaths, radii, side="right")


MEASURE = Measure(
    id="persistence",
    name="Persistent homology (Vietoris-Rips)",
    family="topology",
    kind="single",
    authors="Edelsbrunner, Letscher & Zomorodian (2002); computed by ripser of Bauer (2021)",
    year=2002,
    title="Topological Persistence and Simplification",
    formula=r"H_q(\mathrm{VR}_r(X)), \quad \max_j (d_j - b_j) / \mathrm{diam}\,X",
    range=(0.0, 1.0),
    higher_means="clearer hole",
    cost="n^3 and far more for loops in noise: landmarks above max_points",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Outliers fill holes, and noise in many dimensions shortens bars. On landmarks the diagram is exact up to "
        "twice the covering radius. Compare bars with those of noise before believing in them."
    ),
    parameters=(
        Parameter("max_dim", 1, "highest homology dimension", minimum=0, maximum=2),
        Parameter("metric", "euclidean", "euclidean, or the angle between items", ("euclidean", "cosine")),
        Parameter("max_points", 5000, "above this many items, maxmin landmarks are used", minimum=4, maximum=5000),
        Parameter("seed", 0, "seed of the first landmark", minimum=0, maximum=2**31),
    ),
    compute=compute,
)
