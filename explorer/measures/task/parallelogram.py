"""Parallelogram: do analogies a : b = c : d share one offset?"""

from __future__ import annotations

import numpy as np
import torch

from explorer.inputs import ANALOGIES
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, analogies: np.ndarray, project_out: int) -> Result:
    """Mean cosine of b - a and d - c, after the strongest directions (distractors) are projected out.

    ``details`` has each analogy's cosine, and how often c + b - a is nearest to d (the other three left out).
    """
    values = centred_and_scaled(x).double()
    if project_out >= min(values.shape):
        raise Undefined(f"{project_out} directions are all there are in a {tuple(values.shape)} matrix")
    if project_out:
        right = torch.linalg.svd(values, full_matrices=False).Vh[:project_out]
        values = values - values @ right.T @ right
    places = torch.from_numpy(analogies).to(x.device)
    a, b, c, d = (values[places[:, i]] for i in range(4))
    cosines = torch.nn.functional.cosine_similarity(b - a, d - c, dim=1)
    cosines[((b - a).norm(dim=1) == 0) | ((d - c).norm(dim=1) == 0)] = torch.nan
    if bool(torch.isnan(cosines).all()):
        raise Undefined("every analogy has an offset of length zero")
    unit = torch.nn.functional.normalize(values, dim=1)
    similarity = torch.nn.functional.normalize(c + b - a, dim=1) @ unit.T
    similarity.scatter_(1, places[:, :3], -torch.inf)
    right_answers = similarity.argmax(dim=1) == places[:, 3]
    still = int(torch.isnan(cosines).sum())
    notes = (f"{still} analogies with an offset of length zero were left out",) if still else ()
    details = {"each": cosines.cpu().numpy(), "accuracy": float(right_answers.double().mean())}
    return Result(float(cosines.nanmean()), details=details, notes=notes)


MEASURE = Measure(
    id="parallelogram",
    name="Parallelogram (analogies)",
    family="task",
    kind="single",
    authors="Rumelhart & Abrahamson (1973); Mikolov, Yih & Zweig (2013)",
    year=2013,
    title="Linguistic Regularities in Continuous Space Word Representations",
    formula=r"\frac1m\sum \cos(x_b - x_a,\ x_d - x_c)",
    range=(-1.0, 1.0),
    higher_means="closer to parallelograms",
    cost="m n d for m analogies",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Offsets that share a dominant direction have a high cosine without meaning: compare with project_out above 0.",
    parameters=(Parameter("project_out", 0, "strongest directions to remove first", minimum=0, maximum=100),),
    needs=(ANALOGIES,),
    min_items=4,
    compute=compute,
)
