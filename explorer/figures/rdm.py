"""RDMs side by side and their difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.figures.theme import DIVERGING, SEQUENTIAL, base_layout, escape


def rdm_figure(
    matrices: Sequence[np.ndarray],
    titles: Sequence[str],
    labels: Sequence[str],
    bands: Sequence[tuple[str, int, int]] = (),
    ranks: bool = True,
) -> go.Figure:
    """Two RDMs and their difference over the same items.

    Parameters
    ----------
    matrices : two arrays of shape (n, n)
    labels : sequence of str
        One different text an item, for hovering.
    bands : sequence of (group, first, last)
        Groups of items that stand together; their bounds are drawn and named.
    ranks : bool
        Values run from 0 to 1, on a colour scale that both share.
    """
    first, second = matrices
    shown = [escape(t) for t in titles]
    figure = make_subplots(1, 3, subplot_titles=[*shown, "difference"], horizontal_spacing=0.04, shared_yaxes=True)
    text = [escape(label) for label in labels]
    high = [1.0, 1.0] if ranks else [float(m.max()) for m in matrices]
    for column, (matrix, top) in enumerate(zip(matrices, high), start=1):
        figure.add_heatmap(
            z=matrix, x=text, y=text, colorscale=SEQUENTIAL, zmin=0, zmax=top, row=1, col=column,
            showscale=column == 1 and ranks, colorbar={
                "title": {"text": "rank of the dissimilarity", "side": "top"}, "orientation": "h", "thickness": 10,
                "x": 0.31, "y": -0.02, "yanchor": "top", "len": 0.4,
            },
            hovertemplate="%{y}<br>%{x}<br><b>%{z:.3f}</b><extra></extra>",
        )  # fmt: skip
    gap = second - first if ranks else second / (high[1] or 1) - first / (high[0] or 1)
    limit = float(np.abs(gap).max()) or 1.0
    figure.add_heatmap(
        z=gap, x=text, y=text, colorscale=DIVERGING, zmin=-limit, zmax=limit, row=1, col=3,
        colorbar={
            "title": {"text": "second minus first", "side": "top"}, "orientation": "h", "thickness": 10,
            "x": 0.845, "y": -0.02, "yanchor": "top", "len": 0.28,
        },
        hovertemplate="%{y}<br>%{x}<br><b>%{z:.3f}</b><extra></extra>",
    )  # fmt: skip
    base_layout(figure, height=500, margin={"l": 110 if bands else 20, "r": 10, "t": 40, "b": 70})
    figure.update_xaxes(showticklabels=False, showgrid=False)
    figure.update_yaxes(showgrid=False, autorange="reversed", showticklabels=False)
    for _, start, _ in bands[1:]:
        for column in (1, 2, 3):
            figure.add_hline(start - 0.5, line={"color": "rgba(255,255,255,0.7)", "width": 0.7}, row=1, col=column)
            figure.add_vline(start - 0.5, line={"color": "rgba(255,255,255,0.7)", "width": 0.7}, row=1, col=column)
    wide = [band for band in bands if band[2] - band[1] >= len(labels) / 28]
    figure.update_yaxes(
        showticklabels=bool(wide), tickmode="array", tickvals=[(s + e) // 2 for _, s, e in wide],
        ticktext=[escape(g) for g, _, _ in wide], row=1, col=1,
    )  # fmt: skip
    return figure
