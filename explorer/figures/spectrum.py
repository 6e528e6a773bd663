"""Dimension over scales and sizes, and the spectrum with its power law."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import polars as pl

from explorer.figures.theme import PALETTE, base_layout, escape

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")


def _rgba(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def scale_curve(
    curve: Mapping[str, np.ndarray], points: Mapping[str, tuple[float, float]], linear: Mapping[str, float]
) -> go.Figure:
    """Gride's curve over neighbours with its error, other estimates at their scale, linear dimensions as lines.

    Parameters
    ----------
    curve : mapping
        ``neighbours``, ``dimension``, ``error``, as Gride gives them.
    points : mapping
        Name -> (neighbours that the estimate looks at, value).
    linear : mapping
        Name -> value.
    """
    figure = go.Figure()
    x, y, error = (np.asarray(curve[name], dtype=float) for name in ("neighbours", "dimension", "error"))
    x = 2 * x
    figure.add_scatter(
        x=[*x, *x[::-1]], y=[*(y + 1.96 * error), *(y - 1.96 * error)[::-1]], fill="toself", mode="lines",
        fillcolor=_rgba(PALETTE[0], 0.18), line={"width": 0}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    figure.add_scatter(
        x=x, y=y, mode="lines+markers", name="Gride", line={"color": PALETTE[0], "width": 2},
        hovertemplate="up to neighbour %{x}<br>dimension %{y:.3g}<extra>Gride</extra>",
    )  # fmt: skip
    for number, (name, (k, value)) in enumerate(points.items(), start=1):
        figure.add_scatter(
            x=[k], y=[value], mode="markers", name=escape(name),
            marker={"color": PALETTE[number], "symbol": SYMBOLS[number % len(SYMBOLS)], "size": 11},
            hovertemplate=f"{escape(name)}, neighbour %{{x}}<br>dimension %{{y:.3g}}<extra></extra>",
        )  # fmt: skip
    for name, value in linear.items():
        figure.add_hline(
            value, line={"color": "#888888", "dash": "dash", "width": 1.5}, annotation_text=f"{escape(name)} (linear) {value:.1f}",
            annotation_position="top right", annotation_font_size=11,
        )  # fmt: skip
    base_layout(figure, height=420, title={"text": "Dimension against scale", "font": {"size": 15}})
    figure.update_xaxes(title="farthest neighbour looked at (small scale to large)", type="log", dtick=np.log10(2))
    figure.update_yaxes(title="dimension", rangemode="tozero")
    return figure


def size_curves(frame: pl.DataFrame, titles: Mapping[str, str]) -> go.Figure:
    """Dimensions against the number of items, with the middle 90 % of subsets."""
    figure = go.Figure()
    sizes = sorted(frame["n"].unique().to_list())
    for number, (measure, title) in enumerate(titles.items()):
        part, colour = frame.filter(pl.col("measure") == measure).sort("n"), PALETTE[number]
        n = part["n"].to_list()
        figure.add_scatter(
            x=n + n[::-1], y=part["high"].to_list() + part["low"].to_list()[::-1], fill="toself", mode="lines",
            fillcolor=_rgba(colour, 0.15), line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=measure,
        )  # fmt: skip
        figure.add_scatter(
            x=n, y=part["mean"].to_list(), mode="lines+markers", name=escape(title), legendgroup=measure,
            line={"color": colour, "width": 2}, marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 8},
            hovertemplate=f"{escape(title)}, %{{x:,}} items<br>%{{y:.3g}}<extra></extra>",
        )  # fmt: skip
    base_layout(figure, height=420, title={"text": "Dimension against the number of items", "font": {"size": 15}})
    figure.update_xaxes(title="items", type="log", tickmode="array", tickvals=sizes, ticktext=[f"{v:,}" for v in sizes])
    figure.update_yaxes(title="dimension", rangemode="tozero")
    return figure


def eigenspectrum(spectrum: np.ndarray, fit: Mapping[str, float] | None) -> go.Figure:
    """Variance of each principal component against its rank, both on log axes, with the fitted power law.

    Parameters
    ----------
    fit : mapping, optional
        ``exponent``, ``intercept``, ``first``, ``last``, ``r2``.
    """
    figure = go.Figure()
    kept = spectrum[spectrum > spectrum[0] * 1e-12]
    shares = kept / spectrum.sum()
    rank = np.arange(1, len(kept) + 1)
    figure.add_scatter(
        x=rank, y=shares, mode="lines+markers", name="share of the variance", marker={"size": 4, "color": PALETTE[0]},
        line={"width": 1, "color": PALETTE[0]}, hovertemplate="component %{x}<br>%{y:.3%} of the variance<extra></extra>",
    )  # fmt: skip
    if fit is not None:
        x = np.array([fit["first"], fit["last"]], dtype=float)
        y = np.exp(fit["intercept"]) * x ** -fit["exponent"] / spectrum.sum()
        words = f"rank ^ -{fit['exponent']:.2f} on ranks {fit['first']:.0f} to {fit['last']:.0f} (R2 {fit['r2']:.3f})"
        figure.add_scatter(x=x, y=y, mode="lines", name=words, line={"color": PALETTE[3], "width": 3}, hoverinfo="skip")
    base_layout(figure, height=420, title={"text": "Spectrum", "font": {"size": 15}})
    figure.update_xaxes(title="principal component", type="log", dtick=1)
    figure.update_yaxes(title="share of the variance", type="log", exponentformat="power", dtick=1)
    return figure
