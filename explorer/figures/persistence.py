"""Persistence: diagram, barcode and Betti curves, in one colour for each homology dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.theme import PALETTE, base_layout

COLOURS = (PALETTE[4], PALETTE[0], PALETTE[1])
SYMBOLS = ("circle", "diamond", "square")
NAMES = ("H0 (components)", "H1 (loops)", "H2 (voids)")
MOST_BARS = 40


def _largest(diagrams: Sequence[np.ndarray]) -> float:
    finite = [d[np.isfinite(d)] for d in diagrams if len(d)]
    return max((float(f.max()) for f in finite if len(f)), default=1.0) or 1.0


def persistence_diagram(diagrams: Sequence[np.ndarray]) -> go.Figure:
    """Birth against death; distance from the diagonal is the length of a bar, bars that never die lie on top."""
    top = _largest(diagrams) * 1.06
    figure = go.Figure()
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": "gray", "dash": "dot", "width": 1},
        showlegend=False,
        hoverinfo="skip",
    )
    for q, diagram in enumerate(diagrams):
        death = np.where(np.isfinite(diagram[:, 1]), diagram[:, 1], top)
        figure.add_scatter(
            x=diagram[:, 0],
            y=death,
            customdata=diagram[:, 1] - diagram[:, 0],
            mode="markers",
            name=NAMES[q],
            marker={"color": COLOURS[q], "symbol": SYMBOLS[q], "size": 8, "opacity": 0.75},
            hovertemplate=f"H{q}: born %{{x:.4g}}, dies %{{y:.4g}}<br>length %{{customdata:.4g}}<extra></extra>",
        )
    base_layout(figure, height=420, title={"text": "Persistence diagram", "font": {"size": 15}})
    figure.update_xaxes(title="birth", range=[-0.03 * top, top * 1.03])
    figure.update_yaxes(title="death", range=[-0.03 * top, top * 1.03])
    return figure


def barcode(diagrams: Sequence[np.ndarray]) -> go.Figure:
    """The longest bars of each dimension, longest at the top of its group."""
    top = _largest(diagrams) * 1.06
    figure = go.Figure()
    place, shown = 0, 0
    for q, diagram in enumerate(diagrams):
        bars = diagram[:MOST_BARS]
        shown += len(bars)
        x: list[float | None] = []
        y: list[float | None] = []
        for birth, death in bars:
            x += [birth, min(death, top), None]
            y += [place, place, None]
            place -= 1
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name=NAMES[q],
            line={"color": COLOURS[q], "width": 2.5},
            hovertemplate=f"H{q} at %{{x:.4g}}<extra></extra>",
        )
        place -= 3
    total = sum(map(len, diagrams))
    words = (
        "Barcode" if shown == total else f"Barcode (the {MOST_BARS} longest bars of each dimension, of {total} in all)"
    )
    base_layout(figure, height=420, title={"text": words, "font": {"size": 15}})
    figure.update_xaxes(title="radius (distance between items)", range=[0, top * 1.02])
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False)
    return figure


def betti_curves(diagrams: Sequence[np.ndarray], curves: Sequence[np.ndarray], radii: np.ndarray) -> go.Figure:
    """How many components, loops and voids there are at each radius (log scale for the count, with 0)."""
    figure = go.Figure()
    for q, curve in enumerate(curves):
        figure.add_scatter(
            x=radii,
            y=curve,
            mode="lines",
            name=NAMES[q],
            line={"color": COLOURS[q], "width": 2, "shape": "hv"},
            hovertemplate=f"Betti {q} = %{{y}} at radius %{{x:.4g}}<extra></extra>",
        )
    base_layout(figure, height=420, title={"text": "Betti curves", "font": {"size": 15}})
    figure.update_xaxes(title="radius (distance between items)")
    figure.update_yaxes(title="count (log scale, with 0)", **_symlog(curves))
    for trace in figure.data:
        trace.customdata = trace.y
        trace.y = np.log1p(np.asarray(trace.y, dtype=float))
        trace.hovertemplate = trace.hovertemplate.replace("%{y}", "%{customdata}")
    return figure


def _symlog(curves: Sequence[np.ndarray]) -> dict:
    top = max((int(c.max()) for c in curves if len(c)), default=1)
    ticks = [v for v in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if v <= max(top, 1)]
    return {"tickmode": "array", "tickvals": np.log1p(ticks), "ticktext": [str(t) for t in ticks]}
