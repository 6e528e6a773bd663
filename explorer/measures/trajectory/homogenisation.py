"""Homogenisation: do items (tokens) become more alike with depth?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.measures.isotropy.mean_cosine import compute as mean_cosine
from explorer.measures.registry import Measure, Result


def compute(layers: Sequence[torch.Tensor]) -> Result:
    """Mean cosine of the last layer minus that of the first; ``details["mean_cosine"]`` holds every layer's."""
    if len(layers) < 2:
        raise ExplorerError("One layer has no depth; at least two are needed.")
    values = np.array([mean_cosine(layer).value for layer in layers])
    return Result(float(values[-1] - values[0]), details={"mean_cosine": values})


MEASURE = Measure(
    id="homogenisation",
    name="Token homogenisation",
    family="trajectory",
    kind="trajectory",
    authors="Wang, Zheng, Chen & Wang",
    year=2022,
    title="Anti-Oversmoothing in Deep Vision Transformers via the Fourier Domain Analysis: From Theory to Practice",
    formula=r"\overline{\cos}(X_L) - \overline{\cos}(X_1)",
    range=(-2.0, 2.0),
    higher_means="items become more alike",
    cost="layers x n d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="Driven by outlier dimensions and by a common offset. For tokens give the tokens of one text as items.",
    compute=compute,
)
