"""Geometry-corrected Procrustes alignment: a shared universe, then one correction of directions for all models."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.mapping import SEED, SHARE
from explorer.measures.alignment import gpa
from explorer.measures.registry import Measure, Result
from explorer.ridge import best_penalty, shrinkage


def correction(placed: Sequence[torch.Tensor]) -> torch.Tensor:
    """One map (width, width) that brings every model's items nearest to the directions of the consensus.

    The answers are the unit consensus directions, the same for all models, so what only one model has is damped and
    what they share is kept. Ridge regression over all models at once.
    """
    directions = torch.nn.functional.normalize(torch.stack(list(placed)).mean(dim=0), dim=1, eps=1e-300)
    stacked, answers = torch.cat(list(placed)), directions.repeat(len(placed), 1)
    left, singular, right = torch.linalg.svd(stacked, full_matrices=False)
    coordinates = left.T @ answers
    penalty = best_penalty(singular, coordinates, answers)
    return (right.T * shrinkage(singular, penalty)) @ coordinates


def compute(layers: Sequence[torch.Tensor], share: float, seed: int) -> Result:
    """Held-out retrieval in the corrected universe, beside that of plain GPA."""
    values = gpa.checked(layers, "gcpa")
    _, train, test = gpa.held_out(values, share, seed)
    shared = correction(train)
    corrected = [t @ shared for t in test]
    tables = gpa.any_to_any(corrected)
    count = len(values)
    mean = float((tables["mrr"].sum() - count) / (count * (count - 1)))
    universe = gpa.fit(values)
    turned = [universe.place(m, x) for m, x in enumerate(values)]
    whole = correction(turned)
    details = {
        "gpa_mrr": gpa.any_to_any(test)["mrr"],
        "distance_change": gpa.changes(test, corrected),
        "universe": torch.stack([t @ whole for t in turned]).cpu().numpy(),
        **tables,
    }
    return Result(mean, details=details)


MEASURE = Measure(
    id="gcpa",
    name="Geometry-corrected Procrustes alignment (GCPA)",
    family="alignment",
    kind="group",
    authors="Achara, Gaintseva, Mahaut, Chakraborty, Johansson, Barsbey, Rodolà & Crisostomi",
    year=2026,
    title="Multi-Way Representation Alignment",
    formula=r"z_m = (X_m Q_m)\,G,\quad G = \arg\min_G \sum_m \lVert X_m Q_m G - \hat U\rVert_F^2 + \lambda\lVert G\rVert^2",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="M d^3 an iteration, then one regression of M n items",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The value is the mean reciprocal rank over all ordered pairs of models on held-out items. The correction is a "
        "ridge map onto consensus directions; it improves retrieval and changes distances (see distance_change)."
    ),
    parameters=(SHARE, SEED),
    uses_item_order=True,
    min_items=4,
    compute=compute,
)
