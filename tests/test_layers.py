"""Imports go one way: app -> figures -> sweep -> (measures, store) -> primitives."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import explorer

ROOT = Path(explorer.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module}
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_direction(path: Path) -> None:
    inside = path.relative_to(ROOT)
    found = imports(path)
    in_app = inside.parts[0] == "app" or inside.name == "main.py"
    if not in_app:
        assert not any(n.startswith(("streamlit", "explorer.app")) for n in found)
    if inside.parts[0] in ("measures", "models", "datasets", "formats") or inside.name in ("neighbors.py", "linalg.py"):
        assert not any(
            n.startswith(("explorer.figures", "explorer.sweep", "explorer.results", "explorer.projection"))
            for n in found
        )
    if inside.parts[0] == "measures":
        assert not any(n.startswith(("explorer.store", "explorer.representation", "plotly")) for n in found)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_device_is_chosen_in_one_place(path: Path) -> None:
    text = path.read_text()
    assert ".cuda(" not in text
    assert "import pickle" not in text and "allow_pickle=True" not in text
