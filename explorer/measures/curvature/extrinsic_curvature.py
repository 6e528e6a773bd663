"""Extrinsic curvature: second fundamental form of the surface that the items sample, from local quadric fits."""

from __future__ import annotations

import numpy as np
import torch

from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Parameter, Result
from explorer.neighbors import CHUNK_ELEMENTS, distinct_items, merged_note, nearest


def compute(x: torch.Tensor, dimension: int, k: int) -> Result:
    """Mean over items of the norm of the second fundamental form; ``items`` holds the norms.

    ``details`` also has ``scalar``: each item's scalar curvature by Gauss' equation, halved where the dimension is 2,
    so that it is the Gaussian curvature of a surface.
    """
    terms = dimension + dimension * (dimension + 1) // 2
    if dimension >= x.shape[1]:
        raise Undefined(f"a surface of dimension {dimension} fills {x.shape[1]} features: nothing is left to bend into")
    points, kept = distinct_items(x)
    if k <= terms or len(points) <= k:
        raise Undefined(
            f"a quadric in {dimension} dimensions has {terms} terms; k = {k} neighbours of {len(points)} distinct items "
            "must be more than that"
        )
    norms, scalars = _curvatures(points, nearest(points, k, "euclidean").index, dimension)
    where = kept.cpu().numpy()
    items, scalar = np.full(len(x), np.nan), np.full(len(x), np.nan)
    items[where], scalar[where] = norms.cpu().numpy(), scalars.cpu().numpy()
    details = {"scalar": scalar, "mean_scalar": float(scalars.mean()), "terms": terms}
    return Result(float(norms.mean()), items=items, details=details, notes=merged_note(kept))


def _curvatures(points: torch.Tensor, index: torch.Tensor, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    n, k = index.shape
    step = max(1, CHUNK_ELEMENTS // (k * points.shape[1]))
    parts = [
        _fit(points, index[i : i + step], torch.arange(i, min(i + step, n), device=points.device), m)
        for i in range(0, n, step)
    ]
    return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])


def _fit(points: torch.Tensor, index: torch.Tensor, own: torch.Tensor, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Fit, at each item, the normal part of its neighbours by linear and quadratic terms of the tangent part."""
    local = (points[index] - points[own][:, None]).double()
    # Only the span of the k differences matters: work in coordinates of at most k dimensions.
    frame = torch.linalg.svd(local - local.mean(dim=1, keepdim=True), full_matrices=False).Vh
    coordinates = local @ frame.transpose(1, 2)
    tangent, normal = coordinates[:, :, :m], coordinates[:, :, m:]
    rows, columns = torch.triu_indices(m, m, device=points.device)
    quadratic = tangent[:, :, rows] * tangent[:, :, columns]
    scale = tangent.square().sum(dim=2).mean(dim=1).sqrt().clamp(min=torch.finfo(torch.float64).tiny)[:, None, None]
    design = torch.cat([tangent / scale, quadratic / scale**2], dim=2)
    solution = torch.linalg.pinv(design, rtol=1e-10) @ normal
    slope = solution[:, :m] / scale  # (items, m, normals)
    half = solution[:, m:] / scale**2
    hessian = torch.zeros(len(own), m, m, normal.shape[2], dtype=torch.float64, device=points.device)
    hessian[:, rows, columns] = half
    hessian = hessian + hessian.transpose(1, 2)
    return _second_fundamental_form(slope, hessian)


def _second_fundamental_form(slope: torch.Tensor, hessian: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Norm and scalar curvature of the graph t -> (t, f(t)) at t = 0, whose slope need not vanish."""
    m = slope.shape[1]
    metric = torch.eye(m, dtype=torch.float64, device=slope.device) + slope @ slope.transpose(1, 2)
    inverse = torch.linalg.inv(metric)
    # The normal part of a vector (0, h) above the graph: h (I - J^T g^-1 J) h.
    projector = (
        torch.eye(slope.shape[2], dtype=torch.float64, device=slope.device) - slope.transpose(1, 2) @ inverse @ slope
    )
    raised = torch.einsum("nab,nbcq,ncd->nadq", inverse, hessian, inverse)
    norm = torch.einsum("nadq,nqr,nadr->n", raised, projector, hessian).clamp(min=0)
    trace = torch.einsum("nab,nabq->nq", inverse, hessian)
    squared_trace = torch.einsum("nq,nqr,nr->n", trace, projector, trace)
    scalar = squared_trace - norm
    return norm.sqrt(), scalar / 2 if m == 2 else scalar


MEASURE = Measure(
    id="extrinsic_curvature",
    name="Extrinsic curvature (second fundamental form)",
    family="curvature",
    kind="single",
    authors="Cazals & Pouget; for single cells Sritharan, Wang & Hormoz (2021)",
    year=2005,
    title="Estimating differential quantities using polynomial fitting of osculating jets",
    formula=r"\lVert \mathrm{II} \rVert_F,\quad y_N \approx a^\top t + \tfrac12\, t^\top \mathrm{II}\, t",
    range=(0.0, float("inf")),
    higher_means="more bent",
    cost="n^2 d for the neighbours, n k^2 d for the fits",
    invariances=frozenset({"orthogonal", "translation", "feature_permutation"}),
    caveat=(
        "Has the unit 1 / length. The dimension is yours to set (see the dimension measures); k must be well above the "
        "number of terms, and noise blows up as 1 over the squared size of a neighbourhood."
    ),
    parameters=(
        Parameter("dimension", 2, "dimension of the surface", minimum=1, maximum=10),
        Parameter("k", 30, "number of neighbours", minimum=3, maximum=500),
    ),
    min_items=5,
    compute=compute,
    per_item=True,
    neighbours=lambda dimension, k: (k, "euclidean"),
)
