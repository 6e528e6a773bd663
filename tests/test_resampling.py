"""Intervals over items and gallery curves."""

from __future__ import annotations

import numpy as np
import pytest

import explorer
from explorer.errors import ExplorerError
from explorer.measures.registry import registry
from explorer.resampling import gallery_curve, interval


def related(n: int, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Items of one population: two fixed views of five shared directions; the seed draws the items only."""
    views = np.random.default_rng(99).standard_normal((2, 5, 12))
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 5))
    x, y = (shared @ view + noise * rng.standard_normal((n, 12)) for view in views)
    return x, y


@pytest.mark.parametrize("measure", [m for m in registry().values() if m.agree is not None], ids=lambda m: m.id)
def test_items_average_to_the_value(measure) -> None:  # type: ignore[no-untyped-def]
    x, y = related(60)
    found = explorer.compute(measure.id, x, y)
    assert found.items is not None and found.items.shape == (60,)
    if measure.agree_is_mean:
        assert found.items.mean() == pytest.approx(found.value, abs=1e-9)


def test_biased_contributions_too() -> None:
    x, y = related(40)
    for params in ({"estimator": "biased"}, {"kernel": "rbf"}):
        found = explorer.compute("cka", x, y, **params)
        assert found.items is not None and found.items.mean() == pytest.approx(found.value, abs=1e-9)


def test_an_item_that_was_exchanged_is_the_one_that_disagrees() -> None:
    x, _ = related(80, noise=0.2)
    y = x.copy()
    y[7] = -3 * x[7]
    for measure in ("mutual_knn", "cka", "rsa"):
        items = explorer.compute(measure, x, y, **({"distance": "euclidean"} if measure == "rsa" else {})).items
        assert items is not None and int(np.nanargmin(items)) == 7, measure


@pytest.mark.parametrize("measure", ["mutual_knn", "cka", "rsa", "procrustes"])
def test_the_interval_covers_what_more_draws_of_the_data_give(measure: str) -> None:
    """Over many data sets of one kind, the 95 % interval must hold their mean about as often as it says."""
    values = [explorer.compute(measure, *related(100, seed)).value for seed in range(40)]
    truth = float(np.mean(values))
    intervals = [interval(measure, *related(100, seed), draws=60) for seed in range(40)]
    covered = np.mean([i.low <= truth <= i.high for i in intervals])
    assert covered > 0.8
    widths = np.mean([i.high - i.low for i in intervals])
    # Neither vacuous: about four deviations wide.
    assert widths < 8 * np.std(values)


def test_methods_are_said() -> None:
    x, y = related(60)
    assert "bootstrap" in interval("mutual_knn", x, y, draws=20).method
    assert "subsets of 38 items" in interval("cka", x, y, draws=20).method


def test_too_few_items_or_draws() -> None:
    x, y = related(15)
    with pytest.raises(ExplorerError, match="15 items are too few"):
        interval("cka", x, y)
    x, y = related(40)
    with pytest.raises(ExplorerError, match="at least 20 draws"):
        interval("cka", x, y, draws=3)
    with pytest.raises(ExplorerError, match="has no neighbours"):
        gallery_curve("cka", x, y)


def test_agreement_falls_as_the_gallery_grows_and_stays_with_a_share() -> None:
    x, y = related(1200, noise=0.7)
    fixed = gallery_curve("mutual_knn", x, y, points=4, draws=4)
    assert fixed["n"][-1] == 1200 and fixed["n"].is_sorted()
    assert fixed["mean"].is_sorted(descending=True) and fixed["mean"][0] > 1.5 * fixed["mean"][-1]
    assert fixed["chance"][-1] == pytest.approx(10 / 1199)
    share = gallery_curve("mutual_knn", x, y, points=4, draws=4, k_share=0.02)
    late = share.filter(share["n"] > 300)["mean"]
    assert late.max() - late.min() < 0.06  # type: ignore[operator]
