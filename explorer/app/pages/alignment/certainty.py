"""How sure is the number of one pair: its interval over items, and its dependence on how many items there are."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.figures.curves import gallery_figure
from explorer.measures.registry import Measure


def certainty(first: dict[str, Any], second: dict[str, Any], measure: Measure, params: dict[str, Any]) -> None:
    """An expander in which the interval and the gallery curve of the best pair are computed when asked for."""
    with st.expander("How sure is the best pair?"):
        st.caption(f"{first['model']} / {first['layer']} with {second['model']} / {second['layer']}")
        left, right = st.columns(2)
        with left:
            if st.toggle("Interval over items", key="interval_on"):
                _interval(first["id"], second["id"], measure, params)
        has_gallery = any(p.name == "k" for p in measure.parameters) and measure.family == "similarity"
        with right:
            if has_gallery and st.toggle("Value against the number of items", key="gallery_on"):
                share = st.toggle("k grows with the number of items", key="gallery_share")
                _gallery(first["id"], second["id"], measure, params, share)


def _interval(first: str, second: str, measure: Measure, params: dict[str, Any]) -> None:
    found = work.run_job(
        f"{measure.name}: interval", "interval", "alignment-interval", stores=state.store_paths(),
        xs=[first], ys=[second], measure=measure.id, params=params,
    )  # fmt: skip
    if found is None:
        return
    st.metric(
        f"{measure.id}, {found.level:.0%} interval",
        f"{found.value:.3f}  [{found.low:.3f}, {found.high:.3f}]",
        help="How much the value would move with other items of the same kind. A best pair was picked for being high, so "
        "its interval does not say that it beats chance; the p-value above does.",
    )
    st.caption(f"{found.draws} draws, {found.method}, seed 0.")


def _gallery(first: str, second: str, measure: Measure, params: dict[str, Any], share: bool) -> None:
    found = work.run_job(
        f"{measure.name}: number of items", "gallery", "alignment-gallery", stores=state.store_paths(),
        xs=[first], ys=[second], measure=measure.id, params=params, growing=share,
    )  # fmt: skip
    if found is None:
        return
    st.plotly_chart(
        gallery_figure(pl.DataFrame(found), measure.id),
        key="gallery",
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
    )
    st.caption(
        "Random subsets of the items (10 at each size, band: 95 % of them). Agreement on neighbours falls as items are "
        "added, since each one competes to be a neighbour: compare only at equal numbers."
    )
