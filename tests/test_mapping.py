"""Maps: what each must recover exactly, what it must not pretend, and the universe of three and more."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import explorer
from explorer.errors import ExplorerError
from explorer.mapping import distance_change, retrieval, split
from explorer.measures.registry import registry
from explorer.verification.inputs import reference

MAPS = [m.id for m in registry().values() if m.fit is not None]


def related(n: int = 160, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two noisy views of six shared directions, of unequal widths."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 6))
    views = [shared @ rng.standard_normal((6, d)) + 0.3 * rng.standard_normal((n, d)) + 2 for d in (12, 18)]
    return views[0], views[1]


def orthogonal(d: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def test_all_maps_of_the_catalogue_are_there() -> None:
    wanted = {"orthogonal_map", "affine_map", "lambda_orthogonal", "ridge_map", "cca_map", "relative_map"}
    assert wanted == set(MAPS)
    assert {m.id for m in registry().values() if m.kind == "group"} == {"gpa", "gcpa"}


@pytest.mark.parametrize("measure", MAPS)
def test_a_turned_scaled_shifted_copy_is_found_again(measure: str) -> None:
    x, _ = related()
    params = {"variance": 1.0} if measure == "cca_map" else {}
    found = explorer.compute(measure, x, 2.5 * x @ orthogonal(12) - 7, **params)
    assert found.value == pytest.approx(1, abs=1e-9)
    assert found.details["top1_there"] == found.details["top1_back"] == 1
    if measure != "relative_map":  # it carries directions only
        assert found.details["r2"] == pytest.approx(1, abs=1e-4)
        assert found.details["distance_change"] == pytest.approx(0, abs=1e-2)


@pytest.mark.parametrize("measure", MAPS)
def test_related_views_are_found_and_unrelated_ones_are_chance(measure: str) -> None:
    x, y = related()
    found = explorer.compute(measure, x, y)
    chance = found.details["chance_mrr"]
    assert found.value > 5 * chance
    rng = np.random.default_rng(1)
    strangers = [explorer.compute(measure, x, rng.standard_normal((160, 18)), seed=seed).value for seed in range(5)]
    assert np.mean(strangers) < 2 * chance


@pytest.mark.parametrize("measure", MAPS)
def test_a_fitted_map_carries_new_items(measure: str) -> None:
    x, y = related()
    fitted = explorer.fit_map(measure, x[:100], y[:100])
    carried = fitted.apply(torch.from_numpy(x[100:]))
    assert carried.shape == (60, 18) and bool(torch.isfinite(carried).all())


@pytest.mark.parametrize("report", ["mrr", "top1", "top5", "r2"])
def test_the_reported_number_is_the_one_asked_for(report: str) -> None:
    x, y = related()
    found = explorer.compute("ridge_map", x, y, report=report)
    assert found.value == found.details[report]


def test_lambda_reaches_from_the_rotation_to_the_affine_map() -> None:
    x, y = (torch.from_numpy(v) for v in related())
    y = y[:, :12]
    errors = []
    for lam in (0.0, 0.2, 0.5, 1000.0):
        fitted = explorer.fit_map("lambda_orthogonal", x, y, lam=lam)
        errors.append(float((fitted.apply(x) - y).square().sum()))
    assert errors == sorted(errors, reverse=True)
    free = explorer.fit_map("affine_map", x, y)
    assert errors[-1] == pytest.approx(float((free.apply(x) - y).square().sum()), rel=1e-9)
    scaled = explorer.fit_map("lambda_orthogonal", x, y, lam=0.2)
    weight = scaled.weight * (x - x.mean(0)).norm() / (y - y.mean(0)).norm()
    left = (weight.T @ weight - torch.eye(12, dtype=torch.float64)).norm() / 12**0.5
    assert float(left) < 0.23


def test_retrieval_by_hand() -> None:
    gallery = torch.eye(4, dtype=torch.float64)
    queries = gallery[[0, 1, 3, 2]]
    assert retrieval(queries, gallery) == {"top1": 0.5, "top5": 1.0, "mrr": (1 + 1 + 1 / 4 + 1 / 4) / 4}
    collapsed = torch.ones(4, 4, dtype=torch.float64)
    assert retrieval(collapsed, gallery)["mrr"] == 0.25


def test_distances_are_kept_by_similarities_only() -> None:
    x = torch.from_numpy(related()[0])
    turned = 3 * x @ torch.from_numpy(orthogonal(12)) + 5
    assert distance_change(x, turned) == pytest.approx(0, abs=1e-12)
    assert distance_change(x, x * torch.linspace(0.1, 3, 12, dtype=torch.float64)) > 0.1


def test_the_split_parts_the_items() -> None:
    train, test = split(11, 0.5, 3)
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(11)) and len(test) >= 2


class TestUniverse:
    def layers(self) -> list[np.ndarray]:
        return [np.array(v) for v in reference("similarity-cases.json")["extra"]["gpa_M3"]["inputs"]]

    def test_stored_objective(self) -> None:
        expected = reference("similarity-cases.json")["extra"]["gpa_M3"]["objective_at_fixed_point"]
        found = explorer.compute("gpa", self.layers())
        assert found.details["objective"] == pytest.approx(expected, rel=1e-9)
        assert found.details["residuals"].sum() == pytest.approx(expected, rel=1e-9)
        assert found.value == pytest.approx(1 - expected / 3)

    def test_copies_agree_in_full(self) -> None:
        x, _ = related()
        copies = [x @ orthogonal(12, s) * (s + 1) + s for s in range(4)]
        found = explorer.compute("gpa", copies)
        assert found.value == pytest.approx(1, abs=1e-12)
        assert (found.details["mrr"] == 1).all()
        assert explorer.compute("gcpa", copies).value == 1

    def test_the_correction_helps_retrieval_where_models_have_noise_of_their_own(self) -> None:
        rng = np.random.default_rng(2)
        shared = rng.standard_normal((300, 5))
        layers = [
            shared @ rng.standard_normal((5, 25)) + 1.5 * rng.standard_normal((300, 8)) @ rng.standard_normal((8, 25))
            for _ in range(4)
        ]
        found = explorer.compute("gcpa", layers)
        off = ~np.eye(4, dtype=bool)
        assert found.value == pytest.approx(found.details["mrr"][off].mean())
        assert found.value > 1.1 * found.details["gpa_mrr"][off].mean()
        assert min(found.details["distance_change"]) > 0.01

    @pytest.mark.parametrize("measure", ["gpa", "gcpa"])
    def test_bad_lists(self, measure: str) -> None:
        x, y = related()
        with pytest.raises(ExplorerError, match="three representations or more, but 2"):
            explorer.compute(measure, [x, y])
        with pytest.raises(ExplorerError, match="a list of representations"):
            explorer.compute(measure, x)
        with pytest.raises(ExplorerError, match=r"X\[2\] has 150"):
            explorer.compute(measure, [x, y, x[:150]])


def test_a_measure_without_a_map_says_which_have_one() -> None:
    x, y = related()
    with pytest.raises(ExplorerError, match="cka fits no map; these do: .*ridge_map"):
        explorer.fit_map("cka", x, y)
