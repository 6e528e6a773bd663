"""Category geometry: are class means a regular simplex, and are levels of a hierarchy orthogonal?"""

from __future__ import annotations

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.inputs import LABELS, PARENTS
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Result
from explorer.measures.task.class_separability import class_means


def compute(x: torch.Tensor, labels: np.ndarray, parents: np.ndarray | None) -> Result:
    """1 minus the deviation of the distances between class means over their mean: 1 for a regular simplex.

    ``details`` has the distances and, where the class above each class is given, the mean absolute cosine between
    parents (from the centre) and children (from their parent): 0 where levels are orthogonal.
    """
    values = centred_and_scaled(x).double()
    means, _, _ = class_means(values, labels)
    if len(means) < 3:
        raise Undefined("two classes are always a simplex; at least three are needed")
    distances = torch.pdist(means)
    mean = float(distances.mean())
    if mean == 0:
        raise Undefined("all class means coincide")
    details: dict[str, object] = {"distances": distances.cpu().numpy(), "classes": len(means)}
    if parents is not None:
        details["hierarchical_cosine"] = _between_levels(values, means, labels, parents)
    return Result(1 - float(distances.std(unbiased=False)) / mean, details=details)


def _between_levels(values: torch.Tensor, means: torch.Tensor, labels: np.ndarray, parents: np.ndarray) -> float:
    pairs = np.unique(np.stack([labels, parents], axis=1), axis=0)
    if len(pairs) != len(means):
        raise ExplorerError("parents: a class lies under two different parents.")
    above, _, _ = class_means(values, parents)
    parent = above[torch.from_numpy(pairs[:, 1]).to(values.device)]
    cosine = torch.nn.functional.cosine_similarity(parent, means - parent, dim=1)
    usable = ((means - parent).norm(dim=1) > 0) & (parent.norm(dim=1) > 0)
    return float(cosine[usable].abs().mean()) if bool(usable.any()) else float("nan")


MEASURE = Measure(
    id="category_geometry",
    name="Category geometry",
    family="task",
    kind="single",
    authors="Park, Choe, Jiang & Veitch",
    year=2025,
    title="The Geometry of Categorical and Hierarchical Concepts in Large Language Models",
    formula=r"1 - \mathrm{sd}_{c<c'} \lVert \mu_c - \mu_{c'} \rVert\ /\ \mathrm{mean}_{c<c'} \lVert \mu_c - \mu_{c'} \rVert",
    range=(-float("inf"), 1.0),
    higher_means="closer to a regular simplex",
    cost="n d + classes^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Random directions in many dimensions are nearly a simplex, too: compare with shuffled labels.",
    needs=(LABELS, PARENTS),
    min_items=4,
    compute=compute,
)
