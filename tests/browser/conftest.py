"""A real server and a real browser; screenshots and figures are kept in artifacts/."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "artifacts"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        system = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        try:
            opened = playwright.chromium.launch(executable_path=system, args=ARGUMENTS)
        except Error as error:
            reason = f"no system Chromium and none of Playwright's own: {str(error).splitlines()[0]}"
            if os.environ.get("REPGEO_REQUIRE_BROWSER"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield opened
        opened.close()


def start_server(store: Path, log: Path) -> tuple[subprocess.Popen, str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "REPGEO_STORE": str(store), "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.headless",
        "true",
        "--server.port",
        str(port),
    ]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log.open("w"), stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            if urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).status == 200:
                return process, url
        except OSError:
            time.sleep(0.05)
    process.kill()
    raise RuntimeError(f"the server did not start: {log.read_text()}")


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "store"


@pytest.fixture(scope="session")
def url(store: Path) -> Iterator[str]:
    ARTIFACTS.mkdir(exist_ok=True)
    process, address = start_server(store, ARTIFACTS / "server.log")
    yield address
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.fixture
def open_page(browser: Any, url: str) -> Iterator[Callable[..., Any]]:
    """Open paths of the app; at the end no page may have failed or asked a foreign host for anything."""
    pages, errors, foreign = [], [], []

    def make(path: str = "", width: int = 1400, height: int = 1000, **options: Any) -> Any:
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.on(
            "request",
            lambda r: (
                foreign.append(r.url) if not r.url.startswith((url, "data:", "blob:", "ws://127.0.0.1")) else None
            ),
        )
        page.goto(f"{url}/{path}")
        page.wait_for_selector("h1")
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close()
    assert not errors
    assert not foreign


def screenshot(page: Any, name: str) -> None:
    """Keep a picture of the whole page."""
    size = page.viewport_size
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(max(size["height"], height + 20), 2600)})
    page.wait_for_timeout(600)
    page.screenshot(path=ARTIFACTS / f"{name}.png")
    page.set_viewport_size(size)


def note(name: str, value: Any) -> None:
    """Keep a measured figure."""
    file = ARTIFACTS / "figures.json"
    held = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(held | {name: value}, indent=1))


def ready(page: Any) -> None:
    """Wait until the linked view is drawn."""
    page.wait_for_function("+document.querySelector('[data-testid=linked-view]')?.dataset.sequence > 0")


def settled(page: Any) -> None:
    """Wait until no job is running and the script has come to rest."""
    page.wait_for_timeout(500)
    page.wait_for_function(
        "![...document.querySelectorAll('button')].some(b => b.innerText.trim() === 'Cancel')", timeout=120_000
    )
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')", timeout=60_000)


def lasso(page: Any, view: int, left: float = 0.2, right: float = 0.6, low: float = 0.2, high: float = 0.8) -> int:
    """Draw around a part of one view; returns how many items are selected once every view shows them."""
    before = page.evaluate("+document.querySelector('[data-testid=linked-view]').dataset.sequence")
    box = page.locator("[data-testid=linked-plot]").nth(view).bounding_box()
    x0, x1 = (box["x"] + box["width"] * f for f in (left, right))
    y0, y1 = (box["y"] + box["height"] * f for f in (low, high))
    page.mouse.move(x0, y0)
    page.mouse.down()
    for x, y in [(x1, y0), (x1, y1), (x0, y1), (x0, y0 + 3)]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    page.wait_for_function(f"+document.querySelector('[data-testid=linked-view]').dataset.sequence > {before}")
    return page.evaluate("+document.querySelector('[data-testid=linked-view]').dataset.selected")
