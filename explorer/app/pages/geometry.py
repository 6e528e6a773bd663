"""Geometry: two to four linked views of the same items."""

from __future__ import annotations

import base64
import io

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.app.components.linked_view import Colour, View, linked_view
from explorer.datasets.base import LABEL, Dataset

PER_ITEM: dict[str, tuple[str, dict]] = {
    "local dimension (mle)": ("mle", {}),
    "mean cosine to the others": ("mean_cosine", {}),
    "curvature at the item (Ollivier-Ricci)": ("ollivier_ricci", {}),
}
MOST_ROWS = 500
MOST_PICTURES = 200


def view_of(identity: str, method: str, points: np.ndarray | None = None) -> View:
    """A view of a representation, by PCA unless other coordinates are given."""
    r = state.load(identity)
    layout = state.pca_points(identity)
    title = f"{r.origin.model} / {r.origin.layer}"
    if method == "umap" and points is not None:
        return View(title, "UMAP (axes have no unit)", points)
    share = sum(layout.variance)
    return View(
        title, f"PCA: {100 * share:.0f}% of the variance in two of {r.values.shape[1]} dimensions", layout.points
    )


def first_colour(dataset: Dataset) -> str:
    """The metadata column that colours a dataset until people choose another."""
    groups = state.categories(dataset)
    numbers = number_columns(dataset)
    return next(iter(groups), next(iter(numbers), "nothing"))


def number_columns(dataset: Dataset) -> list[str]:
    """Metadata columns of numbers."""
    return [name for name, dtype in dataset.metadata.schema.items() if dtype.is_numeric()]


def colour_by(dataset: Dataset, name: str) -> Colour:
    """Colours from a metadata column."""
    groups = state.categories(dataset)
    if name in groups:
        series = groups[name].cast(pl.String).fill_null("(none)")
        names = series.unique(maintain_order=True).to_list()
        codes = {value: i for i, value in enumerate(names)}
        return Colour("category", name, np.array([codes[v] for v in series]), tuple(names))
    if name in number_columns(dataset):
        values = dataset.metadata[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return Colour("number", name, values)
    return Colour()


def page() -> None:
    """Show the page."""
    st.title("Geometry")
    dataset, frame, models = state.choose_represented()
    with st.sidebar:
        count = st.segmented_control("Views", [2, 3, 4], default=2, key="views", **state.BOUND) or 2
        method = (
            st.segmented_control("Projection", ["PCA", "UMAP"], default="PCA", key="projection", **state.BOUND) or "PCA"
        ).lower()
        options = ["nothing", *state.categories(dataset), *number_columns(dataset), *PER_ITEM]
        if st.session_state.get("colour") not in options:
            st.session_state.pop("colour", None)
        colour_name = st.selectbox(
            "Colour by", options, index=options.index(first_colour(dataset)), key="colour", **state.BOUND
        )
        turned = st.toggle(
            "Align views",
            value=True,
            key="align",
            **state.BOUND,
            help="Rotate or reflect the views, never stretch them, so that the same items lie in similar places.",
        )
    identities = []
    order = state.first_models(models)
    for k, column in enumerate(st.columns(count)):
        with column:
            depth = 1.0 if k < len(models) else (0.0, 0.5, 0.3, 0.7)[k % 4]
            preferred = models.index(order[k % len(order)])
            identities.append(state.choose_representation(frame, f"v{k + 1}_", preferred, depth))
    colour = _colour(dataset, colour_name, identities[0])
    _linked(dataset, identities, method, colour, turned)


def _colour(dataset: Dataset, name: str, identity: str) -> Colour:
    if name not in PER_ITEM:
        return colour_by(dataset, name)
    measure, params = PER_ITEM[name]
    found = work.measure_of(name, "geometry-colour", identity, measure, params)
    if found is None:
        return Colour()
    for note in found["notes"]:
        st.caption(note)
    if found["items"] is None:
        return Colour()
    return Colour("number", f"{name}, first view", np.asarray(found["items"], dtype=float))


def _umap_points(identities: list[str]) -> dict[str, np.ndarray]:
    points = {}
    for identity in dict.fromkeys(identities):
        found = work.run_job(
            f"UMAP of {state.load(identity).name} (PCA until it is ready)",
            "layout",
            f"umap-{identity}",
            "layout",
            stores=state.store_paths(),
            results=state.results_path(),
            identity=identity,
            seed=0,
        )
        if found is None:
            break
        points[identity] = found
    return points


def _linked(dataset: Dataset, identities: list[str], method: str, colour: Colour, turned: bool) -> None:
    ready = _umap_points(identities) if method == "umap" else {}
    views = [view_of(i, method, ready.get(i)) for i in identities]
    if turned:
        placed = state.align_to_first([v.points for v in views])
        views = [View(v.title, v.axes, p) for v, p in zip(views, placed)]

    @st.fragment
    def panel() -> None:
        index = linked_view(
            dataset,
            views,
            colour,
            key=f"geometry-{dataset.fingerprint}",
            height=470 if len(views) < 4 else 420,
            push=state.selection_push(dataset),
        )
        state.remember_selection(dataset, index)
        _selection_table(dataset, index)

    panel()


def _selection_table(dataset: Dataset, index: np.ndarray | None) -> None:
    if index is None:
        st.caption("Nothing is selected. Use the lasso or box in a view, or click a name in the legend.")
        return
    st.subheader(f"{len(index):,} selected items")
    shown = [LABEL] + [c for c in dataset.metadata.columns if c not in (LABEL, "text", "name")]
    table = dataset.metadata[index.tolist()].select(shown)
    left, right = st.columns([3, 2])
    with left:
        st.dataframe(
            _with_pictures(dataset, table, index),
            hide_index=True,
            height=min(420, 80 + 35 * min(len(index), 10)),
            column_config={"picture": st.column_config.ImageColumn("", width="small")},
        )
        if len(index) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} of {len(index):,} are listed; the file has all.")
        st.download_button(
            "Download as CSV",
            data=lambda: table.write_csv().encode(),
            file_name=f"{dataset.name}-selection.csv",
            mime="text/csv",
            on_click="ignore",
        )
    with right:
        _composition(dataset, index)


def _with_pictures(dataset: Dataset, table: pl.DataFrame, index: np.ndarray) -> pl.DataFrame:
    """The first rows of the table, with a small picture of each item where there are pictures."""
    shown = table.head(MOST_ROWS)
    if dataset.images is None:
        return shown
    pictures = [thumbnail(dataset, int(i)) for i in index[:MOST_PICTURES]]
    return shown.head(MOST_PICTURES).with_columns(pl.Series("picture", pictures)).select("picture", *shown.columns)


def thumbnail(dataset: Dataset, item: int) -> str:
    """A picture as a data URI of 48 pixels."""
    from PIL import Image

    assert dataset.images is not None
    smooth = Image.Resampling.NEAREST if dataset.pixelated else Image.Resampling.LANCZOS
    buffer = io.BytesIO()
    Image.fromarray(dataset.images[item]).resize((48, 48), smooth).save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _composition(dataset: Dataset, index: np.ndarray) -> None:
    """Which groups are over-represented in the selection."""
    for name, series in list(state.categories(dataset).items())[:2]:
        counts = series[index.tolist()].cast(pl.String).fill_null("(none)").value_counts(sort=True).head(6)
        whole = series.cast(pl.String).fill_null("(none)").value_counts()
        joined = counts.join(whole, on=name, suffix="_all").select(
            pl.col(name),
            pl.col("count").alias("selected"),
            (pl.col("count") / pl.col("count_all")).alias("of the group"),
        )
        st.dataframe(
            joined,
            hide_index=True,
            column_config={"of the group": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1)},
        )
