"""Shape metrics with partial whitening: from Procrustes (alpha = 1) to CCA-like (alpha = 0)."""

from __future__ import annotations

import math

import torch

from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.measures.similarity.procrustes import ProcrustesState, permute
from explorer.measures.similarity.procrustes import compare as procrustes

# Eigenvalues of X^T X are bounded from below before their inverse root is taken, as in the reference code.
FLOOR = 1e-7


def prepare(x: torch.Tensor, alpha: float) -> ProcrustesState:
    """Whiten in part once: X (alpha I + (1 - alpha) (X^T X)^(-1/2)), up to a rotation."""
    centred_and_scaled(x)
    left, singular, _ = torch.linalg.svd(centred(x).double(), full_matrices=False)
    # What lies below the rounding of the input is no direction; whitening would blow it up.
    kept = singular > float(singular[0]) * max(x.shape) * torch.finfo(x.dtype).eps
    left, singular = left[:, kept], singular[kept]
    core = left * (singular * (alpha + (1 - alpha) / singular.square().clamp(min=FLOOR).sqrt()))
    norm = float(core.norm())
    return ProcrustesState(core / norm, norm)


def compare(sx: ProcrustesState, sy: ProcrustesState, **_: object) -> float:
    """The angle between the two whitened shapes."""
    return procrustes(sx, sy, "angular")


MEASURE = Measure(
    id="shape_metric",
    name="Shape metric with partial whitening",
    family="similarity",
    kind="pairwise",
    authors="Williams, Kunz, Kornblith & Linderman",
    year=2021,
    title="Generalized Shape Metrics on Neural Representations",
    formula=r"\theta\big(X Z_X,\ Y Z_Y\big),\quad Z_X = \alpha I + (1-\alpha)(X_c^\top X_c)^{-1/2}",
    range=(0.0, math.pi / 2),
    higher_means="less alike",
    cost="n d^2 once a representation, n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "translation", "feature_permutation"}),
    caveat=(
        "The Gram matrix is not divided by n, so for 0 < alpha < 1 the value depends on the scale of the data and on n. "
        "At alpha = 0 every invertible map is forgiven, and unrelated data agree once d is not well below n."
    ),
    parameters=(Parameter("alpha", 0.5, "1: Procrustes, 0: fully whitened (CCA-like)", minimum=0.0, maximum=1.0),),
    is_metric=True,
    best=0.0,
    prepare=prepare,
    compare=compare,
    permute=permute,
    presets=(
        Preset("netrep LinearMetric, alpha=1", {"alpha": 1.0}, "the angular Procrustes distance"),
        Preset("netrep LinearMetric, alpha=0", {"alpha": 0.0}, "arc cosine of the mean canonical correlation"),
    ),
)
