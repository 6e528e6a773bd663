"""Normalised Bures similarity: the fidelity of two centred Gram matrices."""

from __future__ import annotations

from explorer.measures.registry import Measure
from explorer.measures.similarity.procrustes import ProcrustesState, chord_squared, permute, prepare
from explorer.measures.similarity.procrustes import compare as procrustes


def compare(sx: ProcrustesState, sy: ProcrustesState) -> float:
    """The nuclear norm of X^T Y is tr((K^1/2 L K^1/2)^1/2), so no n x n matrix is needed (Harvey et al. 2024)."""
    return 1 - chord_squared(sx, sy) / 2


def explain(sx: ProcrustesState, sy: ProcrustesState) -> dict[str, float]:
    """The Bures distance of the Gram matrices, which is the Procrustes distance with the units kept."""
    return {"distance": procrustes(sx, sy, "size_and_shape")}


MEASURE = Measure(
    id="bures",
    name="Normalised Bures similarity",
    family="similarity",
    kind="pairwise",
    authors="Tang, Maddox, Dickens, Diethe & Damianou (2020); identity with Procrustes by Harvey, Larsen & Williams",
    year=2024,
    title="Duality of Bures and Shape Distances with Implications for Comparing Neural Representations",
    formula=r"\frac{\mathrm{tr}\big((K^{1/2} L K^{1/2})^{1/2}\big)}{\sqrt{\mathrm{tr}\,K\ \mathrm{tr}\,L}}",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The cosine of the Procrustes angle under another name. High for unrelated data when d is not well below n "
        "(0.68 at n = 1,000, d = 768): read it against chance."
    ),
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
)
