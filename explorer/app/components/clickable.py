"""A plotly figure whose cells and points can be clicked; Streamlit itself reports no clicks on heat maps."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from explorer.app import blobs
from explorer.app.routes import base

HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def _component() -> Any:
    script = (HERE / "shared.js").read_text() + (HERE / "clickable.js").read_text()
    return st.components.v2.component(
        "explorer_clickable_figure",
        html='<div class="clickable-figure" data-testid="clickable-figure"></div>',
        css=".clickable-figure { width: 100%; min-height: 200px; }",
        js=script,
        isolate_styles=False,
    )


def clickable_figure(figure: go.Figure, key: str, name: str = "figure") -> dict[str, Any] | None:
    """Show a figure; return where it was clicked in this run (row and column, or curve and point), or None."""
    data = {"base": base(), "figure": blobs.put(figure.to_json().encode()), "name": name}
    return _component()(key=key, data=data, on_click_change=lambda: None).click
