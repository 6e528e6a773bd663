"""The main paths through the app in a real browser, with screenshots."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import ready, screenshot, settled

PATHS = {
    "emoji": ["", "geometry", "alignment", "profiles", "topology", "curvature"],
    "words": [
        "geometry?dataset=words&colour=category",
        "alignment?dataset=words",
        "profiles?dataset=words",
        "curvature?dataset=words",
    ],
    "car": ["geometry?dataset=rotated-car", "topology?dataset=rotated-car"],
    "none": ["models", "methods"],
}


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in PATHS.items() for path in paths])
def test_every_page_draws(open_page: Callable[..., Any], name: str, path: str) -> None:
    page = open_page(path)
    settled(page)
    page.wait_for_timeout(800)
    screenshot(page, f"{name}-{path.split('?')[0] or 'workspace'}")
    assert page.locator("[data-testid=stAlertContentError], [data-testid=stException]").count() == 0
    kind = path.split("?")[0]
    drawn = {
        "alignment": ".clickable-figure .heatmaplayer image",
        "models": "button",
        "methods": "[data-testid=stExpander]",
    }
    linked = ".lv-graph canvas" if kind in ("", "geometry") else ".js-plotly-plot .main-svg"
    page.locator(drawn.get(kind, linked)).first.wait_for(state="attached")


def test_a_cell_opens_both_layers_in_geometry(open_page: Callable[..., Any]) -> None:
    page = open_page("alignment?rows=effnet-lite0&columns=minilm-l6&measure=mutual_knn")
    settled(page)
    page.locator(".clickable-figure[data-ready] .nsewdrag").first.wait_for(state="attached")
    page.wait_for_timeout(800)
    x, y = page.evaluate(
        """() => {const g = document.querySelector('.clickable-figure'), r = g.getBoundingClientRect(), f = g._fullLayout;
           return [r.left + f.xaxis._offset + f.xaxis.d2p(2), r.top + f.yaxis._offset + f.yaxis.d2p(3)];}"""
    )
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y, steps=3)
    page.wait_for_timeout(500)
    assert "chance" in page.locator(".clickable-figure .hoverlayer").first.text_content()
    page.mouse.click(x, y)
    page.wait_for_url("**/geometry**")
    ready(page)
    titles = page.evaluate("document.querySelector('.lv-graph').layout.annotations.map(a => a.text)")
    assert titles == ["effnet-lite0 / blocks.3", "minilm-l6 / layers.1"]


def test_a_link_restores_the_view(open_page: Callable[..., Any]) -> None:
    page = open_page("geometry?dataset=words&views=3&v1_model=smollm2&v1_layer=layers.7&colour=language")
    ready(page)
    titles = page.evaluate("document.querySelector('.lv-graph').layout.annotations.map(a => a.text)")
    assert titles[0] == "smollm2 / layers.7" and len(titles) == 3
    assert page.evaluate("document.querySelector('[data-testid=linked-view]').dataset.color") == "language"


def test_dark_theme(open_page: Callable[..., Any]) -> None:
    for path in ("geometry", "alignment"):
        page = open_page(path, color_scheme="dark")
        settled(page)
        page.wait_for_timeout(1000)
        screenshot(page, f"dark-{path}")
    assert page.locator(".clickable-figure .xtitle").first.evaluate("e => e.style.fill") != "rgb(42, 63, 95)"


def test_upload_refuses_in_a_sentence_and_takes_what_is_right(
    open_page: Callable[..., Any], store: Path, tmp_path: Path
) -> None:
    before = sorted(store.rglob("*.safetensors"))
    (tmp_path / "bad.npy").write_bytes(b"this is no array")
    np.save(tmp_path / "nan.npy", np.array([[1.0, np.nan]] * 5))
    np.savez(tmp_path / "mine.npz", first=np.random.default_rng(0).standard_normal((440, 6)), second=np.eye(440)[:, :9])
    page = open_page("models")
    page.get_by_role("tab", name="Upload activations").click()
    entry = page.locator("[data-testid=stFileUploaderDropzoneInput]").first
    entry.set_input_files(tmp_path / "bad.npy")
    page.get_by_text("bad.npy is neither .npy, .npz nor .safetensors").wait_for()
    entry.set_input_files(tmp_path / "nan.npy")
    page.get_by_text("nan at item 0, feature 1").wait_for()
    assert sorted(store.rglob("*.safetensors")) == before
    entry.set_input_files(tmp_path / "mine.npz")
    page.get_by_text("These are the items of").wait_for()
    screenshot(page, "models-upload")
    page.get_by_role("button", name="Add to the store").click()
    page.get_by_text("2 layer(s) of 440 items are in your store").wait_for()
    page.get_by_role("link", name="See them in Geometry").click()
    page.wait_for_url("**/geometry**")
    ready(page)
    titles = page.evaluate("document.querySelector('.lv-graph').layout.annotations.map(a => a.text)")
    assert titles[0] == "mine / second"


def test_extraction_shows_progress_and_its_result(open_page: Callable[..., Any]) -> None:
    page = open_page("models")
    page.get_by_role("button", name="Extract").click()
    page.get_by_text("digits/vit-seed0: 6 layers are in your store").wait_for(timeout=90_000)
    settled(page)
    screenshot(page, "models-extracted")
    page = open_page("geometry?dataset=digits&colour=digit")
    ready(page)
    assert page.evaluate("document.querySelector('[data-testid=linked-view]').dataset.items") == "1797"
    page.wait_for_timeout(500)
    screenshot(page, "digits-geometry")
    page.close()
    for path in ("alignment", "profiles", "topology", "curvature"):
        page = open_page(f"{path}?dataset=digits")
        settled(page)
        page.wait_for_timeout(500)
        screenshot(page, f"digits-{path}")
        assert page.locator("[data-testid=stAlertContentError], [data-testid=stException]").count() == 0
        page.close()


def test_one_session_computes_and_another_stays_responsive(open_page: Callable[..., Any], store: Path) -> None:
    """A noisy loop of 1,600 items keeps ripser busy for minutes; it holds the interpreter's lock all the while."""
    from explorer.formats import Imported
    from explorer.store import Store

    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 1600)
    loop = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.15 * rng.standard_normal((1600, 2))
    Imported("loop", {"only": loop.astype(np.float32)}).save(Store(store))
    busy = open_page("topology?dataset=loop+(1600+items)")
    busy.get_by_label("Landmarks at most").fill("1600")
    busy.get_by_label("Landmarks at most").press("Enter")
    busy.get_by_text("1600 items, 2 features").wait_for(timeout=60_000)
    started = time.time()
    other = open_page("geometry")
    ready(other)
    elapsed = time.time() - started
    from tests.browser.conftest import lasso, note

    count = lasso(other, 0)
    other.get_by_text(f"{count:,} selected items").wait_for(timeout=5_000)
    note("second_session_while_computing_seconds", round(elapsed, 2))
    assert elapsed < 15
    assert busy.get_by_role("button", name="Cancel").is_visible(), (
        "the job must still be running for this to mean anything"
    )
    screenshot(busy, "topology-running")
    busy.get_by_role("button", name="Cancel").click()
    busy.get_by_text("was cancelled").wait_for(timeout=15_000)
    busy.get_by_label("Landmarks at most").fill("60")
    busy.get_by_label("Landmarks at most").press("Enter")
    busy.get_by_text("60 of 1600 items as landmarks").wait_for(timeout=60_000)
