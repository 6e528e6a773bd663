"""Single measures over the depth of models."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from explorer.figures.theme import PALETTE, base_layout, escape

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "pentagon")


def layer_profiles(frame: pl.DataFrame, titles: dict[str, str], normalised: bool = True) -> go.Figure:
    """Small multiples: one panel a measure, one line a model.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows of the results table with ``measure``, ``x_model``, ``x_layer``, ``x_depth``, ``x_layer_index``, ``value``;
        ``band``, half the width of an interval, is drawn where it is there.
    titles : dict
        Measure id to panel title, in order.
    normalised : bool
        Depth from 0 to 1, or the number of the layer.
    """
    count = len(titles)
    columns = min(count, 2 if count in (2, 4) else 3)
    rows = math.ceil(count / columns)
    panel_titles = [escape(title) for title in titles.values()]
    figure = make_subplots(
        rows, columns, subplot_titles=panel_titles, horizontal_spacing=0.09, vertical_spacing=0.26 / rows
    )
    models = frame["x_model"].unique(maintain_order=True).to_list()
    for place, measure in enumerate(titles):
        for number, model in enumerate(models):
            part = frame.filter((pl.col("measure") == measure) & (pl.col("x_model") == model)).sort("x_layer_index")
            colour = PALETTE[number % len(PALETTE)]
            if "band" in part.columns and part["band"].is_finite().any():
                figure.add_scatter(
                    **_band(part, normalised), fillcolor=f"rgba({_channels(colour)},0.15)", legendgroup=model,
                    row=place // columns + 1, col=place % columns + 1,
                )  # fmt: skip
            figure.add_scatter(
                x=part["x_depth" if normalised else "x_layer_index"].to_list(),
                y=part["value"].to_list(),
                text=[escape(layer) for layer in part["x_layer"]],
                customdata=part["x_features"].to_list(),
                mode="lines+markers",
                name=escape(model),
                legendgroup=model,
                showlegend=place == 0,
                line={"color": colour, "width": 2},
                marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 7},
                hovertemplate=f"{escape(model)}, %{{text}} (%{{customdata}} features)<br>%{{y:.4g}}<extra></extra>",
                row=place // columns + 1,
                col=place % columns + 1,
            )
    base_layout(figure, height=350 * rows + 90, margin={"l": 50, "r": 15, "t": 40, "b": 60})
    figure.update_layout(legend={"y": -0.2 / rows, "yanchor": "top"})
    figure.update_xaxes(title="depth" if normalised else "layer")
    return figure


def _band(part: pl.DataFrame, normalised: bool) -> dict[str, Any]:
    """A closed outline of value +- band."""
    part = part.filter(pl.col("band").is_finite() & pl.col("value").is_finite())
    x = part["x_depth" if normalised else "x_layer_index"].to_list()
    high, low = (part["value"] + part["band"]).to_list(), (part["value"] - part["band"]).to_list()
    return {
        "x": x + x[::-1],
        "y": high + low[::-1],
        "fill": "toself",
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _channels(colour: str) -> str:
    return ",".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
