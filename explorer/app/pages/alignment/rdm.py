"""Dissimilarity matrices side by side, and all layers against a given one."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.datasets.base import Dataset
from explorer.errors import ExplorerError
from explorer.figures.curves import layers_against
from explorer.figures.rdm import rdm_figure
from explorer.files import short_hash, slug, write_atomic
from explorer.measures.similarity.rsa import COMPARISONS, DISTANCES

MOST_ITEMS = 600
FILES = ["csv", "tsv", "npy", "h5", "hdf5"]
AS_STORED, BY_CLUSTER = "as stored", "clusters of the first"


def show(dataset: Dataset, frame: pl.DataFrame, models: list[str]) -> None:
    """Show the section."""
    with st.sidebar:
        distance = st.selectbox(
            "Dissimilarity of two items", DISTANCES, key="rdm_distance", **state.BOUND,
            help="correlation: 1 - Pearson over features; mahalanobis: whitened by the (shrunken) covariance.",
        )  # fmt: skip
        comparison = st.selectbox("Comparison of two RDMs", COMPARISONS, key="rdm_comparison", **state.BOUND)
    _side_by_side(dataset, frame, models, distance)
    st.subheader("All layers against a given RDM")
    _given(dataset, frame, models, distance, comparison)


def _side_by_side(dataset: Dataset, frame: pl.DataFrame, models: list[str], distance: str) -> None:
    order = state.first_models(models)
    columns = st.columns([2, 2, 1.4])
    identities = []
    for k, column in enumerate(columns[:2]):
        with column:
            preferred = models.index(order[k % len(order)])
            identities.append(
                state.choose_representation(frame, f"r{k + 1}_", preferred, 1.0 if k < len(models) else 0.0)
            )
    groups = state.categories(dataset)
    with columns[2]:
        options = [*groups, BY_CLUSTER, AS_STORED]
        if st.session_state.get("rdm_order") not in options:
            st.session_state.pop("rdm_order", None)
        arranged = st.selectbox("Order items by", options, key="rdm_order", **state.BOUND)
        ranks = st.toggle(
            "Ranks", value=True, key="rdm_ranks", help="Ranks of dissimilarities from 0 to 1, so that scales agree."
        )
    items = _shown_items(dataset)
    found = work.run_job(
        "RDMs", "rdm_views", "rdm-views", stores=state.store_paths(), xs=identities, distance=distance, items=items,
        clustered=arranged == BY_CLUSTER,
    )  # fmt: skip
    if found is None:
        return
    place, bands = _arranged(dataset, items, arranged, found["order"])
    matrices = [np.asarray(m)[np.ix_(place, place)] for m in found["ranks" if ranks else "plain"]]
    titles = [state.load(i).name for i in identities]
    labels = [f"{items[p]}: {dataset.labels[items[p]]}" for p in place]
    st.plotly_chart(
        rdm_figure(matrices, titles, labels, bands, ranks), key="rdms",
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}},
    )  # fmt: skip
    sample = f" {len(items)} of {len(dataset):,} items are drawn (evenly spaced)." if len(items) < len(dataset) else ""
    said = state.described(frame.filter(pl.col("id").is_in(identities)), distance=distance)
    st.caption(f"{said}{sample} Difference: second minus first. Items are ordered by: {arranged}.")


def _shown_items(dataset: Dataset) -> list[int]:
    count = min(len(dataset), MOST_ITEMS)
    return np.linspace(0, len(dataset) - 1, count).round().astype(int).tolist()


def _arranged(
    dataset: Dataset, items: list[int], how: str, clustered: np.ndarray
) -> tuple[np.ndarray, list[tuple[str, int, int]]]:
    """Places of the drawn items in order, and (group, first, last) for the bands beside the matrix."""
    if how == BY_CLUSTER:
        return np.asarray(clustered), []
    if how == AS_STORED:
        return np.arange(len(items)), []
    series = state.categories(dataset)[how].cast(pl.String).fill_null("(none)")
    values = np.array([series[i] for i in items])
    place = np.argsort(values, kind="stable")
    ordered = values[place]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    ends = np.r_[starts[1:], len(ordered)] - 1
    return place, [(str(ordered[s]), int(s), int(e)) for s, e in zip(starts, ends)]


def _given(dataset: Dataset, frame: pl.DataFrame, models: list[str], distance: str, comparison: str) -> None:
    upload = st.file_uploader(
        "A human or neural RDM of the same items in the same order", type=FILES, max_upload_size=256, key="rdm_upload",
        help=".csv (square, labels are allowed), .npy (square, stacked or condensed), or rsatoolbox .hdf5; several subjects "
        "give a noise ceiling. Similarities are turned into dissimilarities.",
    )  # fmt: skip
    groups = state.categories(dataset)
    if upload is not None:
        rdms, name = _uploaded(upload, len(dataset)), upload.name
    elif groups:
        column = st.selectbox(
            "or the RDM of a metadata column (0 within a group, 1 between groups)", list(groups), key="rdm_column"
        )
        codes = np.array(state.codes(dataset, column))
        rdms, name = (codes[:, None] != codes[None]).astype(float)[None], f"same {column}"
    else:
        return
    if rdms is None:
        return
    shown = st.multiselect("Models", models, default=models, key=f"rdm-models-{dataset.fingerprint}")
    parts = {m: state.layers_of(frame, m) for m in shown}
    ids = [i for part in parts.values() for i in part["id"]]
    if not ids:
        st.info("Choose at least one model.")
        return
    found = work.run_job(
        f"{len(ids)} layers against {name}", "rdm_layers", "rdm-layers", stores=state.store_paths(), xs=ids,
        given=_kept(rdms), distance=distance, comparison=comparison,
    )  # fmt: skip
    if found is not None:
        _against(found, parts, name, frame, distance, comparison, len(rdms))


def _uploaded(upload: Any, n: int) -> np.ndarray | None:
    from explorer.formats.rdms import read_rdms

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / slug(upload.name)
        path.write_bytes(upload.getbuffer())
        try:
            rdms = read_rdms(path)
            if rdms.shape[1] != n:
                raise ExplorerError(f"{upload.name} is of {rdms.shape[1]} items, but this dataset has {n}.")
        except ExplorerError as error:
            st.error(str(error).replace(path.name, upload.name))
            return None
    st.caption(f"{upload.name}: {len(rdms)} RDM(s) of {n} items.")
    return rdms


def _kept(rdms: np.ndarray) -> str:
    """A file for the worker, named by its content."""
    folder = Path(state.results_path()) / "given"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{short_hash(rdms.tobytes(), str(rdms.shape))}.npy"
    if not path.exists():
        write_atomic(path, partial(_write, rdms))
    return str(path)


def _write(values: np.ndarray, path: Path) -> None:
    # Through an open file, since np.save would add its own ending to the temporary name.
    with path.open("wb") as handle:
        np.save(handle, values, allow_pickle=False)


def _against(
    found: dict[str, Any], parts: dict[str, pl.DataFrame], name: str, frame: pl.DataFrame, distance: str,
    comparison: str, count: int,
) -> None:  # fmt: skip
    values = np.asarray(found["matrix"]).mean(axis=1)
    series, start = {}, 0
    for model, part in parts.items():
        series[model] = (part["layer"].to_list(), values[start : start + part.height])
        start += part.height
    figure = layers_against(
        series, f"{comparison} with {name}", {next(iter(series)): found["threshold"]}, found["ceiling"]
    )
    st.plotly_chart(figure, key="rdm-layers", config={"displaylogo": False, "toImageButtonOptions": {"format": "svg"}})
    best = int(np.nanargmax(values))
    names = [(m, layer) for m, part in parts.items() for layer in part["layer"]]
    verdict = "more than chance" if found["p_value"] <= 0.05 else "**not** more than chance"
    st.markdown(
        f"Best: **{names[best][0]} / {names[best][1]}** with {values[best]:.3f}; the best of {len(values)} layers exceeds "
        f"{found['threshold']:.3f} in one case of twenty under chance (dotted line): {verdict} (p = {found['p_value']:.3f})."
    )
    said = state.described(
        frame, distance=distance, comparison=comparison, permutations=found["permutations"], seed=found["seed"]
    )
    mean = f" Mean over {count} RDMs." if count > 1 else " One RDM, so there is no noise ceiling."
    st.caption(f"{said}{mean}")
