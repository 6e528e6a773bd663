"""Curvature of graphs: closed forms and the values of three exact programs."""

from __future__ import annotations

from itertools import combinations, product

import networkx
import numpy as np
import pytest

import explorer
from explorer.errors import ExplorerError
from explorer.verification.inputs import reference

CASES = reference("geometry-cases.json")["ollivier_ricci"]["graphs"]


def edges_of(name: str) -> np.ndarray:
    if name.startswith("K_3_3"):
        return np.array([(a, 3 + b) for a, b in product(range(3), range(3))])
    if name.startswith("K"):
        return np.array(list(combinations(range(int(name[1:])), 2)))
    if name.startswith("C"):
        n = int(name[1:])
        return np.array([(i, (i + 1) % n) for i in range(n)])
    makers = {
        "hypercube_Q3": lambda: networkx.hypercube_graph(3),
        "hypercube_Q4": lambda: networkx.hypercube_graph(4),
        "star_S5": lambda: networkx.star_graph(5),
        "binary_tree_depth3": lambda: networkx.balanced_tree(2, 3),
        "torus_grid_6x6": lambda: networkx.grid_2d_graph(6, 6, periodic=True),
        "grid_5x5": lambda: networkx.grid_2d_graph(5, 5),
        "barbell_5_5": lambda: networkx.barbell_graph(5, 0),
    }
    graph = networkx.convert_node_labels_to_integers(makers[name](), ordering="sorted")
    return np.array(graph.edges)


@pytest.mark.parametrize("name", list(CASES))
def test_exact_values(name: str) -> None:
    edges, entry = edges_of(name), CASES[name]
    for key, params in {"alpha_0.0": {"alpha": 0.0}, "alpha_0.5": {"alpha": 0.5}}.items():
        found = explorer.compute("ollivier_ricci", graph=edges, **params).edges["curvature"]
        for statistic in ("min", "max", "mean"):
            assert getattr(found, statistic)() == pytest.approx(entry[key][statistic], abs=1e-9)
        for pair, value in entry[key].get("edges", {}).items():
            u, v = map(int, pair.split("-"))
            row = int(np.flatnonzero((np.sort(edges, axis=1) == (u, v)).all(axis=1))[0])
            assert found[row] == pytest.approx(value, abs=1e-9)
    for key, augmented in {"forman_plain": False, "forman_augmented_triangles": True}.items():
        found = explorer.compute("forman_ricci", graph=edges, augmented=augmented).edges["curvature"]
        for statistic in ("min", "max", "mean"):
            assert getattr(found, statistic)() == pytest.approx(entry[key][statistic], abs=1e-12)


def test_karate_club() -> None:
    edges = np.array(networkx.karate_club_graph().edges)
    cases = reference("geometry.json")["ricci"]
    for alpha in (0.0, 0.5):
        found = explorer.compute("ollivier_ricci", graph=edges, alpha=alpha)
        entry = cases[f"karate_alpha{alpha}"]
        assert found.value == pytest.approx(entry["mean"], abs=1e-9)
        for pair, value in entry["first_edges"].items():
            u, v = map(int, pair.strip("()").split(","))
            row = found.edges.filter((found.edges["source"] == u) & (found.edges["target"] == v))
            assert row["curvature"][0] == pytest.approx(value, abs=1e-9)
    for key, augmented in {"karate_forman_1d": False, "karate_forman_augmented": True}.items():
        found = explorer.compute("forman_ricci", graph=edges, augmented=augmented)
        assert found.value == pytest.approx(cases[key]["mean"], abs=1e-12)


def test_two_components_and_any_node_ids() -> None:
    triangle = np.array([(700, 3), (3, 41), (700, 41)])
    other = np.array([(1000, 1001)])
    found = explorer.compute("ollivier_ricci", graph=np.concatenate([triangle, other]))
    assert found.edges["source"].to_list() == [700, 3, 700, 1000]
    assert found.edges["curvature"].to_list() == pytest.approx([0.75, 0.75, 0.75, 1.0])


def test_an_edge_listed_both_ways_counts_once() -> None:
    once = explorer.compute("ollivier_ricci", graph=[(0, 1), (1, 2), (2, 3)])
    twice = explorer.compute("ollivier_ricci", graph=[(0, 1), (1, 0), (1, 2), (2, 3)])
    assert twice.value == pytest.approx(once.value)
    assert twice.edges["curvature"][0] == twice.edges["curvature"][1]


def test_lengths_scale_away_and_differ_from_hops() -> None:
    edges = edges_of("grid_5x5")
    hops = explorer.compute("ollivier_ricci", graph=edges).edges["curvature"].to_numpy()
    equal = explorer.compute("ollivier_ricci", graph=edges, lengths=np.full(len(edges), 7.0))
    assert equal.edges["curvature"].to_numpy() == pytest.approx(hops, abs=1e-9)
    lengths = 1 + np.arange(len(edges)) / len(edges)
    uneven = explorer.compute("ollivier_ricci", graph=edges, lengths=lengths).edges["curvature"].to_numpy()
    assert np.abs(uneven - hops).max() > 0.01


@pytest.mark.parametrize(
    ("graph", "options", "words"),
    [
        ([(0, 0), (0, 1)], {}, "Edge 0 joins node 0 to itself"),
        ([(0, 1, 2)], {}, "shape (1, 3)"),
        (np.empty((0, 2), dtype=int), {}, "m of at least 1"),
        ([(0.5, 1.0)], {}, "integers are needed"),
        ([(0, 1)], {"lengths": [1.0, 2.0]}, "one length an edge"),
        ([(0, 1)], {"lengths": [-1.0]}, "above zero"),
        ([(0, 1), (1, 0)], {"lengths": [1.0, 2.0]}, "different lengths"),
    ],
)
def test_bad_graphs(graph: object, options: dict, words: str) -> None:
    with pytest.raises(ExplorerError) as caught:
        explorer.compute("ollivier_ricci", graph=graph, **options)
    assert words in str(caught.value)


def test_knn_graph_of_points() -> None:
    x = np.random.default_rng(0).normal(size=(120, 5))
    found = explorer.compute("ollivier_ricci", x, k=6)
    assert found.items.shape == (120,)
    assert found.value == pytest.approx(found.edges["curvature"].mean())
    assert found.edges["curvature"].max() <= 1
    first = found.edges.filter((found.edges["source"] == 0) | (found.edges["target"] == 0))
    assert found.items[0] == pytest.approx(first["curvature"].mean())
