"""Workspace: what is here, a first picture at once, and where to go."""

from __future__ import annotations

import polars as pl
import streamlit as st

from explorer.app import state
from explorer.app.components.linked_view import linked_view
from explorer.app.pages.geometry import colour_by, first_colour, view_of

CARDS = (
    ("geometry", "See the space", "Two to four layers side by side; draw around items in one, see them in all."),
    ("alignment", "Compare layers", "Which layers of two models agree, and is that more than chance?"),
    ("profiles", "Follow the depth", "Dimension, spectrum and isotropy from the first layer to the last."),
    ("topology", "Look for holes", "Components, loops and voids by persistent homology."),
    ("curvature", "Measure curvature", "Clusters and bridges of the neighbour graph by Ricci curvature."),
    ("models", "Bring your own", "Run a model on your items, or upload activations (.npy, .npz, .safetensors)."),
)


def _two_representations(frame: pl.DataFrame, models: list[str]) -> tuple[str, str]:
    order = state.first_models(models)
    if len(order) > 1:
        return state.layers_of(frame, order[0])["id"][-1], state.layers_of(frame, order[1])["id"][-1]
    layers = state.layers_of(frame, order[0])["id"]
    return layers[0], layers[-1]


def page() -> None:
    """Show the page."""
    st.title("Representation Geometry Explorer")
    dataset, frame = state.choose_dataset()
    if frame.height == 0:
        st.info("Nothing is stored yet: extract or upload something on the page Models & data.")
        return
    models = state.model_names(frame)
    first, second = _two_representations(frame, models)
    st.markdown(
        f"**{dataset.name}**: {len(dataset):,} items in {frame.height} representations of {len(models)} model(s). "
        "Each point is an item, laid out by PCA. Draw around some on the left and see where the other model puts them."
    )

    @st.fragment
    def picture() -> None:
        views = [view_of(identity, "pca") for identity in (first, second)]
        colour = colour_by(dataset, first_colour(dataset))
        index = linked_view(
            dataset, views, colour, key=f"home-{dataset.fingerprint}", height=430, push=state.selection_push(dataset)
        )
        state.remember_selection(dataset, index)

    picture()
    columns = st.columns(3)
    for place, (path, title, words) in enumerate(CARDS):
        with columns[place % 3].container(border=True):
            st.page_link(st.session_state["pages"][path], label=f"**{title}**")
            st.caption(words)
    with st.expander("What is stored"):
        table = (
            state.representations()
            .group_by("dataset_name", "model", "pooling", maintain_order=True)
            .agg(
                pl.len().alias("layers"),
                pl.col("n_items").first(),
                pl.col("n_features").min().alias("narrowest"),
                pl.col("n_features").max().alias("widest"),
            )
        )
        st.dataframe(table, hide_index=True)
        for store in state.stores():
            for problem in store.problems:
                st.warning(f"{problem} It is left out.")
        st.caption(f"Your own store: {state.user_store_path()}")
