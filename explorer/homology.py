"""Vietoris-Rips persistence: landmarks, distances, diagrams, cocycles and cycles. ripser and GUDHI reduce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from explorer.linalg import Undefined
from explorer.neighbors import metric_points, pairwise_distances
from explorer.sharing import once

PRIME = 47


@dataclass(frozen=True)
class Rips:
    """Diagrams of one representation.

    ``diagrams`` holds one (n_bars, 2) array a dimension, longest bar first; ``landmarks`` the positions of the items
    used; every item lies within ``radius`` of one. ``diameter`` is the largest distance between landmarks.
    """

    diagrams: list[np.ndarray]
    landmarks: np.ndarray
    radius: float
    diameter: float

    def notes(self, n: int) -> tuple[str, ...]:
        """A remark where landmarks stand for the items."""
        if len(self.landmarks) == n:
            return ()
        return (f"{len(self.landmarks)} of {n} items as landmarks, covering radius {self.radius:.3g}",)

    def bars(self, degree: int) -> np.ndarray:
        """The finite bars of one dimension over the diameter, longest first: (n_bars, 2)."""
        diagram = self.diagrams[degree]
        finite = diagram[np.isfinite(diagram[:, 1])] if len(diagram) else np.empty((0, 2))
        return finite / self.diameter if self.diameter > 0 else finite


def rips(x: torch.Tensor, max_dim: int, metric: str, max_points: int, seed: int) -> Rips:
    """Diagrams up to a dimension, on maxmin landmarks where there are more than ``max_points`` items."""
    return once(x, ("rips", max_dim, metric, max_points, seed), lambda: _rips(x, max_dim, metric, max_points, seed))


def _rips(x: torch.Tensor, max_dim: int, metric: str, max_points: int, seed: int) -> Rips:
    chosen, radius = landmarks(x, metric, max_points, seed)
    distances = filtration_distances(x[torch.from_numpy(chosen).to(x.device)], metric)
    found = _diagrams(distances, max_dim)
    ordered = [d[np.argsort(lifetimes(d), kind="stable")[::-1]] for d in found]
    return Rips(ordered, chosen, radius, float(distances.max()))


def _diagrams(distances: np.ndarray, max_dim: int) -> list[np.ndarray]:
    if max_dim < 2:
        from ripser import ripser

        return [
            np.asarray(d, dtype=np.float64) for d in ripser(distances, distance_matrix=True, maxdim=max_dim)["dgms"]
        ]
    # For voids GUDHI is ten times faster and needs a fraction of the memory.
    from gudhi.sklearn.rips_persistence import RipsPersistence

    tool = RipsPersistence(homology_dimensions=list(range(max_dim + 1)), input_type="full distance matrix", n_jobs=1)
    found = tool.fit_transform([distances])[0]
    return [np.asarray(d, dtype=np.float64).reshape(-1, 2) for d in found]


def landmarks(x: torch.Tensor, metric: str, max_points: int, seed: int) -> tuple[np.ndarray, float]:
    """All items, or maxmin landmarks where there are more than ``max_points``; positions and covering radius."""
    if len(x) <= max_points:
        return np.arange(len(x)), 0.0
    return maxmin_landmarks(x, max_points, metric, seed)


def maxmin_landmarks(x: torch.Tensor, count: int, metric: str, seed: int) -> tuple[np.ndarray, float]:
    """Choose items one by one, each farthest from those chosen; return positions and the covering radius.

    Every item lies within the covering radius of a landmark, so diagrams move by at most twice that radius
    (bottleneck distance). de Silva & Carlsson (2004), "Topological estimation using witness complexes".
    """
    points = metric_points(x, metric).double()
    chosen = [int(np.random.default_rng(seed).integers(len(points)))]
    nearest = (points - points[chosen[0]]).norm(dim=1)
    while len(chosen) < min(count, len(points)):
        chosen.append(int(nearest.argmax()))
        nearest = torch.minimum(nearest, (points - points[chosen[-1]]).norm(dim=1))
    return np.array(chosen), float(nearest.max())


def filtration_distances(x: torch.Tensor, metric: str) -> np.ndarray:
    """Distances that obey the triangle inequality: Euclidean, or the angle for cosine."""
    if metric == "euclidean":
        return pairwise_distances(x, "euclidean").cpu().numpy()
    chord = (2 * pairwise_distances(x, "cosine")).sqrt()
    angle = 2 * torch.arcsin((chord / 2).clamp(max=1))
    return angle.fill_diagonal_(0).cpu().numpy()


def lifetimes(diagram: np.ndarray) -> np.ndarray:
    """Death minus birth of every bar."""
    return diagram[:, 1] - diagram[:, 0] if len(diagram) else np.empty(0)


def longest(diagram: np.ndarray) -> float:
    """The longest finite lifetime, 0 for an empty diagram."""
    life = lifetimes(diagram)
    return float(life[np.isfinite(life)].max(initial=0.0))


def betti_curve(diagram: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """How many bars are alive at each radius: birth <= r < death."""
    births, deaths = np.sort(diagram[:, 0]), np.sort(diagram[:, 1])
    return np.searchsorted(births, radii, side="right") - np.searchsorted(deaths, radii, side="right")


def representative_cycle(distances: np.ndarray, birth: float) -> np.ndarray:
    """A loop that is born at ``birth``: the edge that closes it, and the shortest way round through shorter edges.

    Returns the positions in order round the loop (the last joins the first); empty where no edge closes a loop.
    """
    upper = np.triu_indices(len(distances), 1)
    edge = int(np.abs(distances[upper] - birth).argmin())
    start, stop = upper[0][edge], upper[1][edge]
    # Edges of the same length may be needed where many tie, as in a regular polygon; the closing one may not.
    shorter = np.where(distances <= distances[start, stop] * (1 + 1e-9), distances, 0.0)
    shorter[start, stop] = shorter[stop, start] = 0.0
    _, before = dijkstra(sparse.csr_array(shorter), directed=False, indices=start, return_predecessors=True)
    path = [int(stop)]
    while path[-1] != start:
        if before[path[-1]] < 0:
            return np.empty(0, dtype=np.int64)
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def circular_coordinate(
    distances: np.ndarray, degree_of_closing: float = 0.9
) -> tuple[np.ndarray, tuple[float, float]]:
    """An angle (radians) for each point from the longest H1 class, and that class's birth and death.

    The class over Z/47 is lifted to whole numbers and smoothed by least squares. de Silva, Morozov &
    Vejdemo-Johansson (2011), "Persistent Cohomology and Circular Coordinates".
    """
    from ripser import ripser

    found = ripser(distances, distance_matrix=True, maxdim=1, coeff=PRIME, do_cocycles=True)
    diagram = np.asarray(found["dgms"][1], dtype=np.float64)
    if not len(diagram):
        raise Undefined("there is no loop: no class of dimension 1")
    best = int(np.argmax(lifetimes(diagram)))
    birth, death = diagram[best]
    reach = birth + degree_of_closing * ((death if np.isfinite(death) else distances.max()) - birth)
    first, second = np.nonzero(np.triu(distances <= reach, 1))
    values = _lifted(found["cocycles"][1][best], len(distances))[first, second]
    smooth = _least_squares(first, second, values, len(distances))
    return np.mod(2 * np.pi * smooth, 2 * np.pi), (float(birth), float(death))


def _lifted(cocycle: np.ndarray, n: int) -> np.ndarray:
    """The cocycle as an antisymmetric matrix of whole numbers nearest to zero."""
    values = cocycle[:, 2].astype(np.int64) % PRIME
    values[values > PRIME // 2] -= PRIME
    lifted = np.zeros((n, n))
    lifted[cocycle[:, 0], cocycle[:, 1]] = values
    lifted[cocycle[:, 1], cocycle[:, 0]] = -values
    return lifted


def _least_squares(first: np.ndarray, second: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """The f whose differences along edges are nearest to the values: f[second] - f[first] = value."""
    rows = np.arange(len(first))
    difference = sparse.csr_array(
        (np.repeat([-1.0, 1.0], len(first)), (np.tile(rows, 2), np.concatenate([first, second]))), shape=(len(first), n)
    )
    return sparse.linalg.lsqr(difference, values, atol=1e-14, btol=1e-14)[0]
