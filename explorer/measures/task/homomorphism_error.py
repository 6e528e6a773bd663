"""Homomorphism error: is the representation of a composed item a linear function of those of its parts?"""

from __future__ import annotations

import numpy as np
import torch

from explorer.inputs import COMPOSITIONS
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Result


def compute(
    x: torch.Tensor, compositions: np.ndarray, composition: str, penalty: float, folds: int, seed: int
) -> Result:
    """Squared error of the prediction over the variance of the composed items, on held-out compositions."""
    values = centred_and_scaled(x).double()
    first, second, whole = (values[torch.from_numpy(compositions[:, c]).to(x.device)] for c in range(3))
    m = len(whole)
    if m < 2 * folds:
        raise Undefined(f"{m} compositions are too few for {folds} folds; at least {2 * folds} are needed")
    spread = (whole - whole.mean(dim=0)).square().sum()
    if float(spread) == 0:
        raise Undefined("all composed items coincide")
    design = first + second if composition == "addition" else torch.cat([first, second], dim=1)
    groups = torch.from_numpy(np.random.default_rng(seed).permutation(m) % folds).to(x.device)
    errors = torch.empty(m, dtype=torch.float64, device=x.device)
    for fold in range(folds):
        held = groups == fold
        predicted = _predict(design[~held], whole[~held], design[held], composition, penalty)
        errors[held] = (whole[held] - predicted).square().sum(dim=1)
    value = float(errors.sum() / spread)
    return Result(value, details={"compositions": m, "each": (errors * m / spread).cpu().numpy()})


def _predict(
    seen: torch.Tensor, answers: torch.Tensor, asked: torch.Tensor, composition: str, penalty: float
) -> torch.Tensor:
    """One scale and a shift for addition, a ridge map of both parts otherwise."""
    middle, target = seen.mean(dim=0), answers.mean(dim=0)
    a, b = seen - middle, answers - target
    if composition == "addition":
        size = float(a.square().sum())
        return target + (asked - middle) * (float((a * b).sum()) / size if size > 0 else 0.0)
    gram = a @ a.T
    gram.diagonal().add_(penalty * float(gram.diagonal().mean()))
    return target + (asked - middle) @ a.T @ torch.linalg.solve(gram, b)


MEASURE = Measure(
    id="homomorphism_error",
    name="Homomorphism error",
    family="task",
    kind="single",
    authors="Andreas (2019); composition models of Nagar, Rawal, Dhanania & Tan (2025)",
    year=2019,
    title="Measuring Compositionality in Representation Learning",
    formula=r"\frac{\sum \lVert x_c - f(x_a, x_b) \rVert^2}{\sum \lVert x_c - \bar x_c \rVert^2}",
    range=(0.0, float("inf")),
    higher_means="less compositional",
    cost="m^2 d + m^3 for m compositions",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="1 is what the mean of the composed items gives. Parts that recur in several compositions leak between folds.",
    parameters=(
        Parameter("composition", "addition", "scaled sum of the parts, or a ridge map of both", ("addition", "linear")),
        Parameter("penalty", 0.1, "of the ridge map, over the mean squared norm", minimum=1e-9, maximum=1e6),
        Parameter("folds", 5, "folds of the cross-validation", minimum=2, maximum=50),
        Parameter("seed", 0, "seed of the folds", minimum=0, maximum=2**31),
    ),
    needs=(COMPOSITIONS,),
    min_items=3,
    uses_item_order=True,
    compute=compute,
)
