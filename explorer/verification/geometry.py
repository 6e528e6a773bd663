"""Reference cases of measures of one representation and of trajectories: stored values and closed forms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from explorer.verification.case import Case
from explorer.verification.inputs import gauss, polygon, reference, sphere, splitmix


def geometry_cases() -> Iterator[Case]:
    """All of them."""
    yield from _spectra()
    yield from _directions()
    yield from _stored_geometry()
    yield from _paths()
    yield from _bars()
    yield from _graphs()
    yield from _tasks()
    yield from _layers()


def _closed(measure: str, name: str, expected: float, tolerance: float = 1e-9, detail: str = "", **given: Any) -> Case:
    """A closed form; arguments that are arrays or lists are inputs, the others parameters."""
    inputs = {k: v for k, v in given.items() if isinstance(v, (np.ndarray, list))}
    params = {k: v for k, v in given.items() if k not in inputs}
    return Case(
        measure,
        params,
        "closed form",
        name,
        expected,
        tolerance,
        partial(dict, inputs),
        ("closed form",),
        detail=detail,
    )


def with_spectrum(eigenvalues: np.ndarray) -> np.ndarray:
    """Rows +-sqrt(lambda_i) e_i: mean zero, and a covariance with these eigenvalues up to one factor."""
    half = np.diag(np.sqrt(eigenvalues))
    return np.concatenate([half, -half])


def _spectra() -> Iterator[Case]:
    keys: dict[str, tuple[str, dict[str, Any]]] = {
        "participation_ratio": ("participation_ratio", {}),
        "von_neumann_entropy_nats": ("von_neumann_entropy", {}),
        "stable_rank": ("stable_rank", {}),
        "isoscore_covariance_form": ("isoscore_star", {}),
        "renyi2_entropy": ("matrix_entropy", {"alpha": 2.0}),
        "effective_rank_roy_vetterli_singular": ("effective_rank", {}),
    }
    for name, entry in reference("geometry-cases.json")["spectrum"]["cases"].items():
        x = with_spectrum(np.array(entry["eigenvalues"]))
        for key, (measure, params) in keys.items():
            agrees = ("IsoScore 2.0.1 to 1e-6",) if measure == "isoscore_star" else ("published formula",)
            yield Case(
                measure, params, "geometry-cases", f"{name}: {key}", entry[key], 1e-9,
                partial(dict, X=x), agrees,
            )  # fmt: skip
    share = 1 / 8 + 1e-7
    yield _closed("rankme", "8 orthonormal rows", math.exp(-8 * share * math.log(share)), X=np.eye(8))
    law = with_spectrum(np.arange(1, 201) ** -1.5)
    yield _closed("power_law_exponent", "variance falls as rank ^ -1.5", 1.5, X=law)


def _directions() -> Iterator[Case]:
    outlier = with_spectrum(np.array([100.0] + [1.0] * 15))
    yield _closed("outlier_dimensions", "one feature of 100 times the variance", 1.0, X=outlier)
    yield _closed("alignment_loss", "antipodal views", 4.0, X=np.eye(5), view=-np.eye(5))
    yield _closed("condensation", "two items at a right angle", math.pi / 4, share=1.0, X=np.eye(2))
    yield _closed("interference", "regular 20-gon", 18 / 19, X=polygon(20))
    yield _closed("interference", "orthonormal rows", 0.0, X=np.eye(6))
    yield _closed("orthogonality_capacity", "orthonormal rows, each twice", 1.0, X=np.concatenate([np.eye(6)] * 2))
    for name, points in (
        ("grid_5x5", np.array(list(itertools.product(range(5), repeat=2)), dtype=float)),
        ("regular_20gon", polygon(20)),
        ("simplex_6", np.eye(6)),
    ):
        held = reference("geometry-cases.json")["mst_length"][name]
        yield Case(
            "mst_length", {}, "geometry-cases", name, held["closed_form"], 1e-9,
            partial(dict, X=points), ("SciPy", "networkx", "closed form"),
        )  # fmt: skip


def _stored_geometry() -> Iterator[Case]:
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    yield _closed("lpca", "a plane in five dimensions", 2.0, k=20, X=np.pad(grid, ((0, 0), (0, 3))))
    for radius in (1.0, 2.0):
        yield _closed(
            "extrinsic_curvature", f"sphere of radius {radius:g}: Gaussian curvature", 1 / radius**2, 0.02,
            detail="mean_scalar", k=20, X=radius * sphere(12, 4000, 2),
        )  # fmt: skip
    grid = splitmix(61, 4000).reshape(2000, 2) * [2 * np.pi, 4]
    cylinder = np.stack([np.cos(grid[:, 0]), np.sin(grid[:, 0]), grid[:, 1]], axis=1)
    yield _closed("extrinsic_curvature", "cylinder: Gaussian curvature", 0.0, 0.02, detail="mean_scalar", X=cylinder)


def _paths() -> Iterator[Case]:
    stored = reference("geometry-cases.json")["trajectory_curvature"]
    for n in (6, 12, 24):
        yield Case(
            "trajectory_curvature", {"along": "items"}, "geometry-cases", f"regular {n}-gon",
            stored[f"regular_{n}gon_open"]["closed_form"], 1e-9, partial(dict, X=[polygon(n)]), ("closed form",),
        )  # fmt: skip
    line = np.outer(np.arange(9.0), [1.0, 2.0, 3.0])
    yield _closed("trajectory_curvature", "straight line", 0.0, along="items", X=[line])
    stairs = np.cumsum(np.array([[1.0, 0.0], [0.0, 1.0]] * 5), axis=0)
    yield _closed("trajectory_curvature", "staircase", math.pi / 2, along="items", X=[stairs])


def _bars() -> Iterator[Case]:
    n = 60
    birth, death = math.sin(math.pi / n), math.sin(math.pi * math.ceil(n / 3) / n)
    x, name = polygon(n), f"regular {n}-gon"
    for measure in ("total_persistence", "betti_curve", "circular_coordinates"):
        yield _closed(measure, name, death - birth, 1e-6, X=x)
    yield _closed("persistence_image", name, death - birth, 1e-6, sigma=1e-3, X=x)
    two = np.concatenate([polygon(24), polygon(24, 5)])
    yield _closed("persistence_entropy", "two 24-gons: two equal loops", math.log(2), 1e-6, X=two)
    other = math.sin(math.pi / 24)
    for measure in ("wasserstein", "bottleneck"):
        # One bar each, with the same death: they differ in birth.
        yield _closed(
            measure,
            "60 corners of a 60-gon, and of a 24-gon with repeats",
            other - birth,
            1e-6,
            X=x,
            Y=_repeated(24, n),
        )


def _repeated(corners: int, n: int) -> np.ndarray:
    return polygon(corners)[np.arange(n) % corners]


def _graphs() -> Iterator[Case]:
    def cycle(n: int) -> list[tuple[int, int]]:
        return [(i, (i + 1) % n) for i in range(n)]

    stored = reference("geometry-cases.json")["gromov_delta"]["cases"]
    graphs: dict[str, list[tuple[int, int]]] = {f"C{n}": cycle(n) for n in (4, 5, 6, 8, 9, 12)}
    graphs["tree_binary_depth3"] = [((i - 1) // 2, i) for i in range(1, 15)]
    for name, edges in graphs.items():
        yield Case(
            "gromov_delta", {"bases": 100}, "geometry-cases", name, stored[name]["relative_2delta_over_diam"], 1e-9,
            partial(dict, graph=np.array(edges)), ("two algorithms",),
        )  # fmt: skip
    cliques = [*itertools.combinations(range(5), 2), *itertools.combinations(range(5, 10), 2), (0, 5)]
    yield _closed("ricci_flow", "two cliques of five and a bridge", 20 / 21 - 0.5, graph=np.array(cliques))


def _tasks() -> Iterator[Case]:
    blocks = np.repeat(np.eye(3), 10, axis=0)
    labels = np.repeat(np.arange(3), 10)
    yield _closed("class_separability", "classes without any spread", 1.0, X=blocks, labels=labels)
    yield _closed("linear_probe", "classes without any spread", 1.0, X=blocks, labels=labels)
    yield _closed("category_geometry", "class means at the corners of a simplex", 1.0, X=blocks, labels=labels)
    twice = np.repeat(gauss(71, 30, 1), 2, axis=1)
    yield _closed("shesha", "two equal features", 1.0, splits=3, X=twice)
    certain = math.log(8) - math.log(1 + 7 * math.exp(-10))
    yield _closed("augmentation_invariance", "orthonormal items, equal views", certain, X=np.eye(8), views=np.eye(8))
    inside = np.pad(gauss(72, 60, 4), ((0, 0), (0, 12)))
    yield _closed(
        "readout_alignment", "items inside the readout's subspace", 1.0, detail="correlation", rank=4,
        X=inside, readout=np.eye(16)[:4],
    )  # fmt: skip
    parts = gauss(73, 20, 6)
    places = np.array([(i, j) for i in range(20) for j in range(i)][:60])
    whole = np.concatenate([parts, parts[places].sum(axis=1)])
    composed = np.column_stack([places, 20 + np.arange(60)])
    yield _closed("homomorphism_error", "sums of their parts", 0.0, X=whole, compositions=composed)
    factors = np.array(list(itertools.product(range(4), range(5))))
    additive = gauss(74, 4, 8)[factors[:, 0]] + gauss(75, 5, 8)[factors[:, 1]]
    yield _closed("linear_factorization", "sums of two factors", 1.0, X=additive, factors=factors)
    corners = gauss(76, 10, 5)
    offset = gauss(77, 1, 5)
    pairs = np.array([(i, i + 10, j, j + 10) for i in range(10) for j in range(i)])
    yield _closed(
        "parallelogram",
        "ten pairs with one offset",
        1.0,
        X=np.concatenate([corners, corners + offset]),
        analogies=pairs,
    )


def _layers() -> Iterator[Case]:
    x = gauss(81, 50, 6)
    turn = np.linalg.qr(gauss(82, 6, 6))[0]
    yield _closed("layer_velocity", "layers that only rotate", 0.0, X=[x, x @ turn, 3 * x @ turn @ turn])
    yield _closed("stabilisation", "layers that only rotate", 0.0, X=[x, x @ turn, x])
    yield _closed("layer_update", "a linear layer", 1.0, 1e-5, penalty=1e-9, X=[x, x + x @ gauss(83, 6, 6)])
    yield _closed("homogenisation", "from orthogonal to equal items", 1.0, X=[np.eye(5), np.ones((5, 5))])
