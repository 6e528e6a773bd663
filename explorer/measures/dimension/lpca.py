"""Local PCA: how many directions carry variance in the neighbourhood of each item."""

from __future__ import annotations

import numpy as np
import torch

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import distinct_items, merged_note, nearest


def compute(x: torch.Tensor, k: int, threshold: float) -> Result:
    """Mean over items of the number of local eigenvalues above a share of the largest; ``items`` holds them."""
    points, kept = distinct_items(x)
    if len(points) <= k:
        raise Undefined(f"only {len(points)} of {len(x)} items differ; more than k = {k} are needed")
    spectra = local_spectra(points, nearest(points, k, "euclidean").index)
    local = (spectra > threshold * spectra[:, :1]).sum(dim=1).double()
    items = np.full(len(x), np.nan)
    items[kept.cpu().numpy()] = local.cpu().numpy()
    notes = merged_note(kept)
    most = min(k, x.shape[1])
    if float(local.mean()) > 0.8 * most and most < x.shape[1]:
        notes += (f"close to the most that k = {k} neighbours can show ({most}): take more neighbours",)
    return Result(float(local.mean()), items=items, details={"duplicates": int((~kept).sum())}, notes=notes)


def local_spectra(points: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Covariance eigenvalues of each item with its neighbours, descending: (n, min(k + 1, d)) float64."""
    n, k = index.shape
    d = points.shape[1]
    step = max(1, (1 << 22) // ((k + 1) * d))
    found = []
    for start in range(0, n, step):
        own = torch.arange(start, min(start + step, n), device=points.device)
        # Differences to the item itself are small numbers, which float32 products keep well enough for shares of variance.
        local = points[index[own]] - points[own][:, None]
        product = (local.transpose(1, 2) @ local if d <= k else local @ local.transpose(1, 2)).double()
        product = _centred_covariance(product, local) if d <= k else _centred_gram(product)
        found.append(torch.linalg.eigvalsh(product).flip(1).clamp(min=0))
    return torch.cat(found)


def _centred_covariance(product: torch.Tensor, local: torch.Tensor) -> torch.Tensor:
    """Scatter about the mean of the neighbours and the item itself, which lies at the origin."""
    total = local.double().sum(dim=1)
    return product - total[:, :, None] * total[:, None, :] / (local.shape[1] + 1)


def _centred_gram(product: torch.Tensor) -> torch.Tensor:
    """Doubly centred Gram matrix of the neighbours and the item itself."""
    whole = torch.nn.functional.pad(product, (1, 0, 1, 0))
    whole = whole - whole.mean(dim=1, keepdim=True)
    return whole - whole.mean(dim=2, keepdim=True)


MEASURE = Measure(
    id="lpca",
    name="Local PCA dimension",
    family="dimension",
    kind="single",
    authors="Fukunaga & Olsen",
    year=1971,
    title="An Algorithm for Finding Intrinsic Dimensionality of Data",
    formula=r"\frac1n\sum_i \#\{j : \lambda_j(i) > \alpha\,\lambda_1(i)\}",
    range=(0.0, float("inf")),
    higher_means="more dimensions",
    cost="n^2 d for the neighbours, n k^2 (d + k) for the spectra",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Needs k well above the dimension; curvature and noise inflate it, and the threshold decides.",
    parameters=(
        Parameter("k", 30, "number of neighbours", minimum=2, maximum=1000),
        Parameter("threshold", 0.05, "share of the largest local variance", minimum=1e-6, maximum=0.999),
    ),
    min_items=4,
    compute=compute,
    per_item=True,
    neighbours=lambda k, threshold: (k, "euclidean"),
)
