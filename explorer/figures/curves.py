"""Curves: a measure against the number of items, or over layers with chance and ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
import polars as pl

from explorer.figures.theme import PALETTE, base_layout, escape

BAND = "rgba(0,114,178,0.18)"


def gallery_figure(frame: pl.DataFrame, measure: str) -> go.Figure:
    """A neighbour measure against the number of items, with its spread and with chance.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns n, k, mean, low, high, chance, as :func:`explorer.resampling.gallery_curve` gives them.
    """
    n = frame["n"].to_list()
    figure = go.Figure()
    figure.add_scatter(
        x=n + n[::-1], y=frame["high"].to_list() + frame["low"].to_list()[::-1], fill="toself", fillcolor=BAND,
        line={"width": 0}, hoverinfo="skip", name="95 % of subsets",
    )  # fmt: skip
    figure.add_scatter(
        x=n, y=frame["mean"].to_list(), mode="lines+markers", name=escape(measure), customdata=frame["k"].to_list(),
        line={"color": PALETTE[0], "width": 2}, hovertemplate="%{x:,} items, k = %{customdata}<br>%{y:.4f}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=n, y=frame["chance"].to_list(), mode="lines", name="chance",
        line={"color": "#888888", "dash": "dash"}, hovertemplate="chance %{y:.4f}<extra></extra>",
    )  # fmt: skip
    base_layout(figure, height=320, margin={"l": 50, "r": 10, "t": 10, "b": 50})
    figure.update_xaxes(title="items", type="log", tickmode="array", tickvals=n, ticktext=[f"{v:,}" for v in n])
    figure.update_yaxes(title=escape(measure), rangemode="tozero")
    return figure


def layers_against(
    series: Mapping[str, tuple[Sequence[str], np.ndarray]],
    title: str,
    chance: Mapping[str, float] | None = None,
    ceiling: tuple[float, float] | None = None,
) -> go.Figure:
    """Every layer of every model against one given RDM.

    Parameters
    ----------
    series : mapping
        Model -> (layer names, values).
    chance : mapping, optional
        Model -> the value that its best layer exceeds under chance in one case of twenty.
    ceiling : (lower, upper), optional
        Noise ceiling.
    """
    figure = go.Figure()
    if ceiling is not None:
        figure.add_hrect(
            ceiling[0], ceiling[1], fillcolor="rgba(128,128,128,0.3)", line_width=0,
            annotation_text=f"noise ceiling {ceiling[0]:.3f} to {ceiling[1]:.3f}", annotation_position="top left",
        )  # fmt: skip
    for number, (model, (layers, values)) in enumerate(series.items()):
        depth = np.linspace(0, 1, len(values)) if len(values) > 1 else np.array([1.0])
        colour = PALETTE[number % len(PALETTE)]
        figure.add_scatter(
            x=depth, y=np.asarray(values, dtype=float), text=[escape(layer) for layer in layers], mode="lines+markers",
            name=escape(model), line={"color": colour, "width": 2},
            hovertemplate=f"{escape(model)}, %{{text}}<br>%{{y:.4f}}<extra></extra>",
        )  # fmt: skip
        if chance is not None and model in chance:
            figure.add_hline(chance[model], line={"color": colour, "dash": "dot", "width": 1})
    base_layout(figure, height=420, margin={"l": 60, "r": 10, "t": 20, "b": 50})
    figure.update_xaxes(title="depth")
    figure.update_yaxes(title=escape(title))
    return figure


def over_training(curves: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> go.Figure:
    """Similarity of each checkpoint to the last against the epoch, one line a layer (dark: early, bright: late)."""
    figure = go.Figure()
    for number, (layer, (epochs, values)) in enumerate(curves.items()):
        figure.add_scatter(
            x=list(range(len(epochs))), y=list(values), customdata=list(epochs), mode="lines+markers", name=escape(layer),
            line={"color": PALETTE[number % len(PALETTE)], "width": 2},
            hovertemplate=f"{escape(layer)}, epoch %{{customdata:g}}<br>%{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    base_layout(figure, height=400, margin={"l": 60, "r": 10, "t": 20, "b": 50})
    marks = next(iter(curves.values()))[0] if curves else []
    names = [f"{e:g}" for e in marks[:-1]] + ["last"]
    figure.update_xaxes(
        title="epoch of the checkpoint", tickmode="array", tickvals=list(range(len(marks))), ticktext=names
    )
    figure.update_yaxes(title="CKA with the last checkpoint")
    return figure
