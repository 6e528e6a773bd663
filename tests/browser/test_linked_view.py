"""The linked view in a real browser: a lasso in one view marks the same items in all and reaches Python."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from explorer.datasets import load_bundled
from explorer.formats import Imported
from explorer.store import Store
from tests.browser.conftest import lasso, note, ready, screenshot

MARKED = """[...Array(+document.querySelector('[data-testid=linked-view]').dataset.views).keys()].map(
  k => document.querySelector('.lv-graph')._fullData[k].selectedpoints?.length ?? -1)"""


def test_first_useful_picture(open_page: Callable[..., Any]) -> None:
    page = open_page()
    ready(page)
    note("first_picture_drawn_seconds", round(page.evaluate("window.__explorerPreview") / 1000, 2))
    note("first_picture_linked_seconds", round(page.evaluate("performance.now()") / 1000, 2))
    assert page.locator("[data-testid=linked-plot]").count() == 2
    assert page.evaluate("+document.querySelector('[data-testid=linked-view]').dataset.items") == 440
    screenshot(page, "workspace")


def test_lasso_links_and_reaches_python(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry?views=3")
    ready(page)
    page.wait_for_function("document.querySelectorAll('[data-testid=linked-plot]').length === 3")
    # The second lasso starts inside the first, which must not be taken for an edit of the first.
    for view, (left, right) in [(0, (0.1, 0.6)), (0, (0.2, 0.5)), (2, (0.3, 0.9))]:
        count = lasso(page, view, left, right)
        assert 0 < count < 440
        assert page.evaluate(MARKED) == [count] * 3
        page.get_by_text(f"{count:,} selected items").wait_for()
    screenshot(page, "geometry-selected")
    page.get_by_role("button", name="Clear selection").click()
    page.get_by_text("Nothing is selected").wait_for()
    assert page.evaluate(MARKED) == [-1] * 3


def test_box_legend_and_keyboard(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry")
    ready(page)
    page.get_by_role("button", name="Box").click()
    box = page.locator("[data-testid=linked-plot]").nth(1).bounding_box()
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
    page.mouse.up()
    page.wait_for_function("+document.querySelector('[data-testid=linked-view]').dataset.selected > 50")
    count = (load_bundled("emoji").metadata["group"] == "animals").sum()
    page.get_by_role("button", name="animals").click()
    page.get_by_text(f"{count} selected items").wait_for()
    page.get_by_role("button", name="animals").press("Escape")
    page.get_by_text("Nothing is selected").wait_for()


def test_hover_shows_the_item_and_its_place_elsewhere(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry")
    ready(page)
    x, y, label = page.evaluate(
        """() => {const s = document.querySelector('[data-testid=linked-view]').__state, g = s.graph,
           i = s.columns.x0.indexOf(Math.max(...s.columns.x0)),  // the item at the edge has nobody over it
           r = g.getBoundingClientRect(), a = g._fullLayout.xaxis, b = g._fullLayout.yaxis;
           return [r.left + a._offset + a.l2p(s.columns.x0[i]), r.top + b._offset + b.l2p(s.columns.y0[i]), s.items.rows[i][0]];}"""
    )
    page.mouse.move(x - 4, y)
    page.mouse.move(x, y, steps=3)
    page.locator(".lv-tip").wait_for(state="visible")
    assert label in page.locator(".lv-tip").inner_text()
    assert "blob:" in page.locator(".lv-picture").evaluate("e => e.style.backgroundImage")
    assert page.locator(".lv-ring:visible").count() == 2
    page.screenshot(path="artifacts/hover.png")


def test_selection_follows_to_other_pages_and_back(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry")
    ready(page)
    count = lasso(page, 0)
    page.get_by_text(f"{count:,} selected items").wait_for()
    page.get_by_role("link", name="Methods").click()
    page.get_by_text("What is computed, from which source").wait_for()
    page.get_by_role("link", name="Geometry").click()
    page.get_by_text(f"{count:,} selected items").wait_for()
    page.wait_for_function(f"+document.querySelector('[data-testid=linked-view]')?.dataset.selected === {count}")


def test_views_do_not_overlap_at_any_width(open_page: Callable[..., Any]) -> None:
    for width in (1500, 900, 420):
        page = open_page("geometry?views=4", width=width)
        ready(page)
        page.wait_for_timeout(500)
        boxes = [page.locator("[data-testid=linked-plot]").nth(k).bounding_box() for k in range(4)]
        stage = page.locator(".lv-stage").bounding_box()
        for i, a in enumerate(boxes):
            assert a["width"] > 100 and a["height"] > 100
            assert a["x"] >= stage["x"] - 1 and a["x"] + a["width"] <= stage["x"] + stage["width"] + 1
            for b in boxes[:i]:
                apart = a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"]
                below = a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"]
                assert apart or below
        screenshot(page, f"geometry-{width}")


def test_changing_one_view_redraws_it(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry")
    ready(page)
    before = page.evaluate("document.querySelector('[data-testid=linked-view]').__state.signature")
    page.locator("[data-testid=stSelectbox]").filter(has_text="Layer").first.locator("input").click()
    page.get_by_role("option", name="blocks.3", exact=True).click()
    page.wait_for_function(
        f"document.querySelector('[data-testid=linked-view]').__state.signature !== {before!r}"
        " && document.querySelector('.lv-graph').layout.annotations[0].text.includes('blocks.3')"
    )


def test_labels_are_text_and_never_markup(open_page: Callable[..., Any], store: Path) -> None:
    import polars as pl

    from explorer.datasets import Dataset
    from explorer.datasets.saved import save_dataset

    nasty = "<img src=x onerror=window.__hacked=1>"
    dataset = Dataset("nasty", pl.DataFrame({"label": [nasty] * 30, "kind": [nasty, "b"] * 15}), texts=(nasty,) * 30)
    save_dataset(dataset, store)
    values = {nasty: np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)}
    Imported(nasty, values).save(Store(store), dataset.fingerprint, "nasty")
    page = open_page("geometry?dataset=nasty&views=2")
    ready(page)
    page.get_by_role("button", name=nasty).click()
    page.get_by_text("15 selected items").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("window.__hacked") is None


def test_three_views_of_twenty_thousand_points(open_page: Callable[..., Any], store: Path) -> None:
    rng = np.random.default_rng(0)
    centres = (3 * rng.standard_normal((10, 8)))[rng.integers(0, 10, 20_000)]
    layers = {f"layer{i}": (centres + rng.standard_normal((20_000, 8))).astype(np.float32) for i in range(3)}
    Imported("big", layers).save(Store(store))
    page = open_page("geometry?dataset=big+(20000+items)&views=3", width=1500)
    ready(page)
    page.wait_for_function("document.querySelector('[data-testid=linked-view]').dataset.items === '20000'")
    page.wait_for_timeout(1500)
    # From the release of the mouse to the moment at which every sibling has been redrawn.
    page.evaluate(
        """() => {const root = document.querySelector('[data-testid=linked-view]'); window.__times = [];
           document.addEventListener('mouseup', () => {window.__released = performance.now();}, true);
           new MutationObserver((found) => {if (found.some(m => m.attributeName === 'data-sequence'))
             window.__times.push(performance.now() - window.__released);}).observe(root, {attributes: true});}"""
    )
    counts = []
    for k in range(6):
        counts.append(lasso(page, k % 3, 0.3, 0.7))
        page.get_by_text(f"{counts[-1]:,} selected items").wait_for()
        page.wait_for_timeout(800)
    times = page.evaluate("window.__times")
    note("link_20000_x_3_ms", [round(t) for t in times])
    assert len(times) == 6
    assert all(500 < c < 20_000 for c in counts)
    assert statistics.median(times) < 300
    screenshot(page, "geometry-20000")
