"""Mutual kNN, Procrustes, CCA and RSA: limiting cases and traps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import explorer
from explorer.errors import ExplorerError
from explorer.measures.registry import registry
from explorer.verification.inputs import reference

RNG = np.random.default_rng(0)


def rotation(d: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def test_mutual_knn_of_itself_and_of_strangers() -> None:
    x, y = RNG.standard_normal((300, 10)), RNG.standard_normal((300, 10))
    assert explorer.compute("mutual_knn", x, x).value == 1
    assert explorer.compute("mutual_knn", x, y).value == pytest.approx(10 / 299, abs=0.02)


def test_mutual_knn_never_lists_self_among_duplicates() -> None:
    x = np.repeat(RNG.standard_normal((40, 4)), 3, axis=0)
    state = registry()["mutual_knn"].prepare(torch.from_numpy(x), k=5, metric="euclidean")
    assert not (state.index == torch.arange(120)[:, None]).any()


def test_mutual_knn_refuses_too_few_items() -> None:
    with pytest.raises(ExplorerError, match="k = 10 neighbours were asked for, but there are 8 items"):
        explorer.compute("mutual_knn", np.eye(8), np.eye(8))


def test_mutual_knn_matrix_equals_pairs() -> None:
    layers = [RNG.standard_normal((90, d)) for d in (3, 8, 20)]
    whole = explorer.similarity_matrix("mutual_knn", layers[:2], layers)
    pairs = [[explorer.compute("mutual_knn", a, b).value for b in layers] for a in layers[:2]]
    assert (whole == np.array(pairs)).all()


def test_procrustes_is_zero_for_a_rotated_copy_and_exact_just_beside_it() -> None:
    x = RNG.standard_normal((60, 12))
    assert explorer.compute("procrustes", x, 3 * x @ rotation(12) + 5).value == pytest.approx(0, abs=1e-12)
    noise = 1e-6 * RNG.standard_normal((60, 12))
    found = explorer.compute("procrustes", x, x + noise, form="size_and_shape").value
    centred = x - x.mean(0), (x + noise) - (x + noise).mean(0)
    upper = np.linalg.norm(centred[0] - centred[1])
    assert 0.5 * upper < found <= upper * (1 + 1e-9)


def test_procrustes_does_not_mind_zero_padding_or_wide_features() -> None:
    x, y = RNG.standard_normal((10, 40)), RNG.standard_normal((10, 25))
    padded = np.pad(y, ((0, 0), (0, 15)))
    for form in ("angular", "normalized", "size_and_shape"):
        a = explorer.compute("procrustes", x, y, form=form).value
        assert explorer.compute("procrustes", x, padded, form=form).value == pytest.approx(a, abs=1e-12)


def test_procrustes_residual_with_unequal_widths() -> None:
    x = RNG.standard_normal((50, 4))
    y = np.concatenate([x, 1e-4 * RNG.standard_normal((50, 2))], axis=1) @ rotation(6)
    found = explorer.compute("procrustes", x, y, form="size_and_shape").value
    a, b = x - x.mean(0), y - y.mean(0)
    nuclear = np.linalg.svd(a.T @ b, compute_uv=False).sum()
    assert found == pytest.approx(np.sqrt((a**2).sum() + (b**2).sum() - 2 * nuclear), rel=1e-5)


def test_procrustes_triangle_inequality() -> None:
    a, b, c = (RNG.standard_normal((30, 5)) for _ in range(3))
    d = explorer.similarity_matrix("procrustes", [a, b, c])
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-12


def test_cca_is_one_for_any_invertible_map_and_warns_when_n_is_small() -> None:
    x = RNG.standard_normal((200, 6))
    assert explorer.compute("cca", x, x @ RNG.standard_normal((6, 6)) + 3).value == pytest.approx(1, abs=1e-10)
    found = explorer.compute("cca", RNG.standard_normal((12, 20)), RNG.standard_normal((12, 20)))
    assert found.value == pytest.approx(1, abs=1e-9)
    assert "inflated" in found.notes[0]


def test_rsa_whitened_cosine_is_the_explicit_whitening() -> None:
    """Diedrichsen et al. (2021): the covariance of the pair differences is (C C')^2 elementwise."""
    n = 7
    x, y = RNG.standard_normal((n, 3)), RNG.standard_normal((n, 4))
    i, j = np.triu_indices(n, 1)
    contrast = np.zeros((len(i), n))
    contrast[np.arange(len(i)), i], contrast[np.arange(len(i)), j] = 1, -1
    precision = np.linalg.inv((contrast @ contrast.T) ** 2)
    for distance, power in (("euclidean", 1), ("sqeuclidean", 2)):
        a, b = (np.linalg.norm(v[i] - v[j], axis=1) ** power for v in (x, y))
        explicit = a @ precision @ b / np.sqrt((a @ precision @ a) * (b @ precision @ b))
        found = explorer.compute("rsa", x, y, distance=distance, comparison="whitened_cosine").value
        assert found == pytest.approx(explicit, abs=1e-10)


def test_rsa_quantises_before_ranking() -> None:
    entry = reference("similarity-cases.json")["cases"]["C_integer_ties"]
    expected = reference("similarity-cases.json")["extra"]["tie_roundoff_C_correlation_distance"]
    x, y = np.array(entry["X"]), np.array(entry["Y"])
    assert explorer.compute("rsa", x, y).value == pytest.approx(
        expected["spearman_after_rounding_distances_to_10_decimals"], abs=1e-9
    )
    assert explorer.compute("rsa", x, y, comparison="kendall_b").value == pytest.approx(
        expected["kendall_b_after_rounding"], abs=1e-9
    )


def test_rsa_constant_row_is_nan_with_its_place() -> None:
    x = RNG.standard_normal((6, 4))
    x[3] = 2.0
    found = explorer.compute("rsa", x, RNG.standard_normal((6, 4)))
    assert np.isnan(found.value)
    assert "item 3 has the same value in every feature" in found.notes[0]


def test_rsa_correlation_distance_depends_on_the_basis() -> None:
    x, y = RNG.standard_normal((30, 8)), RNG.standard_normal((30, 8))
    plain = explorer.compute("rsa", x, y).value
    assert abs(explorer.compute("rsa", x @ rotation(8), y).value - plain) > 1e-3


def test_rsa_mahalanobis_ignores_the_scale_of_a_feature() -> None:
    x, y = RNG.standard_normal((400, 3)), RNG.standard_normal((400, 3))
    stretched = x * np.array([1.0, 1.0, 1.5])
    options = {"distance": "mahalanobis", "comparison": "pearson"}
    assert explorer.compute("rsa", x, stretched, **options).value > 0.99
    assert explorer.compute("rsa", x, y, **options).value < 0.1


@pytest.mark.parametrize("comparison", ["spearman", "pearson", "kendall_a", "rho_a", "whitened_cosine"])
def test_rsa_permuted_states_equal_permuted_rows(comparison: str) -> None:
    measure = registry()["rsa"]
    x, y = (torch.from_numpy(RNG.standard_normal((25, 4))) for _ in range(2))
    params = measure.resolve({"distance": "euclidean", "comparison": comparison})
    order = torch.from_numpy(np.random.default_rng(1).permutation(25))
    moved = measure.compare(
        measure.prepare(x, **params), measure.permute(measure.prepare(y, **params), order), **params
    )
    direct = measure.compare(measure.prepare(x, **params), measure.prepare(y[order], **params), **params)
    assert moved == pytest.approx(direct, abs=1e-12)
