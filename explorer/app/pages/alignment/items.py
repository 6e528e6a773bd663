"""On which items do two representations agree, and on which not?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.linked_view import Colour, linked_view
from explorer.app.pages.alignment.controls import choose_measure
from explorer.app.pages.geometry import thumbnail, view_of
from explorer.datasets.base import LABEL, Dataset
from explorer.figures.agreement import agreement_histogram
from explorer.measures.registry import Measure

SHOWN = 20
NEIGHBOURS = 10


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    measure, params = choose_measure("items_measure", "mutual_knn", lambda m: m.agree is not None)
    order = state.first_models(models)
    identities = []
    for k, column in enumerate(st.columns(2)):
        with column:
            preferred = models.index(order[k % len(order)])
            identities.append(
                state.choose_representation(frame, f"i{k + 1}_", preferred, 1.0 if k < len(models) else 0.0)
            )
    k = int(params.get("k", NEIGHBOURS))
    found = work.run_job(
        f"{measure.name}, item by item", "agreement", "agreement", stores=state.store_paths(),
        xs=identities[:1], ys=identities[1:], measure=measure.id, params=params, k=k,
    )  # fmt: skip
    if found is None:
        return
    for note in found["notes"]:
        st.caption(note)
    if found["items"] is None:
        st.warning("The measure has no value for this pair.")
        return
    items = np.asarray(found["items"], dtype=float)
    settings = {"measure": measure.id, **params, "value": f"{found['value']:.4f}"}
    st.caption(state.described(frame.filter(pl.col("id").is_in(identities)), **settings))
    _views(dataset, identities, items, measure)
    left, right = st.columns([2, 3])
    with left:
        _histogram(dataset, items, measure)
    with right:
        _one_item(dataset, found["neighbours"], items, identities)


def _views(dataset: Dataset, identities: list[str], items: np.ndarray, measure: Measure) -> None:
    views = [view_of(identity, "pca") for identity in identities]
    placed = state.align_to_first([v.points for v in views])
    views = [type(v)(v.title, v.axes, p) for v, p in zip(views, placed)]
    worst = np.argsort(np.where(np.isfinite(items), items, np.inf), kind="stable")
    buttons = st.columns(4)
    count = min(SHOWN, len(items))
    for column, label, chosen in (
        (buttons[0], f"Select the {count} that disagree most", worst[:count]),
        (buttons[1], f"Select the {count} that agree most", worst[::-1][:count]),
    ):
        if column.button(label, width="stretch"):
            state.remember_selection(dataset, np.sort(chosen))
            # A view keeps what was selected in it; a new one takes the selection that was made here.
            st.session_state["items_round"] = st.session_state.get("items_round", 0) + 1
    if buttons[2].button("Open in Geometry", width="stretch"):
        from explorer.app.pages.alignment.controls import open_in_geometry

        origins = [state.load(identity).origin for identity in identities]
        open_in_geometry([(o.model, o.layer) for o in origins])
    colour = Colour("number", f"{measure.id} of the item", items)
    round_number = st.session_state.get("items_round", 0)

    @st.fragment
    def panel() -> None:
        index = linked_view(
            dataset, views, colour, key=f"items-{dataset.fingerprint}-{round_number}", height=430,
            push=state.selection_push(dataset),
        )  # fmt: skip
        state.remember_selection(dataset, index)
        if index is not None:
            inside, outside = items[index], np.delete(items, index)
            rest = f", the others {np.nanmean(outside):.3f}" if len(outside) else ""
            st.markdown(f"{len(index):,} selected items agree by **{np.nanmean(inside):.3f}** on average{rest}.")

    panel()


def _histogram(dataset: Dataset, items: np.ndarray, measure: Measure) -> None:
    groups = state.categories(dataset)
    if groups:
        name = st.selectbox("Mean by", list(groups), key="items_group")
        table = (
            pl.DataFrame({"group": groups[name].cast(pl.String).fill_null("(none)"), "agreement": items})
            .group_by("group").agg(pl.col("agreement").mean(), pl.len().alias("items")).sort("agreement")
        )  # fmt: skip
    st.plotly_chart(
        agreement_histogram(items, measure.id), key="items_histogram",
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
    )  # fmt: skip
    if groups:
        st.dataframe(table.rename({"group": name}), hide_index=True, height=250)


def _one_item(dataset: Dataset, neighbours: list[np.ndarray], items: np.ndarray, identities: list[str]) -> None:
    order = np.argsort(np.where(np.isfinite(items), items, np.inf), kind="stable")
    chosen = st.selectbox(
        "Neighbours of (those that disagree most first)",
        [int(i) for i in order],
        format_func=lambda i: f"{dataset.labels[i]} ({items[i]:.2f})",
        key="items_item",
    )
    lists = [found[chosen].tolist() for found in neighbours]
    shared = set(lists[0]) & set(lists[1])
    st.caption(f"{len(shared)} of {len(lists[0])} nearest neighbours are shared (marked ●).")
    for column, identity, found in zip(st.columns(2), identities, lists):
        origin = state.load(identity).origin
        column.markdown(f"**{origin.model} / {origin.layer}**")
        column.dataframe(
            _rows(dataset, found, shared), hide_index=True, height=390,
            column_config={"picture": st.column_config.ImageColumn("", width="small"), "shared": st.column_config.Column("", width=30)},
        )  # fmt: skip


def _rows(dataset: Dataset, found: list[int], shared: set[int]) -> list[dict[str, Any]]:
    rows = []
    for item in found:
        row: dict[str, Any] = {"shared": "●" if item in shared else "", LABEL: dataset.labels[item]}
        rows.append({"picture": thumbnail(dataset, item)} | row if dataset.images is not None else row)
    return rows
