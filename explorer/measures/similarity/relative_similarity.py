"""Relative representations: describe each item by its cosines to shared anchors, then compare descriptions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from explorer.linalg import Undefined, centred, unit_rows
from explorer.measures.registry import Measure, Parameter, Preset


@dataclass(frozen=True)
class AnchoredState:
    """Unit rows (n, d), and the anchors that this representation would choose (positions of items)."""

    rows: torch.Tensor
    anchors: torch.Tensor


def prepare(x: torch.Tensor, anchors: str, count: int, normalized: bool, seed: int) -> AnchoredState:
    """Normalise once; ``normalized`` standardises each feature first (Garcia-Castellanos et al. 2024)."""
    values = x
    if normalized:
        values = centred(x)
        deviation = values.double().square().mean(dim=0).sqrt()
        varying = deviation > 1e-9 * deviation.max()
        if not bool(varying.any()):
            raise Undefined("all items are equal: nothing varies, so the measure has no value")
        values = values[:, varying] / deviation[varying].to(values.dtype)
    rows = unit_rows(values)
    return AnchoredState(rows, choose_anchors(rows, anchors, min(count, len(x)), seed))


def choose_anchors(rows: torch.Tensor, how: str, count: int, seed: int) -> torch.Tensor:
    """Positions of the anchor items."""
    n = len(rows)
    if how == "first":
        found = np.arange(count)
    elif how == "random":
        found = np.sort(np.random.default_rng(seed).choice(n, count, replace=False))
    elif how == "farthest":
        from explorer.homology import maxmin_landmarks

        found = maxmin_landmarks(rows, count, "euclidean", seed)[0]
    else:
        found = _nearest_to_centres(rows, count, seed)
    return torch.as_tensor(found, device=rows.device)


def _nearest_to_centres(rows: torch.Tensor, count: int, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    values = rows.double().cpu().numpy()
    distances = KMeans(count, n_init=1, random_state=seed).fit(values).transform(values)
    return np.unique(distances.argmin(axis=0))


def agree(sx: AnchoredState, sy: AnchoredState, **_: object) -> torch.Tensor:
    """Cosine between the two descriptions of each item (anchors as X chooses them)."""
    left, right = (s.rows @ s.rows[sx.anchors].T for s in (sx, sy))
    return torch.nn.functional.cosine_similarity(left.double(), right.double(), dim=1)


def compare(sx: AnchoredState, sy: AnchoredState, **_: object) -> float:
    """Mean over items."""
    return float(agree(sx, sy).mean())


def permute(state: AnchoredState, order: torch.Tensor) -> AnchoredState:
    """Reorder the items; anchors stay at their positions."""
    return AnchoredState(state.rows[order], state.anchors)


MEASURE = Measure(
    id="relative_similarity",
    name="Similarity of relative representations",
    family="similarity",
    kind="pairwise",
    authors="Moschella, Maiorca, Fumero, Norelli, Locatello & Rodolà; normalised by Garcia-Castellanos et al. (2024)",
    year=2023,
    title="Relative representations enable zero-shot latent space communication",
    formula=r"\frac{1}{n}\sum_i \cos(r^X_i, r^Y_i),\quad r_i = \big(\cos(x_i, x_a)\big)_{a \in A}",
    range=(-1.0, 1.0),
    higher_means="more alike",
    cost="n d A a pair for A anchors",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat=(
        "Depends on the anchors. Anisotropic representations agree trivially, since all cosines are large: the "
        "normalised variant or centring removes that. K-means and farthest-point anchors are chosen on the first side."
    ),
    parameters=(
        Parameter("anchors", "random", "how the shared anchors are chosen", ("random", "first", "kmeans", "farthest")),
        Parameter("count", 50, "how many anchors (at most all items)", minimum=1, maximum=10_000),
        Parameter("normalized", False, "standardise each feature before taking cosines"),
        Parameter("seed", 0, "seed of the choice", minimum=0, maximum=2**31 - 1),
    ),
    uses_item_order=True,
    prepare=prepare,
    compare=compare,
    permute=permute,
    agree=agree,
    presets=(
        Preset("Moschella 2023", {"anchors": "random", "count": 300, "normalized": False}, "300 random anchors"),
        Preset("Garcia-Castellanos 2024", {"anchors": "random", "normalized": True}, "features standardised first"),
    ),
)
