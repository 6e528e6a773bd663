"""Canonical correlation analysis: the mean correlation of the best matched directions."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.linalg import centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Preset


@dataclass(frozen=True)
class BasisState:
    """An orthonormal basis (n, rank) of the span of the centred features."""

    basis: torch.Tensor
    notes: tuple[str, ...] = ()


def prepare(x: torch.Tensor, **_: object) -> BasisState:
    """Whiten once; directions below the rounding of the input do not count towards the rank."""
    values = centred_and_scaled(x).double()
    left, singular, _ = torch.linalg.svd(values, full_matrices=False)
    tolerance = float(singular[0]) * max(x.shape) * torch.finfo(x.dtype).eps
    basis = left[:, singular > tolerance]
    n, rank = basis.shape
    notes = (f"n = {n} is below 5 x {rank} dimensions: canonical correlations are inflated",) if n < 5 * rank else ()
    return BasisState(basis, notes)


def compare(sx: BasisState, sy: BasisState, summary: str, **_: object) -> float:
    """Mean canonical correlation, or mean squared (Yanai's form), over the smaller rank."""
    correlations = torch.linalg.svdvals(sx.basis.T @ sy.basis).clamp(max=1)
    return float(correlations.mean() if summary == "mean" else correlations.square().mean())


def permute(state: BasisState, order: torch.Tensor) -> BasisState:
    """Reorder the items."""
    return BasisState(state.basis[order], state.notes)


MEASURE = Measure(
    id="cca",
    name="Canonical correlation analysis (mean)",
    family="similarity",
    kind="pairwise",
    authors="Hotelling; for networks Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017)",
    year=1936,
    title="Relations Between Two Sets of Variates",
    formula=r"\frac{1}{r}\sum_{i=1}^{r} \sigma_i(U_X^\top U_Y), \quad r = \min(\mathrm{rank}\,X, \mathrm{rank}\,Y)",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n d^2 once a representation, n d^2 + d^3 a pair",
    invariances=frozenset(
        {"orthogonal", "isotropic_scaling", "translation", "feature_permutation", "invertible_linear"}
    ),
    caveat=(
        "Identically 1 when n does not exceed d, and inflated until n is several times d (0.82 for unrelated data at "
        "n = 1,000, d = 768): reduce by PCA first, or use CKA."
    ),
    parameters=(
        Parameter("summary", "mean", "mean correlation, or mean squared correlation", ("mean", "mean_squared")),
    ),
    min_items=3,
    prepare=prepare,
    compare=compare,
    permute=permute,
    presets=(
        Preset("Raghu 2017", {"summary": "mean"}, "mean canonical correlation"),
        Preset(
            "repsim, Yanai", {"summary": "mean_squared"}, "the mean of SQUARED correlations under the plain name CCA"
        ),
    ),
)
