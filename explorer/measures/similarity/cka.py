"""Centred kernel alignment: the cosine of two centred Gram matrices, biased or debiased."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from explorer import gram
from explorer.gram import GramState, permute
from explorer.linalg import Undefined, centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.neighbors import pairwise_distances


def prepare(x: torch.Tensor, kernel: str, bandwidth: float, estimator: str = "biased") -> GramState:
    """Centre once; an RBF kernel is held as its doubly centred Gram matrix."""
    gram.require_items(len(x), estimator, "CKA")
    if kernel == "linear":
        return GramState(centred_and_scaled(x), None)
    return GramState(None, _rbf_gram(x, bandwidth))


def _rbf_gram(x: torch.Tensor, bandwidth: float) -> torch.Tensor:
    distances = pairwise_distances(centred_and_scaled(x))
    upper = torch.triu_indices(len(x), len(x), 1, device=x.device)
    # numpy's median averages the two middle values, which torch's does not.
    median = float(np.median(distances[upper[0], upper[1]].cpu().numpy()))
    if median == 0:
        raise Undefined("more than half of the pairs of items coincide, so the median bandwidth is zero")
    kernel = torch.exp(-distances.square() / (2 * (bandwidth * median) ** 2))
    return centred(centred(kernel).T).T.contiguous()


def compare_matrix(
    states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str, **_: object
) -> np.ndarray:
    """All pairs at once."""
    return gram.alignment(states_x, states_y, estimator)


def compare(sx: GramState, sy: GramState, estimator: str, **_: object) -> float:
    """One pair."""
    return gram.refuse_nan(float(gram.alignment([sx], [sy], estimator)[0, 0]))


def null_sampler(
    states_x: Sequence[GramState], states_y: Sequence[GramState], estimator: str, **_: object
) -> Callable[[torch.Tensor], np.ndarray]:
    """From a permutation of the rows of Y to the matrix under it."""
    return gram.null_sampler(states_x, states_y, estimator)


def agree(sx: GramState, sy: GramState, estimator: str, **_: object) -> torch.Tensor:
    """What each item contributes; the mean over items is the value."""
    return gram.contributions(sx, sy, estimator)


def null_moments(sx: GramState, sy: GramState, estimator: str, **_: object) -> tuple[float, float]:
    """Chance in closed form."""
    return gram.null_moments(sx, sy, estimator)


MEASURE = Measure(
    id="cka",
    name="Centred kernel alignment (CKA)",
    family="similarity",
    kind="pairwise",
    authors="Kornblith, Norouzi, Lee & Hinton; debiased by Song, Smola, Gretton, Bedo & Borgwardt (2012)",
    year=2019,
    title="Similarity of Neural Network Representations Revisited",
    formula=r"\mathrm{CKA}(K, L) = \frac{\mathrm{HSIC}(K, L)}{\sqrt{\mathrm{HSIC}(K, K)\,\mathrm{HSIC}(L, L)}}",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n d min(n, d) a pair; a whole matrix of L layers n^2 (L d + L^2)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Dominated by the directions of largest variance. Biased CKA is far above 0 for unrelated data when d is not "
        "well below n (0.89 at n = 100, d = 768); the debiased estimator averages to 0 and may be slightly negative."
    ),
    parameters=(
        Parameter("estimator", "debiased", "U-statistic (debiased) or plain HSIC (biased)", ("debiased", "biased")),
        Parameter("kernel", "linear", "linear, or Gaussian with a bandwidth that follows the data", ("linear", "rbf")),
        Parameter("bandwidth", 1.0, "rbf: share of the median distance between items", minimum=1e-3, maximum=1e3),
    ),
    min_items=2,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_sampler=null_sampler,
    null_moments=null_moments,
    agree=agree,
    presets=(
        Preset("Kornblith 2019", {"estimator": "biased", "kernel": "linear"}, "the plain HSIC: far above 0 when d > n"),
        Preset("ReSi", {"estimator": "biased", "kernel": "linear"}, "the plain HSIC, called CKA"),
        Preset(
            "thingsvision, rbf",
            {"estimator": "biased", "kernel": "rbf", "bandwidth": 1.0},
            "median over pairs; its default sigma = 1 does not follow the data and gives 1 for unrelated wide data",
        ),
        Preset(
            "platonic-rep, unbiased",
            {"estimator": "debiased", "kernel": "linear"},
            "there, 1e-6 is added to the denominator, so that narrow cones agree less than fully with themselves",
        ),
    ),
)
