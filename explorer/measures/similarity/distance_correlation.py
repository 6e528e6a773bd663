"""Distance correlation: the cosine of two doubly centred matrices of Euclidean distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from explorer import gram
from explorer.gram import GramState, permute
from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import pairwise_distances


def prepare(x: torch.Tensor, estimator: str) -> GramState:
    """Centre the distances once; their negative is a centred Gram matrix (Sejdinovic et al. 2013)."""
    gram.require_items(len(x), estimator, "distance correlation")
    distances = pairwise_distances(centred_and_scaled(x))
    return GramState(None, -centred(centred(distances).T).T.contiguous())


def _rooted(alignment: np.ndarray, estimator: str) -> np.ndarray:
    """The plain form is the root of a ratio that is never negative; the debiased one is a squared correlation."""
    return np.sqrt(np.clip(alignment, 0, None)) if estimator == "biased" else alignment


def compare_matrix(states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str) -> np.ndarray:
    """All pairs at once."""
    return _rooted(gram.alignment(states_x, states_y, estimator), estimator)


def compare(sx: GramState, sy: GramState, estimator: str) -> float:
    """One pair."""
    return gram.refuse_nan(float(compare_matrix([sx], [sy], estimator)[0, 0]))


def null_sampler(
    states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str
) -> Callable[[torch.Tensor], np.ndarray]:
    """From a permutation of the rows of Y to the matrix under it."""
    sample = gram.null_sampler(states_x, states_y, estimator)
    return lambda order: _rooted(sample(order), estimator)


def null_moments(sx: GramState, sy: GramState, estimator: str) -> tuple[float, float]:
    """Chance in closed form for the debiased ratio; the root of the biased one has none."""
    return gram.null_moments(sx, sy, estimator) if estimator == "debiased" else (float("nan"), float("nan"))


MEASURE = Measure(
    id="distance_correlation",
    name="Distance correlation",
    family="similarity",
    kind="pairwise",
    authors="Székely, Rizzo & Bakirov; debiased form by Székely & Rizzo (2014)",
    year=2007,
    title="Measuring and testing dependence by correlation of distances",
    formula=r"\mathrm{dCor}^2 = \frac{\langle A, B\rangle}{\lVert A\rVert\,\lVert B\rVert},\quad A = -H D_X H",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The plain (biased) form is close to 1 for unrelated data when d exceeds n, as biased CKA is: read it against "
        "chance, or take the debiased form (a squared correlation, which may be slightly negative)."
    ),
    parameters=(
        Parameter(
            "estimator",
            "biased",
            "V-statistic (biased, the root) or U-statistic (debiased, squared)",
            ("biased", "debiased"),
        ),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_sampler=null_sampler,
    null_moments=null_moments,
)
