"""CCA map: through the directions on which the two representations correlate most."""

from __future__ import annotations

import torch

from explorer.linalg import Undefined
from explorer.mapping import LinearMap, map_measure
from explorer.measures.registry import Parameter


def fit(x: torch.Tensor, y: torch.Tensor, components: int = 0, variance: float = 0.95) -> LinearMap:
    """Predict y from the canonical variates of x, each shrunken by its correlation.

    Both sides are first reduced to the principal components that hold the share of variance: without that the
    correlations are 1 as soon as there are fewer items than features.
    """
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    (basis_x, back_x), (basis_y, back_y) = _whitened(x - mean_x, variance), _whitened(y - mean_y, variance)
    left, correlation, right = torch.linalg.svd(basis_x.T @ basis_y, full_matrices=False)
    kept = slice(None if components == 0 else components)
    # x = basis_x @ inverse(back_x), so variates of x come from x by back_x.
    weight = back_x @ left[:, kept] * correlation[kept].clamp(max=1) @ right[kept] @ torch.linalg.pinv(back_y)
    return LinearMap(weight, mean_x, mean_y)


def _whitened(values: torch.Tensor, variance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """An orthonormal basis (n, r) of the leading components, and the matrix (d, r) that gives it from the features."""
    left, singular, right = torch.linalg.svd(values, full_matrices=False)
    if float(singular[0]) == 0:
        raise Undefined("the fitted items are all equal: there is nothing to map")
    share = singular.square().cumsum(0) / singular.square().sum()
    kept = int((share < variance - 1e-12).sum()) + 1
    kept = min(kept, int((singular > singular[0] * 1e-10).sum()))
    return left[:, :kept], right[:kept].T / singular[:kept]


MEASURE = map_measure(
    fit,
    id="cca_map",
    name="CCA map, held out",
    authors="Hotelling",
    year=1936,
    title="Relations Between Two Sets of Variates",
    formula=r"\hat Y = X_c W_X\,\mathrm{diag}(\rho)\,W_Y^{+} + \bar y",
    cost="n d^2 + d^3 a pair",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat=(
        "Gives every shared direction the same weight whatever its variance, which helps retrieval and distorts "
        "distances. The share of variance that is kept decides between signal and noise."
    ),
    parameters=(
        Parameter("components", 0, "how many canonical directions (0: all)", minimum=0, maximum=100_000),
        Parameter("variance", 0.95, "share of variance kept on each side first", minimum=0.01, maximum=1.0),
    ),
)
