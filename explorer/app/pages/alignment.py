"""Alignment: which layers of which models agree, raw and against chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.clickable import clickable_figure
from explorer.figures.heatmap import SCALES, layer_heatmap

QUICK_NULLS = ("cka", "mutual_knn")
ALPHA = 0.05


def _measures() -> dict[str, Any]:
    from explorer.measures.registry import registry

    return {m.id: m for m in registry().values() if m.kind == "pairwise"}


def page() -> None:
    """Show the page."""
    st.title("Alignment")
    _, frame, models = state.choose_represented()
    measures = _measures()
    with st.sidebar:
        ids = list(measures)
        chosen = st.selectbox("Measure", ids, index=ids.index("cka"), key="measure", **state.BOUND)
        measure = measures[chosen]
        params = choose_parameters(measure)
        calibrated = st.toggle(
            "Compare with chance",
            value=chosen in QUICK_NULLS,
            key=f"calibrated_{chosen}",
            help="200 permutations of the items, the same for all layers. Quick for CKA and mutual kNN.",
        )
        st.caption(f"**{measure.name}.** {measure.caveat}")
    pair, everything = st.tabs(["Two models, layer by layer", "All models"])
    with pair:
        left, right = st.columns(2)
        a = left.selectbox("Rows", models, key="rows", **state.BOUND)
        b = right.selectbox(
            "Columns", models, index=min(len(models) - 1, 2 if len(models) > 2 else 1), key="columns", **state.BOUND
        )
        _pair(state.layers_of(frame, a), state.layers_of(frame, b), a, b, measure, params, calibrated)
    with everything:
        _all_models(frame, models, measure, params)


def choose_parameters(measure: Any) -> dict[str, Any]:
    """Widgets for a measure's parameters, with its own defaults and bounds."""
    params = {}
    for p in measure.parameters:
        key = f"{measure.id}_{p.name}"
        if p.choices:
            params[p.name] = st.selectbox(
                p.name, p.choices, index=p.choices.index(p.default), key=key, help=p.help, **state.BOUND
            )
        elif isinstance(p.default, bool):
            params[p.name] = st.toggle(p.name, value=p.default, key=key, help=p.help, **state.BOUND)
        elif isinstance(p.default, int):
            params[p.name] = int(
                st.number_input(p.name, int(p.minimum), int(min(p.maximum, 10_000)), p.default, key=key, help=p.help)
            )
        else:
            params[p.name] = float(
                st.number_input(p.name, float(p.minimum), float(p.maximum), p.default, key=key, help=p.help)
            )
    return params


def _pair(
    rows: pl.DataFrame, columns: pl.DataFrame, a: str, b: str, measure: Any, params: dict, calibrated: bool
) -> None:
    found = work.run_job(
        f"{measure.name}: {rows.height} x {columns.height} layers",
        "alignment",
        "alignment-pair",
        stores=state.store_paths(),
        xs=rows["id"].to_list(),
        ys=columns["id"].to_list(),
        measure=measure.id,
        params=params,
        calibrated=calibrated,
    )
    if found is None:
        return
    scales = list(SCALES) if calibrated else ["raw"]
    scale = (
        st.segmented_control("Show", scales, default=scales[0], format_func=lambda s: SCALES[s], key="scale")
        or scales[0]
    )
    matrix = found["matrix"] if scale == "raw" else found[scale]
    row_names, column_names = rows["layer"].to_list(), columns["layer"].to_list()
    hover = _hover(found, a, row_names, b, column_names, measure, calibrated)
    chance = found["cell_p"] > ALPHA if calibrated else None
    same = rows["id"].to_list() == columns["id"].to_list()
    _headline(found, a, row_names, b, column_names, measure, calibrated, same)
    figure = layer_heatmap(
        matrix,
        row_names,
        column_names,
        row_title=a,
        column_title=b,
        measure=measure.id if scale == "raw" else scale,
        hover=hover,
        at_chance=chance,
        reverse=measure.is_distance and scale == "raw",
        low=float(found["null_mean"].mean()) if calibrated and scale == "raw" and not measure.is_distance else None,
    )
    click = clickable_figure(figure, key="pair-heatmap", name=f"{measure.id}-{a}-{b}")
    crosses = (
        "A cross marks a cell that does not beat the best cell under chance (p > 0.05, all cells at once). "
        if calibrated
        else ""
    )
    both = pl.concat([rows, columns])
    null = {"permutations": found["permutations"], "seed": found["seed"]} if calibrated else {}
    st.caption(
        f"{state.described(both, measure=measure.id, **params, **null)} {crosses}Click a cell to open both layers in Geometry."
    )
    for warning in cautions(measure.id, params, both):
        st.warning(warning, icon=":material/warning:")
    if click and click.get("row") is not None:
        open_in_geometry([(a, row_names[click["row"]]), (b, column_names[click["column"]])])
    with st.expander("Open a pair without the mouse, or take the numbers away"):
        one, two, go = st.columns([2, 2, 1], vertical_alignment="bottom")
        first = one.selectbox(f"Layer of {a}", row_names, index=len(row_names) - 1, key="open_row")
        second = two.selectbox(f"Layer of {b}", column_names, index=len(column_names) - 1, key="open_column")
        if go.button("Open in Geometry"):
            open_in_geometry([(a, first), (b, second)])
        st.download_button(
            "Download the matrix as CSV",
            on_click="ignore",
            mime="text/csv",
            file_name=f"{measure.id}-{a}-{b}.csv".replace("/", "-"),
            data=lambda: _as_table(found, row_names, column_names).write_csv().encode(),
        )


def cautions(measure: str, params: dict[str, Any], frame: pl.DataFrame) -> list[str]:
    """When a number of this measure must not be taken at face value on these sizes."""
    n, d = int(frame["n_items"][0]), int(frame["n_features"].max())  # type: ignore[arg-type]
    found = []
    if measure == "cca" and n < 5 * d:
        found.append(
            f"n / d = {n / d:.1f} is below 5 at the widest layer: canonical correlations are inflated (1 when n does not exceed d)."
        )
    if measure == "cka" and params.get("estimator") == "biased" and d > n:
        found.append(
            f"d = {d} exceeds n = {n} at the widest layer: biased CKA is far above 0 for unrelated data. Use the debiased estimator."
        )
    if measure == "procrustes" and d > n:
        found.append(
            f"d = {d} exceeds n = {n} at the widest layer: a rotation fits unrelated data well. Compare with chance."
        )
    return found


def _as_table(found: dict, rows: list[str], columns: list[str]) -> pl.DataFrame:
    parts = {k: found[k] for k in ("matrix", "null_mean", "null_sd", "corrected", "z", "cell_p") if k in found}
    cells = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
    table = {"row": [rows[i] for i, _ in cells], "column": [columns[j] for _, j in cells]}
    return pl.DataFrame(table | {("value" if k == "matrix" else k): np.asarray(v).ravel() for k, v in parts.items()})


def _hover(
    found: dict, a: str, rows: list[str], b: str, columns: list[str], measure: Any, calibrated: bool
) -> list[list[str]]:
    from explorer.figures.theme import escape

    def text(i: int, j: int) -> str:
        lines = [
            f"{escape(a)} / {escape(rows[i])}",
            f"{escape(b)} / {escape(columns[j])}",
            f"<b>{measure.id} {found['matrix'][i, j]:.4f}</b>",
        ]
        if calibrated:
            lines += [
                f"chance {found['null_mean'][i, j]:.4f} +- {found['null_sd'][i, j]:.4f} ({found['permutations']} permutations)",
                f"chance-corrected {found['corrected'][i, j]:.4f}, z = {found['z'][i, j]:.1f}",
                f"p = {found['cell_p'][i, j]:.4f} against the best cell under chance",
            ]
        return "<br>".join(lines)

    return [[text(i, j) for j in range(len(columns))] for i in range(len(rows))]


def _headline(
    found: dict, a: str, rows: list[str], b: str, columns: list[str], measure: Any, calibrated: bool, same: bool
) -> None:
    matrix = np.array(found["matrix"], dtype=float)
    if same:
        np.fill_diagonal(matrix, np.nan)
        st.markdown("The same model twice: the diagonal is a layer against itself.")
        return
    if np.isnan(matrix).all():
        st.warning("The measure has no value for any pair of these layers.")
        return
    i, j = np.unravel_index(np.nanargmin(matrix) if measure.is_distance else np.nanargmax(matrix), matrix.shape)
    words = f"Best pair: **{a} / {rows[i]}** with **{b} / {columns[j]}**, {measure.id} = **{matrix[i, j]:.3f}**"
    if not calibrated:
        st.markdown(
            f"{words}. A best pair out of {matrix.size} says little without chance beside it: switch *Compare with chance* on."
        )
        return
    best_chance = found["threshold"]
    verdict = "more than chance" if found["p_value"] <= ALPHA else "**not** more than chance"
    st.markdown(
        f"{words}. Under chance the best pair exceeds {best_chance:.3f} in one case of twenty: this is {verdict} "
        f"(p = {found['p_value']:.3f}, {found['permutations']} permutations, seed {found['seed']}; calibrated score {found['score']:.3f})."
    )


def _all_models(frame: pl.DataFrame, models: list[str], measure: Any, params: dict) -> None:
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
        calibrated=False,
    )
    if found is None:
        return
    matrix = found["matrix"]
    hover = [
        [f"{names[i]}<br>{names[j]}<br><b>{measure.id} {matrix[i, j]:.4f}</b>" for j in range(len(ids))]
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


def open_in_geometry(pairs: list[tuple[str, str]]) -> None:
    """Go to the Geometry page with these representations as its views.

    Without query parameters of its own, ``switch_page`` refuses to leave a page whose widgets are bound to the URL.
    """
    views = {"views": "2"}
    for k, (model, layer) in enumerate(pairs):
        views |= {f"v{k + 1}_model": model, f"v{k + 1}_layer": layer}
    for name, value in views.items():
        st.session_state[name] = int(value) if name == "views" else value
    st.switch_page(st.session_state["pages"]["geometry"], query_params=views)
