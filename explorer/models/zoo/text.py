"""The four packaged text models: two sentence encoders, a multilingual encoder and a small decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.models.text import TextModel


def _minilm_tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def load_minilm(weights: Path, revision: str) -> TextModel:
    """all-MiniLM-L6-v2 from an ordinary hub folder."""
    from transformers import AutoModel

    module = AutoModel.from_pretrained(weights.parent, local_files_only=True)
    return TextModel(module, _minilm_tokenizer(weights.parent), "minilm-l6", revision)


def onnx_state(path: Path, prefix: str, skip: int) -> dict[str, torch.Tensor]:
    """Recover a state dict from an ONNX export.

    Named initialisers keep their names below ``prefix``. The weights of MatMul nodes are anonymous and
    transposed; the node's own name says whose they are (``skip`` leading parts are dropped).
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    arrays = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    state = {
        name.removeprefix(prefix): torch.tensor(value) for name, value in arrays.items() if name.startswith(prefix)
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in arrays:
            owner = ".".join(node.name.strip("/").split("/")[skip:-1])
            state[f"{owner}.weight"] = torch.tensor(arrays[node.input[1]].T.copy())
    return state


def load_paraphrase(weights: Path, revision: str, tokenizer_folder: Path) -> TextModel:
    """paraphrase-MiniLM-L3-v2 from its ONNX export; the tokenizer is that of bert-base-uncased."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=3, num_attention_heads=12, intermediate_size=1536
    )
    module = BertModel(config, add_pooling_layer=False)
    module.load_state_dict(onnx_state(weights, "model.0.auto_model.", 3), strict=True)
    return TextModel(module, _minilm_tokenizer(tokenizer_folder), "paraphrase-l3", revision)


def load_smollm2(weights: Path, revision: str) -> TextModel:
    """SmolLM2-135M-Instruct, dequantised from a 4-bit GGUF file."""
    import gguf
    from transformers import LlamaConfig, LlamaModel

    reader = gguf.GGUFReader(str(weights))

    def field(name: str) -> Any:
        return reader.fields[f"llama.{name}"].contents()

    config = LlamaConfig(
        vocab_size=len(reader.fields["tokenizer.ggml.tokens"].contents()),
        hidden_size=field("embedding_length"),
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=field("attention.head_count"),
        num_key_value_heads=field("attention.head_count_kv"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        **_rope(field("rope.freq_base")),
        max_position_embeddings=field("context_length"),
    )
    heads = {"attn_q": field("attention.head_count"), "attn_k": field("attention.head_count_kv")}
    state = {}
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).reshape(tuple(tensor.shape)[::-1])
        part = tensor.name.split(".")[-2]
        if part in heads:
            values = _unpermute_rope(values, heads[part])
        state[_llama_name(tensor.name)] = torch.tensor(np.ascontiguousarray(values))
    module = LlamaModel(config)
    module.load_state_dict(state, strict=True)
    return TextModel(module, _gguf_tokenizer(reader), "smollm2", revision)


def _rope(base: float) -> dict[str, Any]:
    """The base of the rotary embedding, under the names of transformers 4 and 5."""
    return {"rope_theta": base, "rope_parameters": {"rope_type": "default", "rope_theta": base}}


LLAMA_PARTS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def _llama_name(name: str) -> str:
    whole = {"token_embd.weight": "embed_tokens.weight", "output_norm.weight": "norm.weight"}
    if name in whole:
        return whole[name]
    _, block, part, kind = name.split(".")
    return f"layers.{block}.{LLAMA_PARTS[part]}.{kind}"


def _unpermute_rope(weight: np.ndarray, heads: int) -> np.ndarray:
    """Undo the row order in which llama.cpp stores query and key rows for its rotary embedding."""
    half = weight.shape[0] // heads // 2
    return weight.reshape(heads, half, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def _gguf_tokenizer(reader: Any) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in reader.fields["tokenizer.ggml.merges"].contents()]
    kinds = reader.fields["tokenizer.ggml.token_type"].contents()
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([token for token, kind in zip(tokens, kinds) if kind != 1])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>", pad_token="<|endoftext|>")
