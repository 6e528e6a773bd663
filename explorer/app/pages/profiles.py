"""Layer profiles: single measures over normalised depth, and what happens between layers."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.datasets.base import Dataset
from explorer.figures.profile import layer_profiles
from explorer.measures.registry import Measure, registry

SETS: dict[str, list[str]] = {
    "overview": ["twonn", "participation_ratio", "effective_rank", "mean_cosine"],
    "dimension: nonlinear beside linear": [
        "twonn", "mle", "gride", "correlation_dimension", "lpca", "participation_ratio", "pca_dimension", "effective_rank",
    ],
    "spectrum": ["participation_ratio", "rankme", "stable_rank", "von_neumann_entropy", "matrix_entropy", "power_law_exponent"],
    "isotropy": ["mean_cosine", "isoscore_star", "uniformity", "condensation", "interference", "outlier_dimensions"],
    "shape": ["ollivier_ricci", "gromov_delta", "extrinsic_curvature", "total_persistence"],
    "task and stability": ["class_separability", "linear_probe", "category_geometry", "shesha"],
}  # fmt: skip
CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
DRAWS = 20


def page() -> None:
    """Show the page."""
    st.title("Layer profiles")
    dataset, frame, models = state.choose_represented()
    section = st.segmented_control(
        "Section", ["Profiles", "Between layers"], default="Profiles", key="p_section", **state.BOUND
    )
    with st.sidebar:
        shown = st.multiselect("Models", models, default=models, key="profile_models")
        items = state.choose_items(dataset, "p_")
        normalised = st.toggle(
            "Normalised depth", value=True, key="profile_depth", help="0 is the first layer, 1 the last."
        )
    if not shown:
        st.info("Choose at least one model.")
        return
    if section == "Between layers":
        _between(dataset, frame, shown, items, normalised)
    else:
        _profiles(dataset, frame, shown, items, normalised)


def usable() -> dict[str, Measure]:
    """Single measures that need nothing but a representation, or a class for each item."""
    needed = {m.id: {n.name for n in m.needs if not n.optional} for m in registry().values() if m.kind == "single"}
    return {i: registry()[i] for i, names in needed.items() if names <= {"labels"}}


def _chosen(dataset: Dataset) -> tuple[list[str], list[int] | None, int]:
    """Measures, labels where one of them needs them, and the draws for bands."""
    single, groups = usable(), state.categories(dataset)
    available = [i for i, m in single.items() if groups or not m.needs]
    with st.sidebar:
        name = st.selectbox("Measures", [*SETS, "chosen one by one"], key="p_set", **state.BOUND)
        if name in SETS:
            chosen = [i for i in SETS[name] if i in available]
        else:
            chosen = st.multiselect(
                "One by one",
                available,
                default=SETS["overview"],
                format_func=lambda i: single[i].name,
                key="profile_measures",
            )
        labels = None
        if any(single[i].needs for i in chosen):
            labels = state.codes(dataset, st.selectbox("Classes", list(groups), key="p_labels", **state.BOUND))
        banded = st.toggle(
            "Bands", value=False, key="p_bands", **state.BOUND,
            help=f"95 % intervals over items, from {DRAWS} subsets of 63 % of the items. Takes about {DRAWS} times as long.",
        )  # fmt: skip
    return chosen, labels, DRAWS if banded else 0


def _profiles(
    dataset: Dataset, frame: pl.DataFrame, shown: list[str], items: list[int] | None, normalised: bool
) -> None:
    single = usable()
    chosen, labels, draws = _chosen(dataset)
    if not chosen:
        st.info("Choose at least one measure; those of classes need metadata that group the items.")
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
        items=items,
        labels=labels,
        draws=draws,
    )
    if found is None:
        return
    figure = layer_profiles(found, {m: single[m].name for m in chosen}, normalised)
    st.plotly_chart(figure, key="profiles", config=CONFIG)
    used = frame.filter(pl.col("id").is_in(ids))
    within: dict[str, Any] = {} if items is None else {"items_used": len(items)}
    settings = "; ".join(sorted(set(found["measure"] + " " + found["params"])))
    st.caption(f"{state.described(used, **within)} Settings: {settings}")
    notes = found.filter(pl.col("note") != "").select("measure", "x_model", "x_layer", "note")
    if notes.height:
        with st.expander(f"{notes.height} remarks (duplicates, undefined values)"):
            st.dataframe(notes, hide_index=True)
    if any(single[m].family == "dimension" for m in chosen):
        st.caption("One number is not a dimension: the page Dimension & spectrum shows each layer's curve over scales.")
    for measure in chosen:
        st.caption(f"**{single[measure].name}**: higher means {single[measure].higher_means}. {single[measure].caveat}")
    _download(found, f"{dataset.name}-profiles.csv")


def _between(
    dataset: Dataset, frame: pl.DataFrame, shown: list[str], items: list[int] | None, normalised: bool
) -> None:
    layers = {m: state.layers_of(frame, m)["id"].to_list() for m in shown}
    found = work.run_job(
        f"trajectories of {len(shown)} models", "trajectories", "trajectories",
        stores=state.store_paths(), models=layers, items=items, identities=[i for ids in layers.values() for i in ids],
    )  # fmt: skip
    if found is None:
        return
    rows, notes = found
    names = rows["measure"].unique(maintain_order=True).to_list()
    if not names:
        st.info("These models have a single layer: there is nothing between layers.")
        return
    figure = layer_profiles(rows, {name: name for name in names}, normalised)
    st.plotly_chart(figure, key="trajectories", config=CONFIG)
    st.caption(state.described(frame.filter(pl.col("id").is_in([i for ids in layers.values() for i in ids]))))
    for note in notes:
        st.caption(note)
    for measure in (m for m in registry().values() if m.kind == "trajectory"):
        st.caption(f"**{measure.name}**: {measure.caveat}")
    _checkpoints(frame)
    _download(rows, f"{dataset.name}-between-layers.csv")


def _checkpoints(frame: pl.DataFrame) -> None:
    """Training checkpoints of one net are models called NAME-epochE: how similar is each to the last?"""
    series = checkpoints(state.model_names(frame))
    if not series:
        return
    st.subheader("Over training")
    name = st.selectbox("Net", list(series), key="p_net", **state.BOUND)
    rows = []
    for model, epoch in series[name]:
        part = state.layers_of(frame, model)
        rows += [(row["layer"], epoch, row["id"]) for row in part.iter_rows(named=True)]
    by_layer: dict[str, list[tuple[float, str]]] = {}
    for layer, epoch, identity in rows:
        by_layer.setdefault(layer, []).append((epoch, identity))
    found = work.run_job(
        f"checkpoints of {name}", "checkpoints", "checkpoints",
        stores=state.store_paths(), layers=by_layer, identities=[identity for _, _, identity in rows],
    )  # fmt: skip
    if found is None:
        return
    from explorer.figures.curves import over_training

    curves, settled = found
    st.plotly_chart(over_training(curves), key="over-training", config=CONFIG)
    said = ", ".join(f"{layer} from epoch {epoch:g}" for layer, epoch in settled.items())
    st.caption(f"Debiased CKA of each checkpoint with the last. At least 0.9 and staying so: {said}.")


def checkpoints(models: list[str]) -> dict[str, list[tuple[str, float]]]:
    """Models called NAME-epochE, and NAME as the last, by NAME: at least three of them, in order of E."""
    series: dict[str, list[tuple[str, float]]] = {}
    for model in models:
        name, mark, epoch = model.rpartition("-epoch")
        if mark and epoch.isdigit():
            series.setdefault(name, []).append((model, float(epoch)))
    for name, found in series.items():
        found.sort(key=lambda pair: pair[1])
        if name in models:
            found.append((name, max(found[-1][1] * 1.25, found[-1][1] + 1)))
    return {name: found for name, found in series.items() if len(found) >= 3}


def _download(table: pl.DataFrame, name: str) -> None:
    st.download_button(
        "Download the numbers as CSV",
        data=lambda: table.write_csv().encode(),
        file_name=name,
        mime="text/csv",
        on_click="ignore",
    )
