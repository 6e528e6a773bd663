"""Model space: representations as points, near ones alike; layers of a model joined by a line; and as a tree."""

from __future__ import annotations

import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.clickable import clickable_figure
from explorer.app.pages.alignment.controls import choose_measure, open_in_geometry
from explorer.datasets.base import Dataset
from explorer.figures.space import model_map, model_tree
from explorer.model_space import as_distances, model_space


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    measure, params = choose_measure("space_measure", "procrustes", lambda m: m.symmetric)
    shown = st.multiselect("Models", models, default=models, key=f"space-{dataset.fingerprint}")
    parts = [state.layers_of(frame, m) for m in shown]
    ids = [i for part in parts for i in part["id"]]
    if len(ids) < 3:
        st.info("Choose models with three layers or more in all.")
        return
    found = work.run_job(
        f"{measure.name}: {len(ids)} representations", "alignment", "space", stores=state.store_paths(),
        xs=ids, ys=ids, measure=measure.id, params=params,
    )  # fmt: skip
    if found is None:
        return
    space = model_space(as_distances(found["matrix"], measure))
    names = [(m, str(layer)) for m, part in zip(shown, parts) for layer in part["layer"]]
    left, right = st.columns(2)
    with left:
        click = clickable_figure(model_map(space, names), key="space-map", name=f"{measure.id}-space")
        if click and click.get("point") is not None and click["curve"] < len(shown):
            layer = str(parts[click["curve"]]["layer"][click["point"]])
            open_in_geometry([(shown[click["curve"]], layer)])
    with right:
        st.plotly_chart(
            model_tree(space, [f"{m} / {layer}" for m, layer in names]), key="space-tree",
            config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
        )  # fmt: skip
    proper = "" if measure.is_metric else " (turned into a distance)"
    said = state.described(frame.filter(pl.col("id").is_in(ids)), measure=f"{measure.id}{proper}", **params)
    st.caption(
        f"{said} Classical scaling keeps {space.share:.0%} of the squared distances in two axes, which have no meaning of "
        "their own. Lines join the layers of a model in order, larger marks are later layers. Tree: average linkage. Click a "
        "point to open it in Geometry."
    )
    if space.share < 0.5:
        st.warning(
            "Two axes keep less than half: points that look near may be far apart. Trust the tree and the matrix.",
            icon=":material/warning:",
        )
