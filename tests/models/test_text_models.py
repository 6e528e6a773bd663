"""Hugging Face models on randomly initialised tiny configurations: padding, batches, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.errors import ExplorerError
from explorer.models import load_model

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "sat", "on", "the", "mat", "dog", "."]


def tokenizer(side: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", padding_side=side)


def tiny(kind: str) -> Any:
    import torch
    import transformers as t

    torch.manual_seed(0)
    common = {"vocab_size": len(WORDS), "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
    if kind == "bert":
        return t.BertModel(t.BertConfig(**common, intermediate_size=32))
    if kind == "gpt2":
        return t.GPT2Model(t.GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=3, n_head=2))
    return t.LlamaModel(t.LlamaConfig(**common, intermediate_size=32, num_key_value_heads=1))


@pytest.fixture(params=[("bert", "right"), ("gpt2", "right"), ("llama", "left"), ("llama", "right")])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    kind, side = request.param
    target = tmp_path / f"{kind}-{side}"
    tiny(kind).save_pretrained(target)
    tokenizer(side).save_pretrained(target)
    return target


def test_a_text_alone_and_in_a_batch(folder: Path) -> None:
    model = load_model(str(folder))
    assert model.layers == ("embeddings", "layers.0", "layers.1", "layers.2")
    texts = ["a cat sat", "the dog sat on the mat .", "cat"]
    for pooling in ("mean", "last", "first"):
        if pooling != "mean" and "left" in folder.name:
            # Position ids of left-padded text differ in some architectures; mean pooling is what is promised there.
            continue
        together = model.activations(texts, model.layers, pooling)
        for i, text in enumerate(texts):
            alone = model.activations([text], model.layers, pooling)
            for layer in model.layers:
                assert together[layer][i] == pytest.approx(alone[layer][0], abs=2e-5), (layer, pooling)


def test_vision_transformer_folder(tmp_path: Path) -> None:
    import transformers as t

    config = t.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=32, patch_size=8
    )
    t.ViTModel(config).save_pretrained(tmp_path)
    t.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    model = load_model(str(tmp_path))
    pictures = np.random.default_rng(0).integers(0, 255, (3, 40, 40, 3), dtype=np.uint8)
    found = model.activations(pictures, model.layers, "first")
    assert len(model.layers) == 2
    assert all(values.shape == (3, 16) for values in found.values())


def test_an_unknown_id_tells_how_to_get_it() -> None:
    with pytest.raises(ExplorerError, match="hf download nobody/nothing"):
        load_model("nobody/nothing")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ExplorerError, match="does not load as a Hugging Face model"):
        load_model(str(tmp_path))


def test_code_from_a_folder_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        '{"model_type": "evil", "auto_map": {"AutoConfig": "evil.C", "AutoModel": "evil.M"}}'
    )
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write('x')")
    with pytest.raises(ExplorerError):
        load_model(str(tmp_path))
    assert not (tmp_path / "ran").exists()


def test_an_unknown_bundled_net() -> None:
    with pytest.raises(ExplorerError, match="no bundled net 'digits/nope'; there are digits/cnn-seed0"):
        load_model("digits/nope")
