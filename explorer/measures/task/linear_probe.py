"""Linear probe: how well a linear classifier reads a label off, cross-validated."""

from __future__ import annotations

import warnings

import numpy as np
import torch

from explorer.inputs import LABELS
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, labels: np.ndarray, folds: int, penalty: float, seed: int) -> Result:
    """Accuracy on held-out items; ``items`` says which were right, ``details["chance"]`` what the largest class gives."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    sizes = np.bincount(labels)
    if sizes.min() < folds:
        raise Undefined(
            f"the smallest class has {sizes.min()} item(s), fewer than the {folds} folds: take fewer folds or merge classes"
        )
    values = centred_and_scaled(x).cpu().numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=500))
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        found = cross_val_predict(model, values, labels, cv=splits)
    stopped = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    right = (found == labels).astype(float)
    balanced = float(np.mean([right[labels == c].mean() for c in range(len(sizes))]))
    details = {"chance": float(sizes.max() / sizes.sum()), "balanced_accuracy": balanced, "classes": len(sizes)}
    notes = ("the optimiser stopped at its limit of 500 steps",) if stopped else ()
    return Result(float(right.mean()), items=right, details=details, notes=notes)


MEASURE = Measure(
    id="linear_probe",
    name="Linear probe",
    family="task",
    kind="single",
    authors="Alain & Bengio",
    year=2016,
    title="Understanding intermediate layers using linear classifier probes",
    formula=r"\frac1n\sum_i [\hat y_{-i}(x_i) = y_i]",
    range=(0.0, 1.0),
    higher_means="more readable labels",
    cost="folds x steps x n d classes",
    invariances=frozenset({"isotropic_scaling", "translation", "feature_permutation"}),
    caveat="What a probe can read need not be used by the model; with d above n it reads much. Compare with shuffled labels.",
    parameters=(
        Parameter("folds", 5, "folds of the cross-validation", minimum=2, maximum=50),
        Parameter("penalty", 1.0, "weight of the squared norm", minimum=1e-6, maximum=1e6),
        Parameter("seed", 0, "seed of the folds", minimum=0, maximum=2**31),
    ),
    needs=(LABELS,),
    min_items=4,
    uses_item_order=True,
    compute=compute,
    per_item=True,
)
