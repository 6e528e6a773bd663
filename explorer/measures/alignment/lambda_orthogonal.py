"""Lambda-orthogonal map: an affine map that may leave the rotations only so far."""

from __future__ import annotations

import torch

from explorer.mapping import LinearMap, map_measure
from explorer.measures.alignment import affine_map, orthogonal_map
from explorer.measures.registry import Parameter

PENALTY = 100.0
STEPS = 100


def fit(x: torch.Tensor, y: torch.Tensor, lam: float = 0.5) -> LinearMap:
    """Least squares while |W^T W - I|_F, per root of the width, stays below ``lam``.

    Both sides are scaled to the same mean length first. From the best rotation, L-BFGS descends the error plus a
    penalty on what exceeds the bound. 0 gives the rotation, a large bound the affine map.
    """
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    size_x, size_y = (x - mean_x).norm(), (y - mean_y).norm()
    a, b = (x - mean_x) / size_x, (y - mean_y) / size_y
    start = orthogonal_map.fit(a, b, scale=False).weight
    free = affine_map.fit(a, b).weight
    weight = start if lam == 0 else free if _excess(free, lam) <= 0 else _descend(a, b, start, lam)
    return LinearMap(weight * (size_y / size_x), mean_x, mean_y)


def _excess(weight: torch.Tensor, lam: float) -> torch.Tensor:
    """By how much the map leaves the rotations, beyond the bound; measured on its narrower side."""
    narrow = weight if weight.shape[1] <= weight.shape[0] else weight.T
    gram = narrow.T @ narrow
    identity = torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
    return (gram - identity).norm() / len(gram) ** 0.5 - lam


def _descend(a: torch.Tensor, b: torch.Tensor, start: torch.Tensor, lam: float) -> torch.Tensor:
    # The error needs only these products, so a step costs d^3 and not n d^2.
    within, across = a.T @ a, a.T @ b
    weight = start.clone().requires_grad_(True)
    optimizer = torch.optim.LBFGS(
        [weight], max_iter=STEPS, max_eval=STEPS + STEPS // 4, line_search_fn="strong_wolfe", tolerance_change=1e-12
    )

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        error = (weight * (within @ weight)).sum() - 2 * (weight * across).sum()
        total = error + PENALTY * _excess(weight, lam).clamp(min=0).square()
        total.backward()
        return total

    with torch.enable_grad():
        optimizer.step(loss)
    return weight.detach()


MEASURE = map_measure(
    fit,
    id="lambda_orthogonal",
    name="Lambda-orthogonal map, held out",
    authors="Ricci, Biondi, Pernici, Patras & Del Bimbo",
    year=2025,
    title="λ-Orthogonality Regularization for Compatible Representation Learning",
    formula=r"\min_W \lVert X_c W - Y_c\rVert_F^2\ \ \text{with}\ \ \lVert W^\top W - I\rVert_F / \sqrt{d} \le \lambda",
    cost="n d^2 + up to 125 d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "The source trains the map with a task loss; here it is fitted by least squares under the same relaxed "
        "constraint. 0 is the rotation, a large value the affine map."
    ),
    parameters=(Parameter("lam", 0.5, "how far W^T W may leave the identity", minimum=0.0, maximum=1000.0),),
)
