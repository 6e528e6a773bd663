"""Sums of products of symmetric matrices under permutations, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer import shuffling


def squares(count: int, n: int, seed: int, dtype: torch.dtype) -> list[torch.Tensor]:
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(v + v.T).to(dtype) for v in rng.standard_normal((count, n, n))]


@pytest.mark.parametrize("n", [1, 2, 7, 64])
@pytest.mark.parametrize("cache", [1, 3000, 1 << 20])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_sums_are_those_of_the_definition(
    n: int, cache: int, dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "CACHE_BYTES", cache)
    xs, ys = squares(2, n, 0, dtype), squares(3, n, 1, dtype)
    before = [v.clone() for v in (*xs, *ys)]
    product = shuffling.shuffled_products(xs, ys)
    for seed in range(3):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(n))
        expected = [[float((x.double() * y.double()[order][:, order]).sum()) for y in ys] for x in xs]
        assert product(order).numpy() == pytest.approx(np.array(expected), abs=tolerance * n * n)
    assert all(bool((a == b).all()) for a, b in zip(before, (*xs, *ys))), "the given squares stay as they were"
