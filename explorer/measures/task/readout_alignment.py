"""Readout alignment (subspace PGA): does the geometry follow the directions that the readout looks at?"""

from __future__ import annotations

import numpy as np
import torch

from explorer.inputs import READOUT
from explorer.linalg import Undefined, centred_and_scaled
from explorer.measures.registry import Measure, Parameter, Result
from explorer.ranks import spearman


def compute(x: torch.Tensor, readout: torch.Tensor, rank: int, draws: int, max_points: int, seed: int) -> Result:
    """z of the correlation between the RDM and that of the projection, against random subspaces of the same rank.

    ``details`` has the correlation, those of the random subspaces, and the share of the variance in the subspace.
    """
    rng = np.random.default_rng(seed)
    values = centred_and_scaled(x).double()
    d = values.shape[1]
    rank = min(rank, d // 2, len(readout))
    if rank < 1:
        raise Undefined("one feature has no subspace to compare with")
    notes: tuple[str, ...] = ()
    if len(values) > max_points:
        values = values[torch.from_numpy(np.sort(rng.choice(len(values), max_points, replace=False))).to(x.device)]
        notes = (f"{max_points} of {len(x)} items, drawn at random",)
    moment = readout.double().T @ readout.double()
    basis = torch.linalg.eigh(moment).eigenvectors[:, -rank:]
    whole = torch.pdist(values)
    observed = spearman(whole, torch.pdist(values @ basis))
    random = np.array([spearman(whole, torch.pdist(values @ _random(d, rank, rng).to(x.device))) for _ in range(draws)])
    deviation = float(random.std(ddof=1))
    if not deviation > 0:
        raise Undefined("all random subspaces give the same correlation: there is no chance to compare with")
    share = float((values @ basis).square().sum() / values.square().sum())
    details = {"correlation": observed, "random": random, "variance_share": share, "rank": rank}
    return Result((observed - float(random.mean())) / deviation, details=details, notes=notes)


def _random(d: int, rank: int, rng: np.random.Generator) -> torch.Tensor:
    return torch.linalg.qr(torch.from_numpy(rng.standard_normal((d, rank)))).Q


MEASURE = Measure(
    id="readout_alignment",
    name="Readout alignment (subspace PGA)",
    family="task",
    kind="single",
    authors="after Subspace PGA",
    year=2026,
    title="Scale Determines Whether Language Models Organize Representation Geometry for Prediction",
    formula=r"z\big(\rho_S(\mathrm{RDM}(X),\ \mathrm{RDM}(X V_k))\big),\quad V_k: \text{top right singular vectors of } W_U",
    range=(-float("inf"), float("inf")),
    higher_means="geometry follows the readout",
    cost="(1 + draws) n^2 d, on max_points items",
    invariances=frozenset({"isotropic_scaling", "translation"}),
    caveat="A few dominant directions outside the readout mask it: look at it with and without outlier dimensions.",
    parameters=(
        Parameter("rank", 32, "directions of the readout (at most half of the features)", minimum=1, maximum=4096),
        Parameter("draws", 30, "random subspaces", minimum=5, maximum=1000),
        Parameter("max_points", 1000, "above this many items, a random sample", minimum=4, maximum=5000),
        Parameter("seed", 0, "seed of the sample and the subspaces", minimum=0, maximum=2**31),
    ),
    needs=(READOUT,),
    min_items=4,
    uses_item_order=True,
    compute=compute,
)
