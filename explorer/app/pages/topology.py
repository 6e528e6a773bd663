"""Topology: persistent homology of one representation."""

from __future__ import annotations

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.figures.persistence import barcode, betti_curves, persistence_diagram

DEFAULT_POINTS = {0: 1000, 1: 500, 2: 150}
GRID = 300


def page() -> None:
    """Show the page."""
    st.title("Topology")
    dataset, frame, _ = state.choose_represented()
    with st.sidebar:
        identity = state.choose_representation(frame, "t_", 0, 0.15)
        items = state.choose_items(dataset, "t_")
        top = st.segmented_control(
            "Highest dimension", [0, 1, 2], default=1, format_func=lambda q: f"H{q}", key="t_dim", **state.BOUND
        )
        top = 1 if top is None else top
        metric = (
            st.segmented_control(
                "Distance", ["euclidean", "cosine"], default="euclidean", key="t_metric", **state.BOUND
            )
            or "euclidean"
        )
        most = int(st.number_input("Landmarks at most", 4, 2000, DEFAULT_POINTS[top], key=f"t_points_{top}"))
    r = state.load(identity)
    count = len(items) if items is not None else r.values.shape[0]
    used = min(count, most)
    if count < 4:
        st.warning(f"There are {count} item(s) in this group; at least four are needed to look for a hole.")
        return
    st.caption(
        f"{r.name}: {used} of {count} items{' (maxmin landmarks)' if used < count else ''}, about {_estimate(used, top)} "
        "on one core; a real loop can take ten times longer. It runs beside the app and can be cancelled."
    )
    params = {"max_dim": top, "metric": metric, "max_points": most}
    found = work.measure_of("Persistence", "topology", identity, "persistence", params, items)
    if found is None:
        return
    for note in found["notes"]:
        st.caption(note)
    _show(found["diagrams"], float(found["details"]["diameter"]), top)
    st.caption(
        state.described(frame.filter(pl.col("id") == identity), measure="persistence", items_used=used, **params)
    )


def _estimate(n: int, top: int) -> str:
    """Seconds from a power law fitted to runs of ripser on Gaussian data (8 dimensions)."""
    seconds = {0: 1e-7 * n**2, 1: 1.0e-9 * n**3, 2: 2e-8 * n**3.4}[top]
    return "a moment" if seconds < 1 else f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _show(diagrams: list[np.ndarray], diameter: float, top: int) -> None:
    from explorer.homology import betti_curve, lifetimes

    loops = lifetimes(diagrams[top]) if top else np.empty(0)
    loops = loops[np.isfinite(loops)] / diameter if diameter else loops
    if top:
        _reading(loops, top)
    left, right = st.columns(2)
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    left.plotly_chart(persistence_diagram(diagrams), key="diagram", config=config)
    right.plotly_chart(barcode(diagrams), key="barcode", config=config)
    radii = np.linspace(
        0, max((float(d[np.isfinite(d)].max(initial=0)) for d in diagrams if len(d)), default=1.0) * 1.05, GRID
    )
    curves = [betti_curve(d, radii) for d in diagrams]
    left, right = st.columns(2)
    left.plotly_chart(betti_curves(diagrams, curves, radii), key="betti", config=config)
    with right:
        st.markdown("**The longest bars**")
        rows = [
            {"dimension": f"H{q}", "birth": b, "death": d, "length": d - b, "length / diameter": (d - b) / diameter}
            for q, diagram in reversed(list(enumerate(diagrams)))
            for b, d in diagram[:6]
        ]
        table = pl.DataFrame(
            rows,
            schema={
                k: pl.String if k == "dimension" else pl.Float64
                for k in ("dimension", "birth", "death", "length", "length / diameter")
            },
        )
        st.dataframe(table, hide_index=True, height=330)


def _reading(lengths: np.ndarray, top: int) -> None:
    what = {1: "loop", 2: "void"}[top]
    first, second = (float(lengths[i]) if len(lengths) > i else 0.0 for i in range(2))
    one, two, _ = st.columns([1, 1, 3])
    one.metric(
        f"Longest {what} / diameter", f"{first:.3f}", help="Length of the longest finite bar over the largest distance."
    )
    two.metric("Second longest", f"{second:.3f}")
    if first >= 0.25 and first > 3 * second:
        words = f"One bar stands out: this looks like **one clear {what}**."
    elif first >= 0.1 and first > 2 * second:
        words = f"One bar is longer than the rest: a **weak {what}** at most."
    else:
        words = f"No bar stands out: **no {what}** can be claimed here."
    st.markdown(f"{words} This is a rule of thumb; noise makes bars, too, and these are not compared with a null yet.")
