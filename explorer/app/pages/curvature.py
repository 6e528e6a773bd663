"""Curvature: the neighbour graph of one representation, its edges coloured by Ricci curvature."""

from __future__ import annotations

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.datasets.base import Dataset
from explorer.figures.curvature import curvature_graph, curvature_histogram

METHODS = {"ollivier_ricci": "Ollivier-Ricci (exact)", "forman_ricci": "Forman-Ricci"}


def page() -> None:
    """Show the page."""
    st.title("Curvature")
    dataset, frame, _ = state.choose_represented()
    with st.sidebar:
        identity = state.choose_representation(frame, "c_", 0, 1.0)
        measure = st.selectbox("Curvature", list(METHODS), key="c_measure", **state.BOUND)
        k = int(st.number_input("Neighbours k", 1, 50, 10, key="c_k"))
        metric = (
            st.segmented_control(
                "Distance", ["euclidean", "cosine"], default="euclidean", key="c_metric", **state.BOUND
            )
            or "euclidean"
        )
        params: dict = {"k": k, "metric": metric}
        if measure == "ollivier_ricci":
            params["alpha"] = st.slider("alpha (the walk stays)", 0.0, 0.95, 0.5, 0.05, key="c_alpha")
        else:
            params["augmented"] = st.toggle("Count triangles", value=True, key="c_augmented")
    r = state.load(identity)
    if r.values.shape[0] <= k:
        st.warning(f"There are {r.values.shape[0]} items; k must be smaller than that.")
        return
    found = work.measure_of(METHODS[measure], "curvature", identity, measure, params)
    if found is None:
        return
    _show(dataset, identity, found, METHODS[measure])
    st.caption(state.described(frame.filter(pl.col("id") == identity), measure=measure, **params))


def _show(dataset: Dataset, identity: str, found: dict, name: str) -> None:
    edges = found["edges"].select("source", "target").to_numpy()
    values = found["edges"]["curvature"].to_numpy()
    layout = state.pca_points(identity)
    share = [f"PC{i + 1} ({100 * v:.0f}%)" for i, v in enumerate(layout.variance)] + ["", ""]
    one, two, three = st.columns(3)
    one.metric("Edges", f"{len(values):,}", help="Two items are joined when either is among the other's k nearest.")
    two.metric(
        "Mean curvature",
        f"{values.mean():.3f}",
        help="Over the edges; negative edges are bridges, positive ones lie inside clusters.",
    )
    three.metric("Negative edges", f"{100 * (values < 0).mean():.0f}%")
    figure = curvature_graph(layout.points, edges, values, np.asarray(found["items"]), dataset.labels, share[:2])
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    st.plotly_chart(figure, key="graph", config=config)
    left, right = st.columns(2)
    left.plotly_chart(curvature_histogram(values, name), key="histogram", config=config)
    with right:
        st.markdown("**The strongest bridges** (most negative edges)")
        order = np.argsort(values)[:12]
        labels = dataset.labels
        rows = [{"curvature": float(values[i]), "from": labels[edges[i, 0]], "to": labels[edges[i, 1]]} for i in order]
        st.dataframe(pl.DataFrame(rows), hide_index=True, height=300)
