"""The neighbour graph on a layout, its edges coloured by curvature, and their histogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from explorer.figures.theme import DIVERGING, base_layout, escape

BINS = 11


def curvature_limit(values: np.ndarray) -> float:
    """The symmetric limit of the colour scale: the 98th percentile of the absolute values."""
    return float(np.percentile(np.abs(values), 98)) or 1.0 if len(values) else 1.0


def curvature_graph(
    points: np.ndarray,
    edges: np.ndarray,
    values: np.ndarray,
    items: np.ndarray,
    labels: Sequence[str],
    axes: Sequence[str],
) -> go.Figure:
    """Edges in bins of one colour each (red: positive, inside clusters; blue: negative, bridges) under the items."""
    limit = curvature_limit(values)
    figure = go.Figure()
    place = np.clip((values / limit + 1) / 2, 0, 1)
    bins = np.minimum((place * BINS).astype(int), BINS - 1)
    # The extremes carry the message, so they are drawn last.
    for b in sorted(range(BINS), key=lambda b: abs(b - BINS // 2)):
        chosen = edges[bins == b]
        if len(chosen):
            figure.add_scatter(
                x=_broken(points[chosen, 0]),
                y=_broken(points[chosen, 1]),
                mode="lines",
                line={
                    "color": sample_colorscale(DIVERGING, (b + 0.5) / BINS)[0],
                    "width": 0.5 + 1.6 * abs(b - BINS // 2) / BINS,
                },
                hoverinfo="skip",
                showlegend=False,
            )
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        text=[escape(label) for label in labels],
        marker={
            "color": items,
            "colorscale": DIVERGING,
            "cmin": -limit,
            "cmax": limit,
            "size": 7,
            "line": {"width": 0.6, "color": "rgba(60,60,60,0.9)"},
            "colorbar": {"title": {"text": "curvature", "side": "right"}, "thickness": 14},
        },
        hovertemplate="%{text}<br>mean curvature of its edges %{marker.color:.3f}<extra></extra>",
        showlegend=False,
    )
    base_layout(figure, height=560, margin={"l": 30, "r": 10, "t": 15, "b": 40})
    figure.update_xaxes(title=escape(axes[0]), showticklabels=False, showgrid=False, zeroline=False)
    figure.update_yaxes(
        title=escape(axes[1]), showticklabels=False, showgrid=False, zeroline=False, scaleanchor="x", constrain="domain"
    )
    return figure


def _broken(ends: np.ndarray) -> np.ndarray:
    """(m, 2) ends as one line with gaps."""
    return np.column_stack([ends, np.full(len(ends), np.nan)]).ravel()


def curvature_histogram(values: np.ndarray, name: str) -> go.Figure:
    """Histogram in the colours of the graph, with the mean marked."""
    limit = curvature_limit(values)
    counts, borders = np.histogram(values, bins=min(40, max(8, int(np.sqrt(len(values))))))
    middle = (borders[:-1] + borders[1:]) / 2
    figure = go.Figure(
        go.Bar(
            x=middle,
            y=counts,
            width=np.diff(borders),
            marker={
                "color": middle,
                "colorscale": DIVERGING,
                "cmin": -limit,
                "cmax": limit,
                "line": {"width": 0.3, "color": "#777"},
            },
            hovertemplate="curvature %{x:.3f}: %{y} edges<extra></extra>",
        )
    )
    mean = float(values.mean())
    figure.add_vline(
        mean, line={"dash": "dash", "width": 1.5}, annotation_text=f"mean {mean:.3f}", annotation_position="top left"
    )
    base_layout(figure, height=330, showlegend=False)
    figure.update_xaxes(title=escape(name))
    figure.update_yaxes(title="edges")
    return figure
