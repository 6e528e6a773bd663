"""Circular coordinates: an angle for each item from the clearest loop."""

from __future__ import annotations

import numpy as np
import torch

from explorer.homology import circular_coordinate, filtration_distances, landmarks
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Result
from explorer.measures.topology.persistence import PARAMETERS
from explorer.neighbors import metric_points


def compute(x: torch.Tensor, metric: str, max_points: int, seed: int) -> Result:
    """Length of the loop's bar over the diameter; ``items`` holds angles in [0, 2 pi).

    An item that is no landmark takes the angle of the nearest one.
    """
    chosen, radius = landmarks(x, metric, max_points, seed)
    places = torch.from_numpy(chosen).to(x.device)
    distances = filtration_distances(x[places], metric)
    diameter = float(distances.max())
    if diameter == 0:
        raise Undefined("all items coincide: there is no loop")
    angles, (birth, death) = circular_coordinate(distances)
    death = death if np.isfinite(death) else diameter
    notes: tuple[str, ...] = ()
    if len(chosen) < len(x):
        points = metric_points(x, metric).double()
        angles = angles[torch.cdist(points, points[places]).argmin(dim=1).cpu().numpy()]
        notes = (f"{len(chosen)} of {len(x)} items as landmarks, covering radius {radius:.3g}",)
    return Result((death - birth) / diameter, items=angles, details={"birth": birth, "death": death}, notes=notes)


MEASURE = Measure(
    id="circular_coordinates",
    name="Circular coordinates",
    family="topology",
    kind="single",
    authors="de Silva, Morozov & Vejdemo-Johansson; Perea (2020)",
    year=2011,
    title="Persistent Cohomology and Circular Coordinates",
    formula=r"\theta = 2\pi f \bmod 2\pi,\quad f = \arg\min \lVert \eta - \delta f \rVert",
    range=(0.0, 1.0),
    higher_means="clearer loop",
    cost="that of persistence, and a sparse least-squares problem over its edges",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Gives angles whether or not there is a loop: believe them only where the bar stands out from noise.",
    parameters=PARAMETERS,
    min_items=4,
    compute=compute,
    per_item=True,
)
