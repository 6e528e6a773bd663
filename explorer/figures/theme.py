"""Colours that colour-blind people can tell apart, and the layout that all figures share."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

# Okabe & Ito (2008), then the darker and lighter companions of Paul Tol's "muted" set for more categories.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#B8A300",
    "#882255",
    "#332288",
    "#999933",
    "#AA4499",
    "#117733",
    "#661100",
    "#6699CC",
    "#888888",
)
# Viridis: even steps in lightness, readable in grey.
SEQUENTIAL = [
    [0.0, "#440154"],
    [0.125, "#472d7b"],
    [0.25, "#3b528b"],
    [0.375, "#2c728e"],
    [0.5, "#21918c"],
    [0.625, "#28ae80"],
    [0.75, "#5ec962"],
    [0.875, "#addc30"],
    [1.0, "#fde725"],
]
# Blue to red through light grey, for values with a sign.
DIVERGING = [[0.0, "#2166ac"], [0.25, "#92c5de"], [0.5, "#d9d9d9"], [0.75, "#f4a582"], [1.0, "#b2182b"]]


def base_layout(figure: go.Figure, **layout: Any) -> go.Figure:
    """Transparent paper, close margins, thin lines: the same for all figures."""
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
        colorway=list(PALETTE),
        font={"size": 13},
        hoverlabel={"align": "left"},
        legend={"orientation": "h", "y": -0.2, "x": 0},
    )
    figure.update_xaxes(showline=True, linecolor="rgba(128,128,128,0.6)", gridcolor="rgba(128,128,128,0.18)")
    figure.update_yaxes(showline=True, linecolor="rgba(128,128,128,0.6)", gridcolor="rgba(128,128,128,0.18)")
    figure.update_layout(**layout)
    return figure


def escape(text: str) -> str:
    """Escape text for plotly's own markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
