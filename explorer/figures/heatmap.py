"""Matrices of layers against layers, with what chance would give in every cell's hover text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.figures.theme import DIVERGING, SEQUENTIAL, base_layout, escape

SCALES = {
    "raw": "raw value",
    "corrected": "chance-corrected",
    "z": "z",
}


def layer_heatmap(
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_title: str,
    column_title: str,
    measure: str,
    hover: Sequence[Sequence[str]] | None = None,
    at_chance: np.ndarray | None = None,
    low: float | None = None,
    signed: bool = False,
    reverse: bool = False,
) -> go.Figure:
    """Heat map of a similarity matrix.

    Parameters
    ----------
    matrix : numpy.ndarray, shape (len(rows), len(columns))
    hover : nested sequence of str, optional
        One text a cell, in place of the value alone.
    at_chance : numpy.ndarray of bool, optional
        Cells that do not beat chance; they carry a small cross.
    low : float, optional
        Bottom of the colour scale (chance, rather than zero).
    signed : bool
        Diverging colours around zero.
    reverse : bool
        Dark for large values (distances).
    """
    finite = matrix[np.isfinite(matrix)]
    high = float(finite.max()) if len(finite) else 1.0
    bottom = float(finite.min()) if low is None and len(finite) else (low or 0.0)
    limits = {"zmin": -max(abs(bottom), abs(high)), "zmax": max(abs(bottom), abs(high))} if signed else {}
    limits = limits or {"zmin": min(bottom, high), "zmax": max(high, bottom + 1e-9)}
    figure = go.Figure(
        go.Heatmap(
            z=np.round(matrix, 6),
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            text=hover,
            hovertemplate="%{text}<extra></extra>" if hover is not None else "%{z:.4f}<extra></extra>",
            colorscale=DIVERGING if signed else SEQUENTIAL,
            reversescale=reverse,
            colorbar={"title": {"text": escape(measure), "side": "right"}, "thickness": 14, "len": 0.9},
            xgap=0.5,
            ygap=0.5,
            **limits,
        )
    )
    if at_chance is not None and at_chance.any():
        y, x = np.nonzero(at_chance)
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers",
            marker={"symbol": "x-thin", "size": 6, "line": {"width": 1.2, "color": "rgba(255,255,255,0.75)"}},
            hoverinfo="skip",
            showlegend=False,
        )
    base_layout(figure, margin={"l": 110, "r": 10, "t": 20, "b": 90})
    figure.update_xaxes(title=escape(column_title), **_ticks(columns), showgrid=False, zeroline=False, tickangle=-45)
    figure.update_yaxes(title=escape(row_title), **_ticks(rows), showgrid=False, zeroline=False)
    figure.update_layout(height=max(320, min(760, 150 + 24 * len(rows))))
    return figure


def _ticks(names: Sequence[str], most: int = 34) -> dict:
    step = -(-len(names) // most)
    shown = list(range(0, len(names), step))
    return {"tickmode": "array", "tickvals": shown, "ticktext": [escape(names[i]) for i in shown]}


def best_match_path(matrix: np.ndarray, distance: bool = False) -> np.ndarray:
    """For every row the column that agrees with it best; -1 for a row without a value."""
    filled = np.where(np.isfinite(matrix), -matrix if distance else matrix, -np.inf)
    return np.where(np.isfinite(filled).any(axis=1), filled.argmax(axis=1), -1)
