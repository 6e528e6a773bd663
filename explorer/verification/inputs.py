"""The inputs of the reference cases, drawn exactly as their recipes say."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np

from explorer.paths import reference_folder


@lru_cache(maxsize=16)
def reference(name: str) -> Any:
    """Read one of the stored reference files."""
    path = reference_folder() / name
    if name.endswith(".npz"):
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    return json.loads(path.read_text())


def supplement_inputs(case: str) -> tuple[np.ndarray, np.ndarray]:
    """The inputs of similarity-supplement.json, drawn as its recipe says."""
    if case == "tall":
        r = np.random.default_rng(0)
        x, w = r.standard_normal((40, 6)), r.standard_normal((6, 9))
        return x, x @ w + 0.5 * r.standard_normal((40, 9)) + 3
    if case == "wide":
        r = np.random.default_rng(1)
        z, a, b = r.standard_normal((12, 4)), r.standard_normal((4, 20)), r.standard_normal((4, 30))
        return z @ a + 0.3 * r.standard_normal((12, 20)), z @ b + 0.3 * r.standard_normal((12, 30)) - 1
    if case == "ties":
        r = np.random.default_rng(2)
        return r.integers(0, 4, (10, 3)).astype(float), r.integers(0, 4, (10, 3)).astype(float)
    if case == "independent":
        r = np.random.default_rng(3)
        return r.standard_normal((64, 32)), r.standard_normal((64, 48))
    raise KeyError(case)


def splitmix(seed: int, n: int) -> np.ndarray:
    """n uniforms in [0, 1) of the splitmix64 stream that the geometry cases are drawn from."""
    mask = (1 << 64) - 1
    state, out = seed, np.empty(n)
    for i in range(n):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out[i] = ((z ^ (z >> 31)) >> 11) * 2.0**-53
    return out


def gauss(seed: int, n: int, d: int) -> np.ndarray:
    """Standard normal numbers of that stream (Box-Muller, cosine branch)."""
    pairs = splitmix(seed, 2 * n * d).reshape(-1, 2)
    return (np.sqrt(-2 * np.log(1 - pairs[:, 0])) * np.cos(2 * np.pi * pairs[:, 1])).reshape(n, d)


def sphere(seed: int, n: int, d: int) -> np.ndarray:
    """Points of the unit sphere of dimension d."""
    points = gauss(seed, n, d + 1)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def ball(seed: int, n: int, d: int) -> np.ndarray:
    """Points of the unit ball of dimension d."""
    points = gauss(seed, n, d)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points * splitmix(seed + 1, n)[:, None] ** (1 / d)


def geometry_set(name: str) -> np.ndarray:
    """The point sets of geometry-cases.json."""
    n = 1000
    makers = {
        "circle_S1": lambda: sphere(11, n, 1),
        "sphere_S2": lambda: sphere(12, n, 2),
        "sphere_S5": lambda: sphere(13, n, 5),
        "sphere_S10": lambda: sphere(14, n, 10),
        "ball_2": lambda: ball(21, n, 2),
        "ball_5": lambda: ball(22, n, 5),
        "ball_10": lambda: ball(23, n, 10),
        "ball_20": lambda: ball(24, n, 20),
        "cube_5_pad20": lambda: np.pad(splitmix(31, n * 5).reshape(n, 5), ((0, 0), (0, 15))),
        "gauss_8_pad384": lambda: np.pad(gauss(41, n, 8), ((0, 0), (0, 376))),
        "swiss_roll": _swiss_roll,
        "clifford_torus_R4": _clifford,
        "circle_noise_pad384_s0.02": lambda: np.pad(sphere(53, n, 1), ((0, 0), (0, 382))) + 0.02 * gauss(54, n, 384),
        "ball_5_float32_dup50": _repeated_ball,
    }
    return makers[name]()


def _swiss_roll() -> np.ndarray:
    u = splitmix(51, 2000).reshape(1000, 2)
    t = 1.5 * np.pi * (1 + 2 * u[:, 0])
    return np.stack([t * np.cos(t), 21 * u[:, 1], t * np.sin(t)], axis=1)


def _clifford() -> np.ndarray:
    u = 2 * np.pi * splitmix(52, 2000).reshape(1000, 2)
    return np.stack([np.cos(u[:, 0]), np.sin(u[:, 0]), np.cos(u[:, 1]), np.sin(u[:, 1])], axis=1)


def _repeated_ball() -> np.ndarray:
    points = ball(22, 950, 5)
    return np.concatenate([points, points[:50]])


def polygon(n: int, centre: float = 0.0) -> np.ndarray:
    """Corners of a regular polygon on the unit circle."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(angle) + centre, np.sin(angle)], axis=1)


def point_shape(name: str) -> np.ndarray:
    """The point sets of the persistent homology cases."""
    if name.startswith("regular_"):
        return polygon(int(name.split("_")[1].removesuffix("gon")))
    if name == "cross_polytope_6_vertices":
        return np.concatenate([np.eye(3), -np.eye(3)])
    if name == "simplex_5_vertices":
        return np.eye(5)
    if name.startswith("two_24gons"):
        return np.concatenate([polygon(24), polygon(24, 5)])
    if name.startswith("figure_eight"):
        second = polygon(24, 2)
        return np.concatenate([polygon(24), np.delete(second, 12, axis=0)])
    i = np.arange(80) + 0.5
    phi, theta = np.arccos(1 - 2 * i / 80), np.pi * (1 + 5**0.5) * i
    return np.stack([np.cos(theta) * np.sin(phi), np.sin(theta) * np.sin(phi), np.cos(phi)], axis=1)
