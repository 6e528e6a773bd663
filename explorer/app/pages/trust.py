"""Trust: every measure recomputed on the reference cases, beside the values of public packages."""

from __future__ import annotations

import polars as pl
import streamlit as st

from explorer.app import work
from explorer.measures.registry import registry

EVERYTHING = "all measures"


def page() -> None:
    """Show the page."""
    st.title("Trust")
    st.markdown(
        "Every measure is computed now, on this machine, on small inputs for which several public implementations agree, "
        "or for which the answer is known in closed form. `repgeo verify` does the same in a terminal."
    )
    found = work.run_job("Recomputing the reference cases", "verification", "verification")
    if found is None:
        return
    table, differences = found
    off = table.filter(~pl.col("agrees"))
    one, two, three = st.columns(3)
    one.metric(
        "Reference values that agree",
        f"{table.height - off.height} of {table.height}",
        help="Within the stated tolerance of each case.",
    )
    two.metric("Measures with a reference", f"{table['measure'].n_unique()} of {len(registry())}")
    three.metric(
        "Other values in public packages", f"{differences.height}", help="On the same inputs; the reason is given."
    )
    if off.height:
        st.error(f"{off.height} value(s) differ from their reference: {', '.join(off['measure'].unique())}.")
    chosen = st.selectbox("Measure", [EVERYTHING, *table["measure"].unique(maintain_order=True)], key="trust_measure")
    if chosen != EVERYTHING:
        table, differences = (t.filter(pl.col("measure") == chosen) for t in (table, differences))
    numbers = {name: st.column_config.NumberColumn(format="%.9g") for name in ("ours", "reference", "right", "theirs")}
    small = {name: st.column_config.NumberColumn(format="%.1e") for name in ("difference", "tolerance")}
    st.dataframe(
        table.select(pl.when("agrees").then(pl.lit("✓")).otherwise(pl.lit("✖ off")).alias(" "), pl.exclude("agrees")),
        hide_index=True, column_config=numbers | small, height=420,
    )  # fmt: skip
    st.subheader("Where packages give other values, and why")
    if differences.height == 0:
        st.markdown("None is known for this measure.")
        return
    st.dataframe(differences, hide_index=True, column_config=numbers, height=420)
    st.caption(
        "An empty value means that the package fails on the input. Versions are those of the stored reference files."
    )
