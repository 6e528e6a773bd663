"""Every stored layer of every model against every other."""

from __future__ import annotations

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.clickable import clickable_figure
from explorer.app.pages.alignment.controls import choose_measure, open_in_geometry
from explorer.datasets.base import Dataset
from explorer.figures.heatmap import layer_heatmap
from explorer.figures.theme import escape


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    measure, params = choose_measure()
    which = st.segmented_control("Layers", ["all", "last of each model"], default="all", key="which_layers") or "all"
    parts = [state.layers_of(frame, m) for m in models]
    if which != "all":
        parts = [part.tail(1) for part in parts]
    ids = [i for part in parts for i in part["id"]]
    names = [f"{m} / {layer}" for m, part in zip(models, parts) for layer in part["layer"]]
    found = work.run_job(
        f"{measure.name}: all {len(ids)} representations",
        "alignment",
        "alignment-all",
        stores=state.store_paths(),
        xs=ids,
        ys=ids,
        measure=measure.id,
        params=params,
    )
    if found is None:
        return
    matrix = found["matrix"]
    hover = [
        [f"{escape(names[i])}<br>{escape(names[j])}<br><b>{measure.id} {matrix[i, j]:.4f}</b>" for j in range(len(ids))]
        for i in range(len(ids))
    ]
    figure = layer_heatmap(
        matrix,
        names,
        names,
        row_title="",
        column_title="",
        measure=measure.id,
        hover=hover,
        reverse=measure.is_distance,
    )
    figure.update_layout(height=min(900, 260 + 18 * len(ids)), margin={"l": 190, "b": 190})
    edges = np.cumsum([part.height for part in parts])[:-1] - 0.5
    for edge in edges:
        figure.add_hline(edge, line={"color": "white", "width": 2})
        figure.add_vline(edge, line={"color": "white", "width": 2})
    click = clickable_figure(figure, key="all-heatmap", name=f"{measure.id}-all")
    st.caption("White lines part the models. Click a cell to open both representations in Geometry.")
    if click and click.get("row") is not None:
        open_in_geometry([tuple(names[click[k]].split(" / ", 1)) for k in ("row", "column")])
