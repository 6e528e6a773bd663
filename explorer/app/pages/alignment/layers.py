"""Which layers of two models agree, raw and against chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.clickable import clickable_figure
from explorer.app.pages.alignment.certainty import certainty
from explorer.app.pages.alignment.controls import cautions, choose_measure, open_in_geometry
from explorer.app.pages.alignment.health import health_of_layers
from explorer.datasets.base import Dataset
from explorer.figures.heatmap import SCALES, layer_heatmap
from explorer.figures.theme import escape
from explorer.measures.registry import Measure

QUICK_NULLS = ("cka", "mutual_knn", "jaccard_knn", "cycle_knn", "rank_similarity", "triplet_agreement")
ALPHA = 0.05
# Which p-value decides whether a cell is crossed out.
MARKS = {"cell_p": "best cell under chance", "q": "false discovery rate"}


@dataclass(frozen=True)
class Null:
    """How chance is drawn: how often, and within which groups of items (codes), if any."""

    permutations: int
    within: str = ""
    groups: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Pair:
    """Two models and their layers."""

    a: str
    b: str
    rows: pl.DataFrame
    columns: pl.DataFrame

    @property
    def row_names(self) -> list[str]:
        return self.rows["layer"].to_list()

    @property
    def column_names(self) -> list[str]:
        return self.columns["layer"].to_list()

    @property
    def same(self) -> bool:
        return self.rows["id"].to_list() == self.columns["id"].to_list()


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    measure, params = choose_measure()
    with st.sidebar:
        null = _choose_null(dataset, measure)
    left, right = st.columns(2)
    a = left.selectbox("Rows", models, key="rows", **state.BOUND)
    b = right.selectbox(
        "Columns", models, index=min(len(models) - 1, 2 if len(models) > 2 else 1), key="columns", **state.BOUND
    )
    pair = Pair(a, b, state.layers_of(frame, a), state.layers_of(frame, b))
    found = work.run_job(
        f"{measure.name}: {pair.rows.height} x {pair.columns.height} layers",
        "alignment",
        "alignment-pair",
        stores=state.store_paths(),
        xs=pair.rows["id"].to_list(),
        ys=pair.columns["id"].to_list(),
        measure=measure.id,
        params=params,
        permutations=null.permutations if null else 0,
        groups=null.groups if null else None,
    )
    if found is not None:
        _matrix(pair, found, measure, params, null)
        best = _best_pair(pair, found, measure)
        if best is not None:
            first, second = pair.rows.row(best[0], named=True), pair.columns.row(best[1], named=True)
            certainty(first, second, measure, params)
    health_of_layers(pl.concat([pair.rows, pair.columns]).unique("id", maintain_order=True))


def _choose_null(dataset: Dataset, measure: Measure) -> Null | None:
    wanted = st.toggle(
        "Compare with chance",
        value=measure.id in QUICK_NULLS,
        key=f"calibrated_{measure.id}",
        help="Permutes the items, the same way for all layers. Quick for CKA and neighbour measures.",
    )
    if not wanted:
        return None
    permutations = st.select_slider(
        "Permutations",
        [100, 200, 500, 1000, 2000],
        value=200,
        key="permutations",
        help="The smallest p is 1 / (K + 1).",
    )
    within = st.selectbox(
        "Permute within",
        ["all items", *state.categories(dataset)],
        key="within",
        help="Within groups is the stricter null: agreement that the groups alone bring about is then chance.",
    )
    if within == "all items":
        return Null(permutations)
    return Null(permutations, within, tuple(state.codes(dataset, within)))


def _matrix(pair: Pair, found: dict[str, Any], measure: Measure, params: dict, null: Null | None) -> None:
    scales = list(SCALES) if null else ["raw"]
    left, right = st.columns([3, 2])
    scale = (
        left.segmented_control(
            "Show",
            scales,
            default=scales[0],
            format_func=lambda s: SCALES[s],
            key="scale",
            **state.BOUND,
            help="chance-corrected: (value - chance) / (best - chance); z: standard deviations from chance towards agreement.",
        )
        or scales[0]
    )
    mark = "cell_p"
    if null:
        mark = (
            right.segmented_control(
                "Cross out by",
                list(MARKS),
                default="cell_p",
                format_func=lambda m: MARKS[m],
                key="mark",
                help="Against the best cell under chance all marks hold at once; the false discovery rate (Benjamini & "
                "Hochberg) lets 5 % of the unmarked cells be wrong.",
            )
            or "cell_p"
        )
    _headline(pair, found, measure, null)
    figure = layer_heatmap(
        found["matrix"] if scale == "raw" else found[scale],
        pair.row_names,
        pair.column_names,
        row_title=pair.a,
        column_title=pair.b,
        measure=measure.id if scale == "raw" else scale,
        hover=_hover(pair, found, measure, null),
        at_chance=found[mark] > ALPHA if null else None,
        reverse=measure.is_distance and scale == "raw",
        low=float(np.nanmean(found["null_mean"])) if null and scale == "raw" and not measure.is_distance else None,
    )
    click = clickable_figure(figure, key="pair-heatmap", name=f"{measure.id}-{pair.a}-{pair.b}")
    _caption(pair, found, measure, params, null, mark)
    if click and click.get("row") is not None:
        open_in_geometry([(pair.a, pair.row_names[click["row"]]), (pair.b, pair.column_names[click["column"]])])
    _without_mouse(pair, found, measure)


def _caption(pair: Pair, found: dict, measure: Measure, params: dict, null: Null | None, mark: str) -> None:
    both = pl.concat([pair.rows, pair.columns])
    settings = {"permutations": found["permutations"], "seed": found["seed"]} if null else {}
    within = {"permuted within": null.within} if null and null.within else {}
    crosses = f"A cross marks a cell with {'p' if mark == 'cell_p' else 'q'} > 0.05 ({MARKS[mark]}). " if null else ""
    said = state.described(both, measure=measure.id, **params, **settings, **within)
    st.caption(f"{said} {crosses}Click a cell to open both layers in Geometry.")
    for warning in cautions(measure.id, params, both):
        st.warning(warning, icon=":material/warning:")


def _without_mouse(pair: Pair, found: dict, measure: Measure) -> None:
    with st.expander("Open a pair without the mouse, or take the numbers away"):
        one, two, go = st.columns([2, 2, 1], vertical_alignment="bottom")
        first = one.selectbox(f"Layer of {pair.a}", pair.row_names, index=len(pair.row_names) - 1, key="open_row")
        second = two.selectbox(
            f"Layer of {pair.b}", pair.column_names, index=len(pair.column_names) - 1, key="open_column"
        )
        if go.button("Open in Geometry"):
            open_in_geometry([(pair.a, first), (pair.b, second)])
        st.download_button(
            "Download the matrix as CSV",
            on_click="ignore",
            mime="text/csv",
            file_name=f"{measure.id}-{pair.a}-{pair.b}.csv".replace("/", "-"),
            data=lambda: _as_table(pair, found).write_csv().encode(),
        )


def _as_table(pair: Pair, found: dict) -> pl.DataFrame:
    names = ("matrix", "null_mean", "null_sd", "corrected", "z", "cell_p", "own_p", "q")
    parts = {("value" if k == "matrix" else k): np.asarray(found[k]).ravel() for k in names if k in found}
    rows = [name for name in pair.row_names for _ in pair.column_names]
    return pl.DataFrame({"row": rows, "column": pair.column_names * len(pair.row_names)} | parts)


def _hover(pair: Pair, found: dict, measure: Measure, null: Null | None) -> list[list[str]]:
    def text(i: int, j: int) -> str:
        lines = [
            f"{escape(pair.a)} / {escape(pair.row_names[i])}",
            f"{escape(pair.b)} / {escape(pair.column_names[j])}",
            f"<b>{measure.id} {found['matrix'][i, j]:.4f}</b>",
        ]
        if null:
            within = f" within {escape(null.within)}" if null.within else ""
            lines += [
                f"chance {found['null_mean'][i, j]:.4f} ± {found['null_sd'][i, j]:.4f} ({found['permutations']} permutations{within})",
                f"chance-corrected {found['corrected'][i, j]:.4f}, z = {found['z'][i, j]:.1f}",
                f"p = {found['cell_p'][i, j]:.4f} against the best cell under chance",
                f"p = {found['own_p'][i, j]:.4f} against its own chance, q = {found['q'][i, j]:.4f}",
            ]
        return "<br>".join(lines)

    return [[text(i, j) for j in range(len(pair.column_names))] for i in range(len(pair.row_names))]


def _best_pair(pair: Pair, found: dict, measure: Measure) -> tuple[int, int] | None:
    """Row and column of the best cell; a layer against itself does not count."""
    matrix = np.array(found["matrix"], dtype=float)
    if pair.same:
        np.fill_diagonal(matrix, np.nan)
    if np.isnan(matrix).all():
        return None
    at = np.nanargmin(matrix) if measure.is_distance else np.nanargmax(matrix)
    i, j = np.unravel_index(at, matrix.shape)
    return int(i), int(j)


def _headline(pair: Pair, found: dict, measure: Measure, null: Null | None) -> None:
    if pair.same:
        st.markdown("The same model twice: the diagonal is a layer against itself.")
        return
    best = _best_pair(pair, found, measure)
    if best is None:
        st.warning("The measure has no value for any pair of these layers.")
        return
    i, j = best
    words = (
        f"Best pair: **{pair.a} / {pair.row_names[i]}** with **{pair.b} / {pair.column_names[j]}**, "
        f"{measure.id} = **{found['matrix'][i, j]:.3f}**"
    )
    if not null:
        count = found["matrix"].size
        st.markdown(
            f"{words}. A best pair out of {count} says little without chance beside it: switch *Compare with chance* on."
        )
        return
    verdict = "more than chance" if found["p_value"] <= ALPHA else "**not** more than chance"
    st.markdown(
        f"{words}. Under chance the best pair exceeds {found['threshold']:.3f} in one case of twenty: this is {verdict} "
        f"(p = {found['p_value']:.3f}, {found['permutations']} permutations, seed {found['seed']}; calibrated score {found['score']:.3f})."
    )
