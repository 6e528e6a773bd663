"""Layer profiles: single measures over normalised depth."""

from __future__ import annotations

import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.figures.profile import layer_profiles

DEFAULTS = ["twonn", "participation_ratio", "effective_rank", "mean_cosine"]


def page() -> None:
    """Show the page."""
    from explorer.measures.registry import registry

    st.title("Layer profiles")
    dataset, frame, models = state.choose_represented()
    single = {m.id: m for m in registry().values() if m.kind == "single"}
    with st.sidebar:
        chosen = st.multiselect(
            "Measures", list(single), default=DEFAULTS, format_func=lambda i: single[i].name, key="profile_measures"
        )
        shown = st.multiselect("Models", models, default=models, key="profile_models")
        normalised = st.toggle(
            "Normalised depth", value=True, key="profile_depth", help="0 is the first layer, 1 the last."
        )
    if not chosen or not shown:
        st.info("Choose at least one measure and one model.")
        return
    ids = [i for m in shown for i in state.layers_of(frame, m)["id"]]
    found = work.run_job(
        f"{len(chosen)} measures over {len(ids)} layers",
        "profile",
        "profiles",
        stores=state.store_paths(),
        results=state.results_path(),
        identities=ids,
        measures=chosen,
    )
    if found is None:
        return
    figure = layer_profiles(found, {m: single[m].name for m in chosen}, normalised)
    st.plotly_chart(figure, key="profiles", config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}})
    used = frame.filter(pl.col("id").is_in(ids))
    st.caption(f"{state.described(used)} Settings: {'; '.join(sorted(set(found['measure'] + ' ' + found['params'])))}")
    notes = found.filter(pl.col("note") != "").select("measure", "x_model", "x_layer", "note")
    if notes.height:
        with st.expander(f"{notes.height} remarks (duplicates, undefined values)"):
            st.dataframe(notes, hide_index=True)
    for measure in chosen:
        st.caption(f"**{single[measure].name}**: higher means {single[measure].higher_means}. {single[measure].caveat}")
    st.download_button(
        "Download the numbers as CSV",
        data=lambda: found.write_csv().encode(),
        file_name=f"{dataset.name}-profiles.csv",
        mime="text/csv",
        on_click="ignore",
    )
