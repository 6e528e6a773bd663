"""Orthogonality capacity: how many items are nearly orthogonal to each other, against the dimension."""

from __future__ import annotations

import torch

from explorer.linalg import unit_rows
from explorer.measures.registry import Measure, Parameter, Result


def compute(x: torch.Tensor, tolerance: float) -> Result:
    """Size of a set chosen greedily (the item that rules out the fewest others first), over d; ``items`` marks it."""
    unit = unit_rows(x).double()
    crowded = torch.zeros(len(unit), device=x.device, dtype=torch.float64)
    for part in unit.split(1024):
        crowded += ((part @ unit.T).abs() > tolerance).sum(dim=0)
    free = torch.ones(len(unit), dtype=torch.bool, device=x.device)
    chosen = torch.zeros_like(free)
    # One turn a chosen item, of which there are hardly more than d.
    while bool(free.any()):
        item = int(torch.where(free, crowded, torch.inf).argmin())
        chosen[item] = True
        free &= (unit @ unit[item]).abs() <= tolerance
        free[item] = False
    count = int(chosen.sum())
    return Result(count / x.shape[1], items=chosen.double().cpu().numpy(), details={"directions": count})


MEASURE = Measure(
    id="orthogonality_capacity",
    name="Orthogonality capacity",
    family="isotropy",
    kind="single",
    authors="Elhage, Hume, Olsson, Schiefer, Henighan, Kravec, et al.",
    year=2022,
    title="Toy Models of Superposition",
    formula=r"\frac{1}{d}\max\{|S| : |\cos(x_i, x_j)| \le \epsilon\ \ \forall i \ne j \in S\}",
    range=(0.0, float("inf")),
    higher_means="more nearly orthogonal directions",
    cost="n^2 d",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "feature_permutation", "row_scaling"}),
    caveat="A greedy set, so a lower bound on the largest one; at most n / d.",
    parameters=(Parameter("tolerance", 0.2, "largest absolute cosine", minimum=0.0, maximum=0.999),),
    compute=compute,
    per_item=True,
)
