"""The sections of the Alignment page and the Trust page in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browser.conftest import ready, screenshot, settled

CANVAS = ".lv-graph canvas"
PLOT = ".js-plotly-plot .main-svg"
CLICKABLE = ".clickable-figure .main-svg"
DRAWN = {
    "alignment?section=All+models": CLICKABLE,
    "alignment?section=Items": CANVAS,
    "alignment?section=Maps&dataset=rotated-car": CANVAS,
    "alignment?section=Model+space": CLICKABLE,
    "alignment?section=RDMs": PLOT,
    "trust": "[data-testid=stDataFrame] canvas",
}


@pytest.mark.parametrize("path", DRAWN)
def test_every_section_draws(open_page: Callable[..., Any], path: str) -> None:
    page = open_page(path)
    settled(page)
    page.locator(DRAWN[path]).first.wait_for(state="attached")
    page.wait_for_timeout(800)
    screenshot(page, path.replace("alignment?section=", "alignment-").replace("&", "-").replace("+", "-"))
    assert page.locator("[data-testid=stAlertContentError], [data-testid=stException]").count() == 0


def test_items_that_disagree_are_selected_in_geometry_too(open_page: Callable[..., Any]) -> None:
    page = open_page("alignment?section=Items&dataset=words")
    settled(page)
    ready(page)
    page.get_by_role("button", name="Select the 20 that disagree most").click()
    page.wait_for_function("document.querySelector('[data-testid=linked-view]').dataset.selected === '20'")
    page.get_by_text("20 selected items agree by").wait_for()
    page.get_by_role("link", name="Geometry").first.click()
    page.wait_for_url("**/geometry**")
    page.get_by_text("20 selected items").wait_for()


def test_a_given_rdm_is_compared_with_every_layer(open_page: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = rng.standard_normal((48, 3))
    rdm = np.linalg.norm(points[:, None] - points, axis=2)
    np.savetxt(tmp_path / "judged.csv", rdm, delimiter=",")
    np.savetxt(tmp_path / "small.csv", rdm[:9, :9], delimiter=",")
    page = open_page("alignment?section=RDMs&dataset=rotated-car")
    settled(page)
    entry = page.locator("[data-testid=stFileUploaderDropzoneInput]").first
    entry.set_input_files(tmp_path / "small.csv")
    page.get_by_text("9 items", exact=False).first.wait_for()
    entry.set_input_files(tmp_path / "judged.csv")
    settled(page)
    page.get_by_text("judged.csv", exact=False).first.wait_for()
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length >= 2")
    page.wait_for_timeout(500)
    screenshot(page, "alignment-given-rdm")
