"""Class separability: the share of the variance that lies between classes."""

from __future__ import annotations

import numpy as np
import torch

from explorer.inputs import LABELS
from explorer.linalg import centred_and_scaled
from explorer.measures.registry import Measure, Result


def class_means(x: torch.Tensor, labels: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean of each class (c, d) in float64, items a class (c,), and each item's class as a tensor."""
    codes = torch.from_numpy(labels).to(x.device)
    count = int(codes.max()) + 1
    sizes = torch.bincount(codes, minlength=count).double()
    sums = torch.zeros(count, x.shape[1], dtype=torch.float64, device=x.device).index_add_(0, codes, x.double())
    return sums / sizes[:, None], sizes, codes


def compute(x: torch.Tensor, labels: np.ndarray) -> Result:
    """Trace of the between-class over that of the total scatter.

    ``items`` is each item's margin: how much nearer its own class mean is than the nearest other one, from -1 to 1.
    ``details["chance"]`` is what random labels of the same sizes give on average.
    """
    values = centred_and_scaled(x).double()
    means, sizes, codes = class_means(values, labels)
    between = float((sizes[:, None] * means.square()).sum())
    total = float(values.square().sum())
    distance = torch.cdist(values, means, compute_mode="donot_use_mm_for_euclid_dist")
    own = distance.gather(1, codes[:, None])[:, 0]
    other = distance.scatter(1, codes[:, None], torch.inf).amin(dim=1)
    margin = (other - own) / torch.maximum(other, own).clamp(min=torch.finfo(torch.float64).tiny)
    details = {"chance": (len(means) - 1) / (len(values) - 1), "classes": len(means)}
    details["nearest_mean_accuracy"] = float((own < other).double().mean())
    return Result(min(between / total, 1.0), items=margin.cpu().numpy(), details=details)


MEASURE = Measure(
    id="class_separability",
    name="Class separability",
    family="task",
    kind="single",
    authors="Fisher; as a share of scatter after Fukunaga (1990)",
    year=1990,
    title="Introduction to Statistical Pattern Recognition",
    formula=r"\mathrm{tr}\,S_B / \mathrm{tr}\,S_T",
    range=(0.0, 1.0),
    higher_means="classes further apart",
    cost="n d classes",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Rises with the number of classes: chance is (c - 1) / (n - 1). Linear, and dominated by large variances.",
    needs=(LABELS,),
    min_items=3,
    compute=compute,
    per_item=True,
)
