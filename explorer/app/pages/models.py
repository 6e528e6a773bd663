"""Models & data: run a model on items, bring texts, bring activations."""

from __future__ import annotations

import tempfile
from pathlib import Path

import streamlit as st

from explorer.app import state, work
from explorer.datasets.base import Dataset
from explorer.datasets.files import load_dataset
from explorer.datasets.saved import save_dataset
from explorer.errors import ExplorerError
from explorer.files import slug

MAX_UPLOAD_MB = 256
ACTIVATIONS = ["npy", "npz", "safetensors"]
TABLES = ["txt", "csv", "tsv", "jsonl", "parquet"]


def page() -> None:
    """Show the page."""
    st.title("Models & data")
    run, activations, texts = st.tabs(["Run a model", "Upload activations", "Bring your own texts"])
    with run:
        _run_model()
    with activations:
        _upload_activations()
    with texts:
        _bring_texts()


def _model_options(dataset: Dataset) -> dict[str, str]:
    """Id -> label of the models that can read these items and are on this machine."""
    from explorer.models.catalogue import CATALOGUE
    from explorer.models.digits import available_nets

    options = {e.id: e.title for e in CATALOGUE if e.available and e.modality in dataset.modalities}
    if dataset.name == "digits":
        options = {net: net for net in available_nets()} | options
    return options


def _run_model() -> None:
    from explorer.models.catalogue import CATALOGUE, ZOO_COMMAND

    names = state.dataset_names()
    usable = {f: n for f, n in names.items() if state.get_dataset(f).modalities}
    left, right = st.columns(2)
    labels = list(usable.values())
    if "next_items" in st.session_state:
        st.session_state["run_items"] = st.session_state.pop("next_items")
    label = left.selectbox("Items", labels, index=labels.index("digits") if "digits" in labels else 0, key="run_items")
    fingerprint = next(f for f, n in usable.items() if n == label)
    dataset = state.get_dataset(fingerprint)
    options = _model_options(dataset)
    models = right.multiselect(
        "Models",
        list(options),
        default=_default_models(options),
        format_func=lambda m: options[m],
        key=f"run_models_{fingerprint}",
        placeholder="Choose models" if options else "No installed model reads these items",
    )
    missing = [e for e in CATALOGUE if not e.available]
    if missing:
        with st.expander(f"{len(missing)} more pretrained models can be installed"):
            for entry in missing:
                st.markdown(f":gray[{entry.title} ({entry.licence}) {entry.note}]")
            st.code(ZOO_COMMAND, language="bash")
    one, two, three = st.columns([2, 1, 1])
    layers = one.text_input(
        "Layers", "all", key="run_layers", help="all, or names and globs separated by commas, e.g. layers.*"
    )
    pooling = two.selectbox(
        "Pooling",
        ["model's default", "mean", "first", "last", "flatten"],
        key="run_pooling",
        help="How one item's activations become one vector.",
    )
    batch = int(three.number_input("Batch size", 1, 1024, 64, key="run_batch"))
    if st.button("Extract", type="primary", disabled=not models):
        st.session_state["extractions"] = [(m, fingerprint, layers, pooling, batch) for m in models]
        st.session_state.pop("cancelled", None)
    asked = st.session_state.get("extractions", [])
    for model, items, *rest in asked:
        _extraction(model, items, *rest)
    _layer_preview(models[0] if models else None)


def _default_models(options: dict[str, str]) -> list[str]:
    preferred = ["digits/mlp-seed0", "digits/cnn-seed0", "digits/vit-seed0"]
    return [m for m in preferred if m in options] or list(options)[:1]


def _extraction(model: str, items: str, layers: str, pooling: str, batch: int) -> None:
    chosen = None if pooling.startswith("model") else pooling
    found = work.run_job(
        f"Extracting {model}",
        "extraction",
        f"extraction-{model}",
        store=str(state.user_store_path()),
        model=model,
        dataset=items,
        layers=layers,
        pooling=chosen,
        batch_size=batch,
    )
    if found is None:
        return
    speed = f"{found['rate']:.0f} items/s" if found["seconds"] else "they were stored already"
    st.success(
        f"{model}: {found['layers']} layers are in your store ({speed}). {found['note'] if found['seconds'] else ''}"
    )
    st.page_link(
        st.session_state["pages"]["geometry"],
        label="See them in Geometry",
        query_params={"dataset": state.dataset_names().get(items, "")},
    )


def _layer_preview(model: str | None) -> None:
    if model is None or not model.startswith("digits/"):
        return
    with st.expander(f"Layers of {model}"):
        from explorer.models import layer_tree, load_model
        from explorer.models.torch_module import TorchModel

        loaded = load_model(model)
        if isinstance(loaded, TorchModel):
            st.code(layer_tree(loaded.module), language=None)
        st.caption(f"Recorded by default: {', '.join(loaded.layers)}")


def _upload_activations() -> None:
    st.markdown(
        "One `.npy` of shape (items, features) is one layer; (layers, items, features) are several; a `.npz` or "
        "`.safetensors` has one layer a key. Files are read as numbers only: pickled objects are refused."
    )
    upload = st.file_uploader("Activations", type=ACTIVATIONS, max_upload_size=MAX_UPLOAD_MB, key="upload")
    if upload is None:
        return
    from explorer.formats import read_activations

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / slug(upload.name)
        path.write_bytes(upload.getbuffer())
        try:
            found = read_activations(path, Path(upload.name).stem)
        except ExplorerError as error:
            st.error(str(error).replace(path.name, upload.name))
            return
        st.dataframe(
            [{"layer": k, "items": v.shape[0], "features": v.shape[1]} for k, v in found.layers.items()],
            hide_index=True,
        )
        for left_out in found.skipped:
            st.caption(f"Left out: {left_out}")
        fitting = {n: f for f, n in state.dataset_names().items() if len(state.get_dataset(f)) == found.n_items}
        owner = st.selectbox(
            "These are the items of",
            ["(unknown items)", *fitting],
            key="upload_owner",
            help="Datasets with the same number of items. Rows must be in the same order.",
        )
        if st.button("Add to the store", type="primary"):
            found.save(state.stores()[0], fitting.get(owner), owner if owner in fitting else None)
            st.session_state["added"] = found.name
            st.session_state["dataset"] = owner if owner in fitting else f"{found.name} ({found.n_items} items)"
    if st.session_state.get("added") == found.name:
        st.success(f"{found.name}: {len(found.layers)} layer(s) of {found.n_items} items are in your store.")
        st.page_link(st.session_state["pages"]["geometry"], label="See them in Geometry")


def _bring_texts() -> None:
    if "kept" in st.session_state:
        st.success(st.session_state.pop("kept"))
    st.markdown("Type one item a line, or upload a file; then run a text model on them in the first tab.")
    name = st.text_input("Name", "my texts", key="texts_name")
    typed = st.text_area("Texts", height=150, key="texts_typed", placeholder="one item a line")
    upload = st.file_uploader(
        "or a file (a table needs a text column)", type=TABLES, max_upload_size=64, key="texts_upload"
    )
    if not st.button("Keep these items", type="primary"):
        return
    if not typed.strip() and upload is None:
        st.warning("Type at least one item, or upload a file.")
        return
    with tempfile.TemporaryDirectory() as folder:
        suffix = Path(upload.name).suffix if upload is not None else ".txt"
        path = Path(folder) / f"{slug(name)}{suffix}"
        path.write_bytes(upload.getbuffer() if upload is not None else typed.encode())
        try:
            dataset = load_dataset(path)
        except ExplorerError as error:
            st.error(str(error))
            return
    named = Dataset(name, dataset.metadata, dataset.texts, dataset.images, dataset.about)
    save_dataset(named, state.user_store_path())
    st.session_state["kept"] = (
        f"{len(named)} items are kept as '{name}'. Choose a model for them in the tab Run a model."
    )
    # The first tab was drawn before these items were there: draw the page again, with them chosen.
    st.session_state["next_items"] = name
    st.rerun()
