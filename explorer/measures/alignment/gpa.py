"""Generalised Procrustes analysis: rotate many representations into one shared universe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.linalg import centred_and_scaled
from explorer.mapping import SEED, SHARE, distance_change, retrieval, split
from explorer.measures.registry import Measure, Result

STEPS = 2000
TOLERANCE = 1e-11


@dataclass(frozen=True)
class Universe:
    """A rotation (d_m, width) and a mean (d_m,) and a norm for each model, and the consensus (n, width)."""

    rotations: list[torch.Tensor]
    means: list[torch.Tensor]
    norms: list[float]
    consensus: torch.Tensor
    objective: float

    def place(self, model: int, x: torch.Tensor) -> torch.Tensor:
        """Bring items of a model (n, d_m) into the universe (n, width)."""
        return (x - self.means[model]) / self.norms[model] @ self.rotations[model]


def fit(layers: Sequence[torch.Tensor]) -> Universe:
    """Alternate between the mean shape and the rotation of each model onto it (Gower 1975).

    Each model is centred and has Frobenius norm 1; the mean is not normalised again. Models are first rotated
    into their principal axes, so that wide ones cost no more than n dimensions.
    """
    means = [x.mean(dim=0) for x in layers]
    norms = [float((x - m).norm()) for x, m in zip(layers, means)]
    axes = [torch.linalg.svd(x - m, full_matrices=False)[2].T for x, m in zip(layers, means)]
    shapes = [(x - m) @ a / s for x, m, a, s in zip(layers, means, axes, norms)]
    width = max(s.shape[1] for s in shapes)
    shapes = [torch.nn.functional.pad(s, (0, width - s.shape[1])) for s in shapes]
    turned, rotations, objective = _alternate(shapes)
    full = [a @ r[: a.shape[1]] for a, r in zip(axes, rotations)]
    return Universe(full, means, norms, torch.stack(turned).mean(dim=0), objective)


def _alternate(shapes: list[torch.Tensor]) -> tuple[list[torch.Tensor], list[torch.Tensor], float]:
    consensus, before = shapes[0], np.inf
    for _ in range(STEPS):
        rotations = [_rotation(s, consensus) for s in shapes]
        turned = [s @ r for s, r in zip(shapes, rotations)]
        consensus = torch.stack(turned).mean(dim=0)
        objective = float(sum((t - consensus).square().sum() for t in turned))
        if before - objective <= TOLERANCE * max(objective, TOLERANCE):
            break
        before = objective
    return turned, rotations, objective


def _rotation(shape: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    left, _, right = torch.linalg.svd(shape.T @ target)
    return left @ right


def any_to_any(placed: Sequence[torch.Tensor]) -> dict[str, np.ndarray]:
    """Retrieval from every model to every other in the shared universe: (M, M) arrays."""
    count = len(placed)
    tables = {name: np.ones((count, count)) for name in ("top1", "top5", "mrr")}
    for i, queries in enumerate(placed):
        for j, gallery in enumerate(placed):
            if i != j:
                for name, value in retrieval(queries, gallery).items():
                    tables[name][i, j] = value
    return tables


def held_out(layers: Sequence[torch.Tensor], share: float, seed: int) -> tuple[Universe, list[torch.Tensor], Any]:
    """Fit on one part of the items; give the universe, its training items and the held-out items in it."""
    train, test = (part.to(layers[0].device) for part in split(len(layers[0]), share, seed))
    universe = fit([x[train] for x in layers])
    placed = [[universe.place(m, x[part]) for m, x in enumerate(layers)] for part in (train, test)]
    return universe, placed[0], placed[1]


def checked(layers: Sequence[torch.Tensor], name: str) -> list[torch.Tensor]:
    """At least three representations, in float64, none of them constant."""
    if len(layers) < 3:
        raise ExplorerError(
            f"{name} aligns three representations or more, but {len(layers)} were given; use a pair map."
        )
    for x in layers:
        centred_and_scaled(x)
    return [x.double() for x in layers]


def compute(layers: Sequence[torch.Tensor], share: float, seed: int) -> Result:
    """Consensus over all items, and retrieval between held-out items in a universe fitted on the others."""
    values = checked(layers, "gpa")
    universe = fit(values)
    turned = [universe.place(m, x) for m, x in enumerate(values)]
    residuals = np.array([float((t - universe.consensus).square().sum()) for t in turned])
    _, _, test = held_out(values, share, seed)
    details = {
        "objective": universe.objective,
        "residuals": residuals,
        "universe": np.stack([t.cpu().numpy() for t in turned]),
        "consensus": universe.consensus.cpu().numpy(),
        "distance_change": [0.0] * len(values),
        **any_to_any(test),
    }
    return Result(1 - universe.objective / len(values), details=details)


def changes(before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> list[float]:
    """How much each model's own distances are changed by its map."""
    return [distance_change(b, a) for b, a in zip(before, after)]


MEASURE = Measure(
    id="gpa",
    name="Generalised Procrustes analysis (GPA)",
    family="alignment",
    kind="group",
    authors="Gower; as a universe for network representations Achara et al. (2026)",
    year=1975,
    title="Generalized Procrustes analysis",
    formula=r"1 - \tfrac1M\min_{Q_m, U}\sum_m \lVert X_m Q_m - U\rVert_F^2,\quad \lVert X_m\rVert_F = 1",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="M d^3 an iteration",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The consensus share is over the fitted items and high for unrelated data when d is not well below n; the "
        "retrieval table is on held-out items. The search is local."
    ),
    parameters=(SHARE, SEED),
    uses_item_order=True,
    min_items=4,
    compute=compute,
)
