"""Persistence image: a diagram as a grid of numbers, to average and to compare."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import ndtr

from explorer.homology import rips
from explorer.measures.registry import Measure, Parameter, Result
from explorer.measures.topology.persistence import DEGREE, PARAMETERS


def image(bars: np.ndarray, sigma: float, resolution: int) -> np.ndarray:
    """Weighted Gaussians integrated over each pixel of [0, 1] x [0, 1] (birth, length): (resolution, resolution)."""
    edges = np.linspace(0, 1, resolution + 1)
    birth, length = bars[:, 0], bars[:, 1] - bars[:, 0]
    along_birth = np.diff(ndtr((edges[None] - birth[:, None]) / sigma), axis=1)
    along_length = np.diff(ndtr((edges[None] - length[:, None]) / sigma), axis=1)
    return np.einsum("j,ja,jb->ab", length, along_length, along_birth)


def compute(
    x: torch.Tensor, degree: int, sigma: float, resolution: int, metric: str, max_points: int, seed: int
) -> Result:
    """Total weight of the image; ``details["image"]`` has rows of length and columns of birth, both over the diameter."""
    found = rips(x, max(degree, 1), metric, max_points, seed)
    pixels = image(found.bars(degree), sigma, resolution)
    return Result(float(pixels.sum()), details={"image": pixels, "sigma": sigma}, notes=found.notes(len(x)))


MEASURE = Measure(
    id="persistence_image",
    name="Persistence image",
    family="topology",
    kind="single",
    authors="Adams, Emerson, Kirby, Neville, Peterson, Shipman, et al.",
    year=2017,
    title="Persistence Images: A Stable Vector Representation of Persistent Homology",
    formula=r"I(p) = \iint_p \sum_j (d_j - b_j)\, \mathcal N\big((b_j, d_j - b_j), \sigma^2\big)",
    range=(0.0, float("inf")),
    higher_means="more and longer bars",
    cost="that of persistence",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Depends on sigma; weight grows linearly with the length of a bar.",
    parameters=(
        DEGREE,
        Parameter("sigma", 0.02, "width of each Gaussian, over the diameter", minimum=1e-4, maximum=1.0),
        Parameter("resolution", 30, "pixels along each side", minimum=2, maximum=500),
        *PARAMETERS,
    ),
    min_items=3,
    compute=compute,
)
