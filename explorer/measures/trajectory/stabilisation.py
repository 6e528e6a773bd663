"""Stabilisation: how similar each checkpoint (or layer) is to the last, and from when on it stays so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.measures.registry import Measure, Parameter, Result


def compute(layers: Sequence[torch.Tensor], threshold: float) -> Result:
    """The share of the way from which on debiased CKA with the last stays above the threshold; ``details`` has all."""
    from explorer.measures.similarity.cka import compare_matrix, prepare

    if len(layers) < 2:
        raise ExplorerError("One checkpoint has nothing to settle to; at least two are needed.")
    estimator = "debiased" if len(layers[0]) >= 4 else "biased"
    states = [prepare(layer, "linear", 1.0, estimator) for layer in layers]
    similarity = compare_matrix(states, states[-1:], estimator)[:, 0]
    below = np.flatnonzero(~(similarity >= threshold))
    first = int(below[-1]) + 1 if len(below) else 0
    return Result(first / (len(layers) - 1), details={"similarity": similarity, "first": first})


MEASURE = Measure(
    id="stabilisation",
    name="Stabilisation",
    family="trajectory",
    kind="trajectory",
    authors="Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017); with CKA Kornblith et al. (2019)",
    year=2017,
    title="SVCCA: Singular Vector Canonical Correlation Analysis for Deep Learning Dynamics and Interpretability",
    formula=r"\min\{t : \mathrm{CKA}(X_s, X_T) \ge c\ \ \forall s \ge t\} / T",
    range=(0.0, 1.0),
    higher_means="settles later",
    cost="checkpoints x n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Depends on the threshold and on which checkpoints were kept; the whole curve is in the details.",
    parameters=(Parameter("threshold", 0.9, "similarity that counts as settled", minimum=0.0, maximum=1.0),),
    min_items=3,
    compute=compute,
)
