"""IsoScore*: how evenly the variance is spread over all directions of the space."""

from __future__ import annotations

import math

import torch

from explorer.linalg import Undefined, covariance_spectrum
from explorer.measures.registry import Measure, Parameter, Preset, Result


def isoscore(eigenvalues: torch.Tensor, d: int) -> float:
    """From covariance eigenvalues (padded with zeros to d) to [0, 1]."""
    spread = torch.zeros(d, dtype=torch.float64, device=eigenvalues.device)
    spread[: len(eigenvalues)] = eigenvalues[:d]
    spread = spread * math.sqrt(d) / spread.norm()
    defect = float((spread - 1).norm()) / math.sqrt(2 * (d - math.sqrt(d)))
    share = (d - defect**2 * (d - math.sqrt(d))) ** 2 / d**2
    return (d * share - 1) / (d - 1)


def compute(x: torch.Tensor, shrinkage: float) -> Result:
    """IsoScore of the covariance, whose eigenvalues may first be pulled towards their mean."""
    d = x.shape[1]
    if d < 2:
        raise Undefined("one feature has one direction; isotropy needs at least two")
    eigenvalues = covariance_spectrum(x)
    padded = torch.zeros(d, dtype=torch.float64, device=x.device)
    padded[: len(eigenvalues)] = eigenvalues
    value = isoscore((1 - shrinkage) * padded + shrinkage * padded.mean(), d)
    return Result(min(max(value, 0.0), 1.0))


MEASURE = Measure(
    id="isoscore_star",
    name="IsoScore*",
    family="isotropy",
    kind="single",
    authors="Rudman & Eickhoff (2024); IsoScore of Rudman, Gillman, Rayne & Eickhoff (2022)",
    year=2024,
    title="Stable Anisotropic Regularization",
    formula=r"\frac{d\,\varphi - 1}{d - 1},\ \varphi = \frac{(d - \delta^2 (d - \sqrt d))^2}{d^2},\ "
    r"\delta = \frac{\lVert \sqrt d\,\lambda / \lVert\lambda\rVert - 1 \rVert}{\sqrt{2 (d - \sqrt d)}}",
    range=(0.0, 1.0),
    higher_means="more isotropic",
    cost="n d min(n, d)",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Without shrinkage it is biased down unless n is well above d. The source shrinks towards the covariance of "
        "earlier batches; of one representation there is none, so ours shrinks towards equal variances."
    ),
    parameters=(Parameter("shrinkage", 0.0, "weight of equal variances", minimum=0.0, maximum=1.0),),
    presets=(Preset("IsoScore (2022)", {"shrinkage": 0.0}, "no shrinkage"),),
    compute=compute,
)
