"""What all pages share: the stores, the chosen dataset, pickers bound to the URL, the selection, jobs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.datasets.base import LABEL, Dataset
from explorer.datasets.bundled import BUNDLED, bundled_fingerprints
from explorer.datasets.saved import find_dataset, nameless, saved_datasets
from explorer.errors import ExplorerError
from explorer.files import short_hash
from explorer.paths import data_folder, user_store
from explorer.preprocess import PREPROCESSINGS
from explorer.projection import Layout, aligned, pca
from explorer.representation import Representation
from explorer.store import Store

BOUND: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}
DEFAULT_DATASET = "emoji"


# --- stores -------------------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def _open_store(path: str, read_only: bool) -> Store:
    return Store(path, read_only)


def stores() -> list[Store]:
    """The user's own store first, then the bundled one."""
    return [_open_store(str(user_store()), False), _open_store(str(data_folder() / "store"), True)]


def store_paths() -> list[str]:
    """Their paths, for workers."""
    return [str(store.path) for store in stores()]


def results_path() -> str:
    """Where results are kept."""
    return str(user_store() / "results")


def representations() -> pl.DataFrame:
    """Everything stored; what the user's store holds of a representation hides the bundled copy."""
    frames = [store.representations(skip_damaged=True) for store in stores()]
    return pl.concat(frames).unique("id", keep="first", maintain_order=True)


def load(identity: str) -> Representation:
    """Load a representation from whichever store holds it; "id~how" asks for it in another form."""
    stored, _, how = identity.partition("~")
    for store in stores():
        if stored in set(store.representations(skip_damaged=True)["id"].to_list()):
            return _in_form(identity, file_version(stored)) if how else store.load(stored)
    raise ExplorerError(f"Representation {identity} is no longer stored.")


@st.cache_resource(show_spinner=False, max_entries=64)
def _in_form(identity: str, version: int) -> Representation:
    from explorer.preprocess import preprocessed

    stored, _, how = identity.partition("~")
    return preprocessed(load(stored), how)


def choose_form(frame: pl.DataFrame) -> pl.DataFrame:
    """Let people choose the form of the features for every page; the ids of the representations carry it."""
    how = st.sidebar.selectbox(
        "Features",
        list(PREPROCESSINGS),
        format_func=lambda name: PREPROCESSINGS[name],
        key="features",
        help="Outlier dimensions have more than 5 times the mean variance. What is chosen here holds on every page.",
        **BOUND,
    )
    return frame if how == "none" else frame.with_columns(pl.col("id") + f"~{how}")


# --- datasets -----------------------------------------------------------------------------------------------


def dataset_names() -> dict[str, str]:
    """Fingerprint -> name of every dataset that is bundled, brought, or has representations."""
    names = {fingerprint: name for name, fingerprint in bundled_fingerprints().items()}
    names |= saved_datasets(user_store())
    frame = representations().unique("dataset")
    return dict(zip(frame["dataset"].to_list(), frame["dataset_name"].to_list())) | names


@st.cache_resource(show_spinner=False, max_entries=16)
def _dataset(fingerprint: str, name: str, count: int) -> Dataset:
    try:
        return find_dataset(fingerprint, user_store())
    except ExplorerError:
        return nameless(name, count)


def get_dataset(fingerprint: str) -> Dataset:
    """The items of a dataset; numbered stand-ins where only activations were imported."""
    frame = representations().filter(pl.col("dataset") == fingerprint)
    count = int(frame["n_items"][0]) if frame.height else 1
    return _dataset(fingerprint, dataset_names().get(fingerprint, "items"), count)


def choose_dataset(only_represented: bool = True) -> tuple[Dataset, pl.DataFrame]:
    """Let people choose a dataset; returns it and its representations."""
    frame = representations()
    names = dataset_names()
    held = set(frame["dataset"].to_list())
    options = [f for f in names if f in held or not only_represented]
    options.sort(key=lambda f: (names[f] not in BUNDLED, list(BUNDLED).index(names[f]) if names[f] in BUNDLED else 0))
    by_label: dict[str, str] = {}
    for fingerprint in options:
        label = names[fingerprint] if names[fingerprint] not in by_label else f"{names[fingerprint]} {fingerprint[:4]}"
        by_label[label] = fingerprint
    labels = list(by_label)
    default = labels.index(DEFAULT_DATASET) if DEFAULT_DATASET in labels else 0
    chosen = st.sidebar.selectbox("Dataset", labels, index=default, key="dataset", **BOUND)
    dataset = get_dataset(by_label[chosen])
    st.sidebar.caption(f"{dataset.about}. {len(dataset):,} items." if dataset.about else f"{len(dataset):,} items.")
    return dataset, frame.filter(pl.col("dataset") == by_label[chosen])


def choose_represented() -> tuple[Dataset, pl.DataFrame, list[str]]:
    """Choose a dataset that has representations; returns it, its representations and their models.

    Without any, the page says so and ends here.
    """
    dataset, frame = choose_dataset()
    frame = choose_form(frame)
    models = model_names(frame)
    if not models:
        st.info("Nothing is stored for this dataset yet: extract or upload something on the page Models & data.")
        st.stop()
    return dataset, frame, models


# --- pickers ------------------------------------------------------------------------------------------------


def model_names(frame: pl.DataFrame) -> list[str]:
    """Models with stored representations; a pooling is named where a model has several."""
    return list(_groups(frame))


# A picture model beside a text model says more at first sight than two picture models.
FIRST_MODELS = ("effnet-lite0", "minilm-l6")


def first_models(models: list[str]) -> list[str]:
    """The models in the order in which views show them until people choose."""
    first = [m for m in FIRST_MODELS if m in models]
    return first + [m for m in models if m not in first]


def _groups(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    groups = {}
    for (model, revision, pooling), part in frame.group_by("model", "revision", "pooling", maintain_order=True):
        several = frame.filter(pl.col("model") == model).select("revision", "pooling").n_unique() > 1
        label = f"{model} ({pooling}, {str(revision)[:6]})" if several else str(model)
        groups[label] = part.sort("layer_index")
    return groups


def layers_of(frame: pl.DataFrame, model: str) -> pl.DataFrame:
    """The stored layers of one model, in order of depth."""
    return _groups(frame)[model]


def choose_representation(frame: pl.DataFrame, key: str, model_index: int = 0, depth: float = 1.0) -> str:
    """Two selectboxes, model and layer; returns the id of the representation."""
    models = model_names(frame)
    model = st.selectbox("Model", models, index=min(model_index, len(models) - 1), key=f"{key}model", **BOUND)
    part = layers_of(frame, model)
    layers = part["layer"].to_list()
    if st.session_state.get(f"{key}layer") not in layers:
        st.session_state.pop(f"{key}layer", None)
    layer = st.selectbox("Layer", layers, index=round(depth * (len(layers) - 1)), key=f"{key}layer", **BOUND)
    return str(part.filter(pl.col("layer") == layer)["id"][0])


def categories(dataset: Dataset) -> dict[str, pl.Series]:
    """Metadata columns that group the items: 2 to 40 different values, not one each."""
    found = {}
    for name in dataset.metadata.columns:
        series = dataset.metadata[name]
        if name in (LABEL, "text", "name") or not (series.dtype == pl.String or series.dtype == pl.Boolean):
            continue
        if 2 <= series.n_unique() <= min(40, len(series) - 1):
            found[name] = series
    return found


def codes(dataset: Dataset, name: str) -> list[int]:
    """A metadata column that groups the items, as whole numbers in order of appearance."""
    series = categories(dataset)[name].cast(pl.String).fill_null("(none)")
    number = {value: i for i, value in enumerate(series.unique(maintain_order=True))}
    return [number[value] for value in series]


def choose_items(dataset: Dataset, key: str) -> list[int] | None:
    """Let people restrict a computation to a group of items or to the selection; None means all items."""
    groups = categories(dataset)
    selection = selected(dataset)
    options = ["all items"] + (["selected items"] if selection is not None else []) + list(groups)
    choice = st.selectbox(
        "Items", options, key=f"{key}items", help="Compute on all items, on the selection, or on one group.", **BOUND
    )
    if choice == "selected items" and selection is not None:
        return [int(i) for i in selection]
    if choice in groups:
        values = sorted(v for v in groups[choice].unique().to_list() if v is not None)
        if st.session_state.get(f"{key}group") not in values:
            st.session_state.pop(f"{key}group", None)
        value = st.selectbox(choice, values, key=f"{key}group", **BOUND)
        return [int(i) for i in groups[choice].eq_missing(value).arg_true()]
    return None


def described(frame: pl.DataFrame, **settings: Any) -> str:
    """What a figure's caption must carry: items, features, and the settings of the measure."""
    widths = frame["n_features"].to_list()
    low, high = min(widths), max(widths)
    width = f"{low}" if low == high else f"{low} to {high}"
    form = frame["id"][0].partition("~")[2]
    said = ", ".join(
        ([f"features {PREPROCESSINGS[form]}"] if form else []) + [f"{k} = {v}" for k, v in settings.items()]
    )
    return f"n = {frame['n_items'][0]:,} items, d = {width} features{', ' if said else ''}{said}."


# --- layouts ------------------------------------------------------------------------------------------------


@st.cache_data(show_spinner=False, max_entries=256)
def pca_layout(identity: str, version: int) -> Layout:
    """PCA of a representation; ``version`` changes when its file does."""
    return pca(load(identity).matrix)


def file_version(identity: str) -> int:
    """When the file of a representation was written: part of every cache key, so a rewritten file is read anew."""
    stored = identity.partition("~")[0]
    for store in stores():
        row = store.representations(skip_damaged=True).filter(pl.col("id") == stored)
        if row.height:
            return (store.path / row["file"][0]).stat().st_mtime_ns
    return 0


def pca_points(identity: str) -> Layout:
    """PCA, cached by id and file."""
    return pca_layout(identity, file_version(identity))


def align_to_first(points: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Turn the layouts so that the same items lie in similar places."""
    return [points[0], *(aligned(p, points[0]) for p in points[1:])]


# --- selection ----------------------------------------------------------------------------------------------


def selected(dataset: Dataset) -> np.ndarray | None:
    """The items selected in this session, if any belong to this dataset."""
    return st.session_state.get("selection", {}).get(dataset.fingerprint)


def remember_selection(dataset: Dataset, index: np.ndarray | None) -> None:
    """Keep the selection for all pages."""
    held = st.session_state.setdefault("selection", {})
    if index is None:
        held.pop(dataset.fingerprint, None)
    else:
        held[dataset.fingerprint] = index


def selection_push(dataset: Dataset) -> tuple[str, np.ndarray] | None:
    """The selection made on another page, for a linked view that has just been opened."""
    index = selected(dataset)
    return (short_hash(index.tobytes()), index) if index is not None else None


def user_store_path() -> Path:
    """The folder that the app writes to."""
    return user_store()
