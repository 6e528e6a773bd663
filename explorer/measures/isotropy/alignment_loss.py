"""Alignment of positive pairs: how far two views of an item lie apart on the unit sphere."""

from __future__ import annotations

import torch

from explorer.inputs import VIEW
from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, view: torch.Tensor, power: float) -> Result:
    """Mean distance between unit rows of the two views, to a power; ``items`` holds each item's."""
    distance = (unit_rows(x).double() - unit_rows(view).double()).norm(dim=1).pow(power)
    return Result(float(distance.mean()), items=distance.cpu().numpy())


MEASURE = Measure(
    id="alignment_loss",
    name="Alignment of positive pairs",
    family="isotropy",
    kind="single",
    authors="Wang & Isola",
    year=2020,
    title="Understanding Contrastive Representation Learning through Alignment and Uniformity on the Hypersphere",
    formula=r"\frac{1}{n}\sum_i \lVert u_i - u_i^{+} \rVert_2^{\alpha}",
    range=(0.0, float("inf")),
    higher_means="less invariant",
    cost="n d",
    invariances=frozenset({"orthogonal", "row_scaling", "isotropic_scaling", "feature_permutation"}),
    caveat="A collapsed representation has 0: read it beside uniformity.",
    parameters=(Parameter("power", 2.0, "alpha", minimum=0.1, maximum=10.0),),
    needs=(VIEW,),
    compute=compute,
    per_item=True,
)
