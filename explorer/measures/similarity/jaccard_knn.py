"""Jaccard similarity of neighbourhoods: shared neighbours over all neighbours of either."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from explorer.measures.registry import Measure
from explorer.neighbor_lists import METRIC, K, NeighbourState, permute, prepare, shared_counts


def compare_matrix(
    states_x: Sequence[NeighbourState], states_y: Sequence[NeighbourState], k: int, **_: object
) -> np.ndarray:
    """All pairs from the counts of shared neighbours c: the union holds 2 k - c."""
    counts = shared_counts(torch.stack([s.index for s in states_x]), torch.stack([s.index for s in states_y])).double()
    return (counts / (2 * k - counts)).mean(dim=2).cpu().numpy()


def compare(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> float:
    """One pair."""
    return float(compare_matrix([sx], [sy], k)[0, 0])


def agree(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> torch.Tensor:
    """Jaccard similarity item by item."""
    counts = shared_counts(sx.index[None], sy.index[None])[0, 0].double()
    return counts / (2 * k - counts)


def null_moments(sx: NeighbourState, sy: NeighbourState, k: int, **_: object) -> tuple[float, float]:
    """Exact mean under row permutations: the count of shared neighbours is then hypergeometric."""
    from scipy.stats import hypergeom

    counts = np.arange(k + 1)
    weights = hypergeom(len(sx.index) - 1, k, k).pmf(counts)
    return float((weights * counts / (2 * k - counts)).sum()), float("nan")


MEASURE = Measure(
    id="jaccard_knn",
    name="Jaccard similarity of k nearest neighbours",
    family="similarity",
    kind="pairwise",
    authors="Klabunde, Schumacher, Strohmaier & Lemmerich",
    year=2025,
    title="Similarity of Neural Network Models: A Survey of Functional and Representational Measures",
    formula=r"\frac{1}{n}\sum_i \frac{|N_k^X(i) \cap N_k^Y(i)|}{|N_k^X(i) \cup N_k^Y(i)|}",
    range=(0.0, 1.0),
    higher_means="more alike",
    cost="n^2 d once a representation, n k a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "A stricter reading of the same counts as mutual_knn: sharing half of the neighbours gives a third. Chance and "
        "the value fall as items are added, so compare only at equal n and k."
    ),
    parameters=(K, METRIC),
    min_items=3,
    prepare=prepare,
    compare=compare,
    compare_matrix=compare_matrix,
    permute=permute,
    null_moments=null_moments,
    agree=agree,
)
