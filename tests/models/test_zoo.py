"""Packaged pretrained models: the readers give what the weights are known to give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from explorer.datasets import load_bundled
from explorer.errors import ExplorerError
from explorer.models import CATALOGUE, load_model
from explorer.models.catalogue import find_entry
from explorer.models.zoo import carriers
from explorer.models.zoo.e5 import dequantise_q4_0
from explorer.paths import data_folder
from explorer.store import Store

pytestmark = pytest.mark.zoo
LAYERS = {
    "minilm-l6": 7,
    "paraphrase-l3": 4,
    "me5-small": 13,
    "smollm2": 31,
    "effnet-lite0": 16,
    "effnet-lite1": 21,
    "effnet-lite2": 21,
    "dinov2-s": 12,
}


def installed(model: str):
    entry = find_entry(model)
    assert entry is not None
    if not entry.available:
        pytest.skip(f"the package of {model} is not installed (data/requirements-zoo.txt)")
    return entry.load()


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda e: e.id)
def test_every_model_loads_and_runs(entry) -> None:
    model = installed(entry.id)
    assert len(model.layers) == LAYERS[entry.id]
    dataset = load_bundled("emoji")
    items = dataset.inputs(model.modality)[:3]
    found = model.activations(items, model.layers, model.poolings[0])
    assert all(np.isfinite(v).all() and v.shape[0] == 3 for v in found.values())


@pytest.mark.parametrize("model", ["minilm-l6", "effnet-lite0", "smollm2"])
def test_stored_representations_are_what_the_model_gives(model: str) -> None:
    live, dataset = installed(model), load_bundled("emoji")
    store = Store(data_folder() / "store", read_only=True)
    items = dataset.inputs(live.modality)[:8]
    held = store.representations().filter(pl.col("dataset_name") == "emoji", pl.col("model") == model)
    layers = held["layer"].to_list()[::3]
    for layer, values in live.activations(items, layers, "mean").items():
        stored = store.load(model=model, layer=layer, dataset="emoji").matrix[:8]
        scale = float(np.abs(stored).max())
        assert values == pytest.approx(stored, abs=2e-3 * scale)


def test_sentence_encoders_know_what_is_alike() -> None:
    for name in ("minilm-l6", "paraphrase-l3", "me5-small"):
        entry = find_entry(name)
        if entry is None or not entry.available:
            continue
        texts = ["a dog runs in the park", "a puppy is running outside", "the stock market fell sharply"]
        model = entry.load()
        x = model.activations(texts, [model.layers[-1]], "mean")[model.layers[-1]]
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        assert x[0] @ x[1] > x[0] @ x[2] + 0.05, name


def test_smollm2_predicts_paris() -> None:
    model = installed("smollm2")
    last = model.activations(["The capital of France is"], [model.layers[-1]], "last")[model.layers[-1]][0]
    embedding = model.module.get_input_embeddings().weight.detach().numpy()
    assert model.tokenizer.decode([int((embedding @ last).argmax())]).strip() == "Paris"


def test_a_changed_weight_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"not the weights")
    with pytest.raises(ExplorerError, match="not the file that this reader was written for"):
        carriers.checked(path, "0" * 64)


def test_a_missing_package_tells_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.models.catalogue.carried_file", lambda *_: None)
    with pytest.raises(ExplorerError, match="requirements-zoo.txt"):
        load_model("minilm-l6")


def test_q4_0_blocks_by_hand() -> None:
    block = np.float16(0.5).tobytes() + bytes(range(16))
    expected = [(i - 8) * 0.5 for i in range(16)] + [-4.0] * 16
    assert dequantise_q4_0(memoryview(block), 32).tolist() == expected
