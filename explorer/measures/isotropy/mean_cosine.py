"""Mean cosine between items: how narrow the cone is in which a representation lies (anisotropy)."""

from __future__ import annotations

import torch

from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Result


def compute(x: torch.Tensor) -> Result:
    """Mean over pairs, from the length of the sum of unit rows; ``items`` is each item's mean cosine to the others."""
    unit = unit_rows(x).double()
    n = len(unit)
    total = unit.sum(dim=0)
    value = float((total.square().sum() - unit.square().sum()) / (n * (n - 1)))
    items = (unit @ total - unit.square().sum(dim=1)) / (n - 1)
    return Result(min(max(value, -1.0), 1.0), items=items.cpu().numpy())


MEASURE = Measure(
    id="mean_cosine",
    name="Mean cosine (anisotropy)",
    family="isotropy",
    kind="single",
    authors="Ethayarajh",
    year=2019,
    title="How Contextual are Contextualized Word Representations?",
    formula=r"\frac{1}{n(n-1)}\sum_{i \ne j} \cos(x_i, x_j)",
    range=(-1.0, 1.0),
    higher_means="narrower cone",
    cost="n d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="One to three outlier dimensions often carry most of it; not invariant to shifting all items.",
    compute=compute,
    per_item=True,
)
