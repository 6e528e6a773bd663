"""Augmentation invariance: how well other views of an item are told apart from other items."""

from __future__ import annotations

import math

import numpy as np
import torch

from explorer.inputs import VIEWS
from explorer.linalg import Undefined, centred, entropy, unit_rows
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import pairwise_distances


def compute(
    x: torch.Tensor, views: torch.Tensor, form: str, temperature: float, draws: int, max_points: int, seed: int
) -> Result:
    """InfoNCE bound, LiDAR rank or DiME of X and its further views (n_items, 1 + n_views, n_features)."""
    notes: tuple[str, ...] = ()
    rng = np.random.default_rng(seed)
    if len(x) > max_points and form != "lidar":
        views = views[torch.from_numpy(np.sort(rng.choice(len(x), max_points, replace=False))).to(x.device)]
        notes = (f"{max_points} of {len(x)} items, drawn at random",)
    if form == "infonce":
        value = float(np.mean([_infonce(views[:, 0], views[:, v], temperature) for v in range(1, views.shape[1])]))
    elif form == "lidar":
        value = _lidar(views.double())
    else:
        value = _dime(views[:, 0], views[:, 1], draws, rng)
    return Result(value, notes=notes)


def _infonce(first: torch.Tensor, second: torch.Tensor, temperature: float) -> float:
    """log n minus the loss: a lower bound of the mutual information (nats) of the two views."""
    a, b = unit_rows(first).double(), unit_rows(second).double()
    logits = a @ b.T / temperature
    loss = (torch.logsumexp(logits, dim=1) - logits.diagonal()).mean()
    return math.log(len(a)) - float(loss)


def _lidar(views: torch.Tensor) -> float:
    """Effective rank of the discriminant of items against views of items."""
    n, q, d = views.shape
    means = views.mean(dim=1)
    within = (views - means[:, None]).reshape(n * q, d)
    within_covariance = within.T @ within / (n * (q - 1))
    between = centred(means)
    trace = float(within_covariance.trace())
    if trace == 0:
        raise Undefined("all views of every item coincide: nothing varies within items")
    # A ridge relative to the mean variance, where the source adds an absolute 1e-4.
    ridge = 1e-4 * trace / d * torch.eye(d, dtype=torch.float64, device=views.device)
    root = torch.linalg.cholesky(within_covariance + ridge)
    singular = torch.linalg.svdvals(torch.linalg.solve_triangular(root, between.T, upper=False))
    return float(entropy(singular.square()).exp())


def _dime(first: torch.Tensor, second: torch.Tensor, draws: int, rng: np.random.Generator) -> float:
    """Entropy of the joint kernel with views shuffled, minus that with views matched (nats)."""
    a, b = (_kernel(v) for v in (first, second))
    matched = _joint_entropy(a, b)
    orders = [torch.from_numpy(rng.permutation(len(a))).to(a.device) for _ in range(draws)]
    return float(np.mean([_joint_entropy(a, b[o][:, o]) for o in orders])) - matched


def _kernel(x: torch.Tensor) -> torch.Tensor:
    squared = pairwise_distances(unit_rows(x)).square()
    upper = torch.triu_indices(len(x), len(x), 1, device=x.device)
    median = float(squared[upper[0], upper[1]].quantile(0.5)) if len(x) < 4000 else float(squared.median())
    if median == 0:
        raise Undefined("more than half of the pairs of items coincide, so the kernel has no bandwidth")
    return torch.exp(-squared / median)


def _joint_entropy(a: torch.Tensor, b: torch.Tensor) -> float:
    eigenvalues = torch.linalg.eigvalsh(a * b / len(a)).clamp(min=0)
    return float(entropy(eigenvalues))


MEASURE = Measure(
    id="augmentation_invariance",
    name="Augmentation invariance",
    family="stability",
    kind="single",
    authors="van den Oord et al. (2018, InfoNCE); Thilak et al. (2024, LiDAR); Skean et al. (2023, DiME); Skean et al. (2025)",
    year=2025,
    title="Layer by Layer: Uncovering Hidden Representations in Language Models",
    formula=r"\log n - \frac1n\sum_i -\log\frac{e^{u_i \cdot v_i / \tau}}{\sum_j e^{u_i \cdot v_j / \tau}}",
    range=(-float("inf"), float("inf")),
    higher_means="more invariant",
    cost="n^2 d; DiME draws x n^3",
    invariances=frozenset({"orthogonal", "row_scaling", "isotropic_scaling", "feature_permutation"}),
    caveat="InfoNCE cannot exceed log n, so compare at the same n. The three forms measure different things.",
    parameters=(
        Parameter("form", "infonce", "which of the three", ("infonce", "lidar", "dime")),
        Parameter("temperature", 0.1, "of InfoNCE", minimum=1e-3, maximum=100.0),
        Parameter("draws", 5, "shuffles of DiME", minimum=1, maximum=1000),
        Parameter(
            "max_points", 1000, "above this many items, a random sample (not for LiDAR)", minimum=4, maximum=20_000
        ),
        Parameter("seed", 0, "seed of the sample and the shuffles", minimum=0, maximum=2**31),
    ),
    needs=(VIEWS,),
    min_items=3,
    uses_item_order=True,
    compute=compute,
)
