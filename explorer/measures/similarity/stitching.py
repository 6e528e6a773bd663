"""Stitching by direct matching: an affine map fitted on some items, judged on the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from explorer.linalg import centred, centred_and_scaled
from explorer.measures.registry import Measure, Parameter

RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


@dataclass
class StitchState:
    """Centred features (n, d) float64, and how the items are split."""

    features: torch.Tensor
    share: float
    seed: int
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def split(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Positions to fit on and positions to judge on."""
        n = len(self.features)
        order = torch.from_numpy(np.random.default_rng(self.seed).permutation(n)).to(self.features.device)
        cut = min(max(round(self.share * n), 2), n - 2)
        return order[:cut], order[cut:]

    @cached_property
    def factored(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Orthonormal basis of the training items (m, r), and the held-out items in its coordinates (n - m, r)."""
        train, test = self.split
        mean = self.features[train].mean(dim=0)
        left, singular, right = torch.linalg.svd(self.features[train] - mean, full_matrices=False)
        kept = singular > float(singular[0]) * max(self.features.shape) * 1e-12
        return left[:, kept], (self.features[test] - mean) @ right[kept].T / singular[kept]


def prepare(x: torch.Tensor, share: float, seed: int, **_: object) -> StitchState:
    """Centre; the map is fitted a pair."""
    centred_and_scaled(x)
    n, d = x.shape
    notes = (f"{round(share * n)} items fit {d} features: the map is not determined",) if share * n < d else ()
    return StitchState(centred(x).double(), share, seed, notes)


def _parts(sx: StitchState, sy: StitchState) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Coordinates of the fitted answers (r, d_y), the held-out predictors (n - m, r), the held-out answers."""
    train, test = sx.split
    mean = sy.features[train].mean(dim=0)
    left, held_out = sx.factored
    return left.T @ (sy.features[train] - mean), held_out, sy.features[test] - mean


def _score(predicted: torch.Tensor, answers: torch.Tensor) -> float:
    return 1 - float((answers - predicted).square().sum() / answers.square().sum())


def compare(sx: StitchState, sy: StitchState, rank: int, **_: object) -> float:
    """Held-out R2 of the least-squares map from X to Y, in full or of limited rank."""
    coordinates, held_out, answers = _parts(sx, sy)
    if rank > 0:
        right = torch.linalg.svd(coordinates, full_matrices=False)[2][:rank]
        coordinates = coordinates @ right.T @ right
    return _score(held_out @ coordinates, answers)


def explain(sx: StitchState, sy: StitchState, **_: object) -> dict[str, object]:
    """Held-out R2 for maps of growing rank, the full one last."""
    coordinates, held_out, answers = _parts(sx, sy)
    right = torch.linalg.svd(coordinates, full_matrices=False)[2]
    ranks = [r for r in RANKS if r < len(right)]
    scores = [_score(held_out @ (coordinates @ right[:r].T @ right[:r]), answers) for r in ranks]
    return {"ranks": [*ranks, len(right)], "r2": [*scores, _score(held_out @ coordinates, answers)]}


def permute(state: StitchState, order: torch.Tensor) -> StitchState:
    """Reorder the items."""
    return StitchState(state.features[order], state.share, state.seed, state.notes)


MEASURE = Measure(
    id="stitching",
    name="Stitching by direct matching",
    family="similarity",
    kind="pairwise",
    authors="Csiszárik, Kőrösi-Szabó, Matszangosz, Papp & Varga",
    year=2021,
    title="Similarity and Matching of Neural Network Representations",
    formula=r"1 - \frac{\lVert Y_{te} - \hat A X_{te}\rVert^2}{\lVert Y_{te} - \bar y_{tr}\rVert^2},\quad \hat A = \arg\min_A \lVert Y_{tr} - A X_{tr}\rVert",
    range=(-float("inf"), 1.0),
    higher_means="more alike",
    cost="n d^2 once a representation, n d^2 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Directed, from X to Y. No network is run behind the stitch: it is the error of the activations, not of a task. "
        "With fewer training items than features the smallest map is taken, and its error is large: use linear_predictivity."
    ),
    parameters=(
        Parameter("rank", 0, "rank of the map (0: full)", minimum=0, maximum=100_000),
        Parameter("share", 0.5, "share of the items that the map is fitted on", minimum=0.05, maximum=0.95),
        Parameter("seed", 0, "seed of the split", minimum=0, maximum=2**31 - 1),
    ),
    symmetric=False,
    uses_item_order=True,
    min_items=4,
    prepare=prepare,
    compare=compare,
    permute=permute,
    explain=explain,
)
