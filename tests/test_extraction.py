"""Extraction: pooling never sees padding, hooks go away, nothing is computed twice, cancel leaves no trace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn

from explorer.datasets import Dataset, load_bundled
from explorer.errors import ExplorerError
from explorer.extraction import extract
from explorer.models import Model, TorchModel, discover_layers, layer_tree, load_model
from explorer.models.text import pool_tokens
from explorer.store import Store


def few_digits(n: int = 50) -> Dataset:
    whole = load_bundled("digits")
    assert whole.images is not None
    return Dataset("few", whole.metadata.head(n), images=whole.images[:n])


def test_batches_do_not_matter(tmp_path: Path) -> None:
    net, items = load_model("digits/vit-seed0"), few_digits()
    values = []
    for size in (7, 50):
        store = Store(tmp_path / str(size))
        extract(net, items, store, "blocks.*", batch_size=size)
        values.append(store.load(layer="blocks.2").matrix)
    assert values[0] == pytest.approx(values[1], abs=1e-5)


def test_values_are_those_of_the_forward_pass(tmp_path: Path) -> None:
    net, items = load_model("digits/mlp-seed0"), few_digits()
    assert isinstance(net, TorchModel)
    store = Store(tmp_path)
    extract(net, items, store)
    with torch.inference_mode():
        expected = net.module(net.preprocess(items.images)).numpy()
    assert store.load(layer="logits").matrix == pytest.approx(expected, abs=1e-6)
    assert not any(m._forward_hooks for m in net.module.modules())


def test_trained_nets_know_their_digits() -> None:
    digits = load_bundled("digits")
    labels = np.array([int(d) for d in digits.metadata["digit"]])
    for name, floor in {"digits/mlp-seed0": 0.97, "digits/cnn-seed1": 0.97, "digits/vit-seed2": 0.95}.items():
        logits = load_model(name).activations(digits.images, ["logits"], "mean")["logits"]
        assert (logits.argmax(1) == labels).mean() > floor
    untrained = load_model("digits/cnn-seed0-epoch0").activations(digits.images, ["logits"], "mean")["logits"]
    assert (untrained.argmax(1) == labels).mean() < 0.3


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    store, net, items = Store(tmp_path), load_model("digits/mlp-seed0"), few_digits()
    extract(net, items, store, "hidden1")
    first = store.load(layer="hidden1").matrix
    calls: list[Sequence[str]] = []
    original = net.activations
    net.activations = lambda batch, layers, pooling: (  # type: ignore[method-assign]
        calls.append(layers) or original(batch, layers, pooling)
    )
    extract(net, items, store, "hidden1,hidden2")
    assert all(list(layers) == ["hidden2"] for layers in calls)
    assert (store.load(layer="hidden1").matrix == first).all()
    assert extract(net, items, store, "hidden2").note == "already stored"


def test_cancel_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def report(share: float, note: str) -> None:
        if share > 0.3:
            raise Stop

    with pytest.raises(Stop):
        extract(load_model("digits/mlp-seed0"), few_digits(), Store(tmp_path / "s"), batch_size=10, report=report)
    assert not (tmp_path / "s").exists()


def test_progress_tells_speed_and_time_left(tmp_path: Path) -> None:
    notes: list[str] = []
    extract(
        load_model("digits/mlp-seed0"),
        few_digits(),
        Store(tmp_path),
        batch_size=20,
        report=lambda _, n: notes.append(n),
    )
    assert notes[-1].startswith("50 of 50 items, ")
    assert "items/s" in notes[0] and "left" in notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"layers": "hidden9"}, "has no layer 'hidden9'; it has hidden1, hidden2, hidden3, logits"),
        ({"layers": ""}, "No layer of digits/mlp-seed0 was chosen"),
        ({"pooling": "median"}, "has no pooling 'median'; it has mean, flatten"),
        ({"batch_size": 0}, "batch size is 0"),
    ],
)
def test_bad_requests(tmp_path: Path, options: dict, words: str) -> None:
    with pytest.raises(ExplorerError, match=words):
        extract(load_model("digits/mlp-seed0"), few_digits(), Store(tmp_path / "s"), **options)
    assert not (tmp_path / "s").exists()


def test_a_model_of_the_wrong_modality_or_size(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="has no image items"):
        extract(load_model("digits/mlp-seed0"), load_bundled("words"), Store(tmp_path))
    with pytest.raises(ExplorerError, match="8 x 8 pixels"):
        extract(load_model("digits/mlp-seed0"), load_bundled("rotated-car"), Store(tmp_path))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("pooling", ["mean", "last", "first"])
def test_pooling_skips_padding(side: str, pooling: str) -> None:
    rng = np.random.default_rng(0)
    tokens = torch.from_numpy(rng.standard_normal((1, 4, 6)))
    padding = torch.full((1, 3, 6), 1e6)
    ones, zeros = torch.ones(1, 4), torch.zeros(1, 3)
    order = [padding, tokens] if side == "left" else [tokens, padding]
    masks = [zeros, ones] if side == "left" else [ones, zeros]
    found = pool_tokens(torch.cat(order, dim=1), torch.cat(masks, dim=1), pooling)[0]
    expected = {"mean": tokens[0].mean(0), "last": tokens[0, -1], "first": tokens[0, 0]}[pooling]
    assert found.numpy() == pytest.approx(expected.float().numpy(), abs=1e-6)


class Toy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.act = nn.ReLU(inplace=True)
        self.unused = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.conv(x)).flatten(1)


def toy() -> Model:
    def preprocess(batch: Sequence[np.ndarray]) -> torch.Tensor:
        return torch.from_numpy(np.stack(batch)).permute(0, 3, 1, 2).float() / 255

    return TorchModel(Toy(), preprocess, "toy")


def test_any_torch_module() -> None:
    assert discover_layers(Toy()) == ("conv", "act", "unused")
    assert "  conv: Conv2d, 112 parameters" in layer_tree(Toy())
    model, items = toy(), few_digits(5)
    assert items.images is not None
    found = model.activations(items.images, ["conv", "act"], "flatten")
    assert found["conv"].shape == (5, 4 * 36)
    # The activation runs in place; the stored output of the convolution must not be overwritten.
    assert (found["conv"] < 0).any() and (found["act"] >= 0).all()
    assert model.activations(items.images, ["conv"], "mean")["conv"].shape == (5, 4)
    with pytest.raises(ExplorerError, match="'unused' of toy is not reached"):
        model.activations(items.images, ["unused"], "mean")


def test_fingerprints_follow_content_and_order() -> None:
    frame = pl.DataFrame({"label": ["a", "b"]})
    first = Dataset("x", frame, texts=("a", "b")).fingerprint
    assert Dataset("renamed", frame, texts=("a", "b")).fingerprint == first
    assert Dataset("x", frame, texts=("b", "a")).fingerprint != first
    assert Dataset("x", frame, texts=("ab", "")).fingerprint != first
