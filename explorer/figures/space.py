"""Representations as points of a plane and as leaves of a tree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.profile import SYMBOLS
from explorer.figures.theme import PALETTE, base_layout, escape
from explorer.model_space import ModelSpace


def model_map(space: ModelSpace, names: Sequence[tuple[str, str]]) -> go.Figure:
    """One line a model through its layers in order; one trace a model, in the order in which models appear.

    Parameters
    ----------
    names : sequence of (model, layer), in the order of the points.
    """
    figure = go.Figure()
    models = list(dict.fromkeys(model for model, _ in names))
    for number, model in enumerate(models):
        at = [i for i, (m, _) in enumerate(names) if m == model]
        labels = [escape(names[i][1]) for i in at]
        colour = PALETTE[number % len(PALETTE)]
        figure.add_scatter(
            x=space.points[at, 0], y=space.points[at, 1], mode="lines+markers+text" if len(at) > 1 else "markers+text",
            # Only the ends are labelled; the rest are told by hovering.
            text=[label if k in (0, len(at) - 1) else "" for k, label in enumerate(labels)], customdata=labels,
            textposition="top center", textfont={"size": 10, "color": colour}, name=escape(model),
            line={"color": colour, "width": 1.5},
            marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "color": colour, "size": np.linspace(6, 13, len(at))},
            hovertemplate=f"{escape(model)} / %{{customdata}}<extra></extra>",
        )  # fmt: skip
    base_layout(figure, height=560, margin={"l": 20, "r": 20, "t": 20, "b": 20})
    figure.update_xaxes(showticklabels=False, zeroline=False)
    figure.update_yaxes(showticklabels=False, zeroline=False, scaleanchor="x")
    figure.update_layout(legend={"y": -0.03, "yanchor": "top"})
    return figure


def model_tree(space: ModelSpace, names: Sequence[str]) -> go.Figure:
    """Dendrogram, leaves at the left from top to bottom in the best order."""
    from scipy.cluster.hierarchy import dendrogram

    drawn = dendrogram(space.linkage, no_plot=True, get_leaves=True)
    figure = go.Figure()
    x: list[float | None] = []
    y: list[float | None] = []
    for heights, places in zip(drawn["dcoord"], drawn["icoord"]):
        x += [*heights, None]
        y += [*places, None]
    figure.add_scatter(
        x=x, y=y, mode="lines", line={"color": PALETTE[0], "width": 1.4}, hoverinfo="skip", showlegend=False
    )
    leaves = drawn["leaves"]
    step = -(-len(leaves) // 40)
    ticks = [5 + 10 * k for k in range(len(leaves))]
    base_layout(figure, height=max(560, min(900, 120 + 16 * len(leaves))), margin={"l": 200, "r": 20, "t": 20, "b": 50})
    figure.update_yaxes(
        tickmode="array", tickvals=ticks[::step], ticktext=[escape(names[i]) for i in leaves[::step]], showgrid=False,
        zeroline=False, tickfont={"size": 11},
    )  # fmt: skip
    highest = float(space.linkage[:, 2].max()) or 1.0
    figure.update_xaxes(title="distance at which groups join", range=[-0.02 * highest, 1.04 * highest])
    return figure
