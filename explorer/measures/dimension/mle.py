"""Maximum likelihood dimension (Levina & Bickel) with the MacKay-Ghahramani average, and local values."""

from __future__ import annotations

import numpy as np
import torch

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import distinct_items, merged_note, nearest


def compute(x: torch.Tensor, k: int) -> Result:
    """Average the inverse local estimates over the items; ``items`` holds the local dimensions."""
    points, kept = distinct_items(x)
    if len(points) <= k:
        raise Undefined(f"only {len(points)} of {len(x)} items differ; more than k = {k} are needed")
    distance = nearest(points, k, "euclidean").distance
    tiny = 1e-6 * distance[:, 0].median()
    logs = torch.log(distance.clamp(min=float(tiny)))
    inverse = (logs[:, -1:] - logs[:, :-1]).mean(dim=1)
    mean_inverse = float(inverse.mean())
    if mean_inverse <= 0:
        raise Undefined("all neighbours are equally far: there is no growth to measure")
    items = np.full(len(x), np.nan)
    items[kept.cpu().numpy()] = (1 / inverse).cpu().numpy()
    return Result(1 / mean_inverse, items=items, details={"duplicates": int((~kept).sum())}, notes=merged_note(kept))


MEASURE = Measure(
    id="mle",
    name="Maximum likelihood dimension",
    family="dimension",
    kind="single",
    authors="Levina & Bickel; average after MacKay & Ghahramani (2005)",
    year=2004,
    title="Maximum Likelihood Estimation of Intrinsic Dimension",
    formula=r"\hat d = \Big[\frac{1}{n}\sum_i \frac{1}{k-1}\sum_{j<k} \log\frac{r_k(i)}{r_j(i)}\Big]^{-1}",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Biased down in high dimension (13 to 14 for a ball of 20 dimensions at n = 1,000). Equal items are merged "
        "and counted, since one repeated item drives other implementations to 0."
    ),
    parameters=(Parameter("k", 20, "number of neighbours", minimum=2, maximum=1000),),
    min_items=4,
    compute=compute,
    neighbours=lambda k: (k, "euclidean"),
    per_item=True,
)
