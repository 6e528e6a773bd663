"""Maps from one representation to another, and a universe shared by three and more; judged on held-out items."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.clickable import clickable_figure
from explorer.app.components.linked_view import View, linked_view
from explorer.app.pages.alignment.controls import open_in_geometry
from explorer.app.pages.geometry import colour_by, first_colour
from explorer.datasets.base import Dataset
from explorer.figures.heatmap import layer_heatmap
from explorer.figures.theme import escape
from explorer.measures.registry import get_measure

UNIVERSES = {"gpa": "rotations only (GPA)", "gcpa": "rotations, then one shared correction (GCPA)"}
TABLES = {"mrr": "mean reciprocal rank", "top1": "found first", "top5": "among the first five"}
MOST_VIEWS = 4
# From the strictest map to the freest.
ORDER = ("orthogonal_map", "lambda_orthogonal", "relative_map", "cca_map", "ridge_map", "affine_map")
HELP = {
    "first": "Share of held-out items whose own partner is the nearest, from X to Y and back.",
    "five": "Share whose partner is among the five nearest.",
    "MRR": "Mean of 1 / rank of the partner.",
    "R2": "Share of the variance of the held-out answers that the mapped items tell.",
    "distances": "Mean relative change of the distances between items under the map, after the best common scale.",
}


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    with st.sidebar:
        share = st.slider(
            "Share of items to fit on", 0.2, 0.9, 0.5, 0.1, key="map_share",
            help="A map is fitted on this part of the items and judged on the others (seed 0).",
        )  # fmt: skip
    st.subheader("From one to another")
    order = state.first_models(models)
    identities = []
    for k, (column, side) in enumerate(zip(st.columns(2), ("From", "to"))):
        with column:
            st.markdown(f"**{side}**")
            preferred = models.index(order[k % len(order)])
            identities.append(
                state.choose_representation(frame, f"m{k + 1}_", preferred, 1.0 if k < len(models) else 0.0)
            )
    _pair_table(dataset, frame, identities, share)
    st.subheader("A universe shared by three and more")
    _universe(dataset, frame, models, share)


def _pair_table(dataset: Dataset, frame: pl.DataFrame, identities: list[str], share: float) -> None:
    found = work.run_job(
        "Fitting maps", "maps", "maps", stores=state.store_paths(), xs=identities[:1], ys=identities[1:], share=share
    )
    if found is None:
        return
    rows = [
        _readable(row) for row in sorted(found, key=lambda row: ORDER.index(row["id"]) if row["id"] in ORDER else 99)
    ]
    columns = {
        name: st.column_config.NumberColumn(format="%.3f", help=_help(name)) for name in rows[0] if name != "map"
    }
    st.dataframe(rows, hide_index=True, column_config=columns)
    held_out = len(dataset) - round(share * len(dataset))
    chance = found[0]["chance_mrr"]
    said = state.described(frame.filter(pl.col("id").is_in(identities)), share=share, seed=0)
    st.caption(
        f"{said} {held_out} held-out items; a map that knows nothing has MRR {chance:.3f} and finds "
        f"{1 / held_out:.1%} first. Hover a column's name for what it means; the page Methods has each map."
    )


def _help(name: str) -> str | None:
    return next((words for key, words in HELP.items() if key in name), None)


def _readable(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "map": row["name"].removesuffix(", held out"),
        "first →": row["top1_there"],
        "first ←": row["top1_back"],
        "five →": row["top5_there"],
        "five ←": row["top5_back"],
        "MRR →": row["mrr_there"],
        "MRR ←": row["mrr_back"],
        "R2": row["r2"],
        "distance change": row["distance_change"],
    }


def _universe(dataset: Dataset, frame: pl.DataFrame, models: list[str], share: float) -> None:
    rows = {
        f"{m} / {layer}": i for m in models for layer, i in state.layers_of(frame, m).select("layer", "id").iter_rows()
    }
    lasts = [f"{m} / {state.layers_of(frame, m)['layer'][-1]}" for m in models]
    default = lasts if len(lasts) >= 3 else list(rows)[-3:]
    chosen = st.multiselect(
        "Representations", list(rows), default=default, key=f"universe-{dataset.fingerprint}", max_selections=12
    )
    how = st.segmented_control(
        "Alignment", list(UNIVERSES), default="gcpa", format_func=lambda u: UNIVERSES[u], key="universe", **state.BOUND
    ) or "gcpa"  # fmt: skip
    st.caption(get_measure(how).caveat)
    if len(chosen) < 3:
        st.info("Choose three representations or more.")
        return
    found = work.run_job(
        f"Aligning {len(chosen)} representations", "universe", "universe", stores=state.store_paths(),
        identities=[rows[name] for name in chosen], measure=how, share=share,
    )  # fmt: skip
    if found is None:
        return
    which = st.segmented_control(
        "Any-to-any retrieval", list(TABLES), default="mrr", format_func=lambda t: TABLES[t], key="universe_table"
    ) or "mrr"  # fmt: skip
    _retrieval_table(found, chosen, which)
    _universe_views(dataset, found, chosen)


def _retrieval_table(found: dict[str, Any], chosen: list[str], which: str) -> None:
    table = np.array(found[which], dtype=float)
    np.fill_diagonal(table, np.nan)
    hover = [
        [
            f"from {escape(a)}<br>to {escape(b)}<br><b>{TABLES[which]} {table[i, j]:.3f}</b>"
            for j, b in enumerate(chosen)
        ]
        for i, a in enumerate(chosen)
    ]
    short = [name if len(name) < 26 else name[:24] + "…" for name in chosen]
    figure = layer_heatmap(table, short, short, row_title="from", column_title="to", measure=TABLES[which], hover=hover)
    figure.update_traces(texttemplate="%{z:.3f}", selector={"type": "heatmap"})
    figure.update_layout(margin={"l": 190, "b": 60}, height=130 + 42 * len(chosen))
    figure.update_xaxes(tickangle=0 if len(chosen) < 6 else -30)
    click = clickable_figure(figure, key="universe-heatmap", name="any-to-any")
    plain = found.get("gpa_mrr")
    off = ~np.eye(len(chosen), dtype=bool)
    words = f"Consensus share {found['value']:.3f}. " if plain is None else ""
    if plain is not None:
        words = f"Mean reciprocal rank {found['value']:.3f} with the correction, {np.asarray(plain)[off].mean():.3f} without. "
    st.caption(f"{words}Held-out items. Click a cell to open both representations in Geometry.")
    if click and click.get("row") is not None:
        open_in_geometry([tuple(chosen[click[k]].split(" / ", 1)) for k in ("row", "column")])


def _universe_views(dataset: Dataset, found: dict[str, Any], chosen: list[str]) -> None:
    views = [View(name, "shared axes", np.asarray(p)) for name, p in list(zip(chosen, found["points"]))[:MOST_VIEWS]]

    @st.fragment
    def panel() -> None:
        index = linked_view(
            dataset, views, colour_by(dataset, first_colour(dataset)), key=f"universe-view-{dataset.fingerprint}",
            height=430, push=state.selection_push(dataset),
        )  # fmt: skip
        state.remember_selection(dataset, index)
        more = f" The first {MOST_VIEWS} of {len(chosen)} are drawn." if len(chosen) > MOST_VIEWS else ""
        st.caption(
            f"All items in the universe, two axes common to all models; the selection holds on every page.{more}"
        )

    panel()
