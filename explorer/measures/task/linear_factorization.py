"""Linear factorisation: is an item the sum of one vector for each of its factors?"""

from __future__ import annotations

import itertools

import numpy as np
import torch

from explorer.inputs import FACTORS
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, factors: np.ndarray, folds: int, seed: int) -> Result:
    """Variance explained by the sum of factor effects, on combinations of levels that were held out.

    ``details`` has the share that each factor explains alone and, for two factors or more, the largest cosine between
    their subspaces (0: orthogonal factors).
    """
    values = centred_and_scaled(x).double()
    _, combination = np.unique(factors, axis=0, return_inverse=True)
    combination = combination.reshape(-1)
    count = int(combination.max()) + 1
    if count < 2 * folds:
        raise Undefined(f"{count} combinations of levels are too few for {folds} folds; {2 * folds} are needed")
    group = torch.from_numpy((np.random.default_rng(seed).permutation(count) % folds)[combination]).to(x.device)
    coded = [_one_hot(factors[:, f]).to(x.device) for f in range(factors.shape[1])]
    design = torch.cat([torch.ones(len(x), 1, dtype=torch.float64, device=x.device), *coded], dim=1)
    error = total = 0.0
    for fold in range(folds):
        held = group == fold
        effects = torch.linalg.pinv(design[~held], rtol=1e-10) @ values[~held]
        error += float((values[held] - design[held] @ effects).square().sum())
        total += float((values[held] - values[~held].mean(dim=0)).square().sum())
    whole = torch.linalg.pinv(design, rtol=1e-10) @ values
    effects = torch.split(whole[1:], [c.shape[1] for c in coded])
    shares = [
        float((c @ (e - (c @ e).mean(dim=0))).square().sum() / values.square().sum()) for c, e in zip(coded, effects)
    ]
    details = {"factor_shares": np.array(shares), "combinations": count, "largest_cosine": _largest_cosine(effects)}
    return Result(1 - error / total, details=details)


def _one_hot(codes: np.ndarray) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.from_numpy(codes)).double()


def _largest_cosine(effects: tuple[torch.Tensor, ...]) -> float:
    bases = []
    for effect in effects:
        _, singular, right = torch.linalg.svd(effect - effect.mean(dim=0), full_matrices=False)
        bases.append(right[singular > 1e-8 * singular[0].clamp(min=1e-300)])
    pairs = [(a, b) for a, b in itertools.combinations(bases, 2) if len(a) and len(b)]
    return max((float(torch.linalg.svdvals(a @ b.T)[0]) for a, b in pairs), default=float("nan"))


MEASURE = Measure(
    id="linear_factorization",
    name="Linear factorisation",
    family="task",
    kind="single",
    authors="Trager, Perera, Zancato, Achille, Bhatia & Soatto (2023); held out as in Guo et al. (2025)",
    year=2023,
    title="Linear Spaces of Meanings: Compositional Structures in Vision-Language Models",
    formula=r"1 - \frac{\sum \lVert x - \mu - \sum_f e_f(x) \rVert^2}{\sum \lVert x - \bar x \rVert^2}",
    range=(-float("inf"), 1.0),
    higher_means="more compositional",
    cost="n d levels",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Below 0 where the effects do not carry over to new combinations. Few combinations make it noisy.",
    parameters=(
        Parameter("folds", 5, "folds over combinations of levels", minimum=2, maximum=50),
        Parameter("seed", 0, "seed of the folds", minimum=0, maximum=2**31),
    ),
    needs=(FACTORS,),
    min_items=4,
    uses_item_order=True,
    compute=compute,
)
