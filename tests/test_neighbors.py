"""Neighbours: against brute force, ties, duplicates, precision, chunks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import neighbors
from explorer.errors import ExplorerError
from explorer.neighbors import count_duplicates, nearest, pairwise_distances


def brute(x: np.ndarray, k: int) -> np.ndarray:
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(d, np.inf)
    return np.argsort(np.round(d, 10), axis=1, kind="stable")[:, :k]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 80), d=st.integers(1, 6), whole=st.booleans())
def test_equals_brute_force_even_with_ties(seed: int, n: int, d: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (n, d)).astype(float) if whole else rng.standard_normal((n, d))
    k = min(4, n - 1)
    found = nearest(torch.from_numpy(x), k, "euclidean")
    assert np.sort(np.linalg.norm(x[:, None] - x[found.index.numpy()], axis=2), axis=1) == pytest.approx(
        found.distance.numpy(), abs=1e-9
    )
    if not whole or n <= 13:
        assert (found.index.numpy() == brute(x, k)).all()


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((300, 7)))
    whole = nearest(x, 9, "cosine")
    monkeypatch.setattr(neighbors, "CHUNK_ELEMENTS", 300 * 17)
    parts = nearest(x, 9, "cosine")
    assert (whole.index == parts.index).all() and torch.equal(whole.distance, parts.distance)


def test_float32_with_an_offset_keeps_the_smallest_distances() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((400, 20)).astype(np.float32)
    exact = nearest(torch.from_numpy(x.astype(float)), 5, "euclidean")
    single = nearest(torch.from_numpy(x), 5, "euclidean")
    assert (exact.index == single.index).all()
    assert single.distance.numpy() == pytest.approx(exact.distance.numpy(), rel=1e-5)


def test_cosine_distance_is_one_minus_cosine() -> None:
    x = np.random.default_rng(2).standard_normal((30, 4))
    found = nearest(torch.from_numpy(x), 3, "cosine")
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    expected = 1 - (unit[:, None] * unit[found.index.numpy()]).sum(-1)
    assert found.distance.numpy() == pytest.approx(expected, abs=1e-12)
    assert pairwise_distances(torch.from_numpy(x), "cosine").numpy() == pytest.approx(1 - unit @ unit.T, abs=1e-12)


def test_self_is_never_a_neighbour_and_duplicates_are_counted() -> None:
    x = torch.from_numpy(np.repeat(np.random.default_rng(3).standard_normal((20, 3)), 2, axis=0))
    x = torch.cat([x, torch.from_numpy(np.random.default_rng(4).standard_normal((60, 3)))])
    found = nearest(x, 4, "euclidean")
    assert not (found.index == torch.arange(100)[:, None]).any()
    assert count_duplicates(found) == 40


@pytest.mark.parametrize("k", [0, 10])
def test_k_out_of_range(k: int) -> None:
    with pytest.raises(ExplorerError, match="k must be 1 to 9"):
        nearest(torch.eye(10), k)


def test_distances_at_a_large_offset() -> None:
    x = np.random.default_rng(5).standard_normal((50, 8))
    shifted = torch.from_numpy((x + 1000).astype(np.float32))
    exact = np.linalg.norm(x[:, None] - x[None], axis=2)
    assert pairwise_distances(shifted).numpy() == pytest.approx(exact, abs=2e-3)
