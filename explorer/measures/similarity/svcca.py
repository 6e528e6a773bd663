"""SVCCA: canonical correlations of the principal components that hold most of the variance."""

from __future__ import annotations

import torch

from explorer.linalg import centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset
from explorer.measures.similarity.cca import BasisState, compare, permute


def prepare(x: torch.Tensor, variance: float, **_: object) -> BasisState:
    """Keep the smallest number of components that reach the share of VARIANCE (not of summed singular values)."""
    left, singular, _ = torch.linalg.svd(centred_and_scaled(x).double(), full_matrices=False)
    share = singular.square().cumsum(0) / singular.square().sum()
    kept = int((share < variance - 1e-12).sum()) + 1
    # Directions below the rounding of the input are noise even when all variance is asked for.
    kept = min(kept, int((singular > float(singular[0]) * max(x.shape) * torch.finfo(x.dtype).eps).sum()))
    n = len(x)
    notes = [f"{kept} of {min(x.shape)} components hold {float(share[kept - 1]):.1%} of the variance"]
    if n < 5 * kept:
        notes.append(f"n = {n} is below 5 x {kept} kept dimensions: canonical correlations are inflated")
    return BasisState(left[:, :kept], tuple(notes))


def explain(sx: BasisState, sy: BasisState, **_: object) -> dict[str, int]:
    """How many components each side kept."""
    return {"kept_x": sx.basis.shape[1], "kept_y": sy.basis.shape[1]}


MEASURE = Measure(
    id="svcca",
    name="Singular vector canonical correlation analysis (SVCCA)",
    family="similarity",
    kind="pairwise",
    authors="Raghu, Gilmer, Yosinski & Sohl-Dickstein",
    year=2017,
    title="SVCCA: Singular Vector Canonical Correlation Analysis for Deep Learning Dynamics and Interpretability",
    formula=r"\frac{1}{r}\sum_{i=1}^{r}\sigma_i\big(U_X^{(p)\top} U_Y^{(q)}\big),\quad r = \min(p, q)",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n d^2 once a representation, n d^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Inflated until n is several times the number of kept components, and the mean runs over the smaller side: a "
        "layer with few components that agree scores high. State the share of variance beside the number."
    ),
    parameters=(
        Parameter("variance", 0.99, "share of variance that the kept components hold", minimum=0.01, maximum=1.0),
        Parameter("summary", "mean", "mean correlation, or mean squared correlation", ("mean", "mean_squared")),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
    presets=(Preset("Raghu 2017", {"variance": 0.99, "summary": "mean"}, "ReSi's code keeps one component instead"),),
)
