"""How agreement is spread over items."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.figures.theme import PALETTE, base_layout, escape


def agreement_histogram(items: np.ndarray, measure: str) -> go.Figure:
    """Histogram of the items' agreement with its mean marked."""
    known = items[np.isfinite(items)]
    different = np.unique(known)
    if 1 < len(different) <= 30:  # counts of neighbours: one bar a value
        step = float(np.diff(different).min())
        bins: int | np.ndarray = (
            np.append(np.arange(different[0], different[-1] + step / 2, step), different[-1] + step) - step / 2
        )
    else:
        bins = 30
    counts, edges = np.histogram(known, bins=bins)
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2, y=counts, width=np.diff(edges), marker={"color": PALETTE[0]},
            customdata=np.stack([edges[:-1], edges[1:]], 1),
            hovertemplate="%{y} items from %{customdata[0]:.3f} to %{customdata[1]:.3f}<extra></extra>",
        )
    )  # fmt: skip
    if len(known):
        figure.add_vline(
            float(known.mean()), line={"color": PALETTE[3], "dash": "dash"}, annotation_text=f"mean {known.mean():.3f}"
        )
    base_layout(figure, height=260, margin={"l": 50, "r": 10, "t": 25, "b": 45}, bargap=0.02)
    figure.update_xaxes(title=f"{escape(measure)} of the item")
    figure.update_yaxes(title="items")
    return figure
