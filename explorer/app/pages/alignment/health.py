"""Data health: what is wrong with the layers before any number is believed."""

from __future__ import annotations

import polars as pl
import streamlit as st

from explorer.app import state, work

# A sign beside the number, so that nobody has to tell colours apart.
SIGNS = {"good": "", "look": " ▲", "bad": " ✖"}


def health_of_layers(frame: pl.DataFrame) -> None:
    """A table of all findings for these layers, and what the grave ones do to which measures."""
    with st.expander("Data health of these layers"):
        if not st.toggle("Examine them", key="health_on", help="Duplicates, dominant features, narrow cones, hubs..."):
            st.caption(
                "Duplicates, constant and dominant features, narrow cones, hubs, and what each does to which measure."
            )
            return
        found = work.run_job(
            f"Data health of {frame.height} layers", "health", "health", stores=state.store_paths(),
            identities=frame["id"].to_list(),
        )  # fmt: skip
        if found is None:
            return
        names = [f"{m} / {layer}" for m, layer in zip(frame["model"], frame["layer"])]
        st.dataframe(
            [{"layer": name} | {f.name: f.shown + SIGNS[f.level] for f in each} for name, each in zip(names, found)],
            hide_index=True,
        )
        grave: dict[str, list[str]] = {}
        for name, each in zip(names, found):
            for finding in each:
                if finding.level != "good":
                    mark = SIGNS[finding.level].strip()
                    grave.setdefault(f"{mark} **{finding.name}**: {finding.meaning}", []).append(name)
        for words, layers in sorted(grave.items(), key=lambda item: (item[0][0] != "✖", -len(item[1]))):
            where = ", ".join(layers[:3]) + (f" and {len(layers) - 3} more" if len(layers) > 3 else "")
            st.markdown(f"- {words} ({where})")
        if not grave:
            st.markdown("Nothing stands out.")
