"""RankMe: effective rank of the features as they are, without centring."""

from __future__ import annotations

import torch

from explorer.linalg import uncentred_spectrum
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, epsilon: float) -> Result:
    """exp(entropy) of the singular values' shares, each raised by epsilon as in the source."""
    singular = uncentred_spectrum(x).sqrt()
    shares = singular / singular.sum() + epsilon
    return Result(float((-torch.special.xlogy(shares, shares)).sum().exp()))


MEASURE = Measure(
    id="rankme",
    name="RankMe",
    family="spectrum",
    kind="single",
    authors="Garrido, Balestriero, Najman & LeCun",
    year=2023,
    title="RankMe: Assessing the downstream performance of pretrained self-supervised representations by their rank",
    formula=r"\exp\Big(-\sum_k p_k \log p_k\Big),\quad p_k = \sigma_k(X) / \lVert\sigma(X)\rVert_1 + \epsilon",
    range=(0.99, float("inf")),
    higher_means="more dimensions",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation"}),
    caveat="Not centred: a large common offset counts as one strong direction and lowers it.",
    parameters=(Parameter("epsilon", 1e-7, "added to each share", minimum=0.0, maximum=1e-3),),
    compute=compute,
)
