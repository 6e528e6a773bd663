"""Transformer encoders and decoders that read text: hidden states of every layer, pooled without padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from explorer.device import compute_device
from explorer.models.base import Model

POOLINGS = ("mean", "last", "first")
MAX_TOKENS = 256


class TextModel(Model):
    """A Hugging Face text model and its tokenizer.

    ``embeddings`` is the input of the first block; ``layers.i`` is the residual stream after block i (the
    last one after the final normalisation where the architecture has one, as transformers returns it).
    """

    modality = "text"

    def __init__(self, module: Any, tokenizer: Any, name: str, revision: str, prefix: str = "") -> None:
        self.module = module.eval().to(compute_device())
        self.tokenizer, self.prefix = tokenizer, prefix
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
        self.name, self.revision = name, revision
        depth = int(module.config.num_hidden_layers)
        self.layers = ("embeddings", *(f"layers.{i}" for i in range(depth)))
        self.poolings = POOLINGS
        self.truncated = 0

    def activations(self, items: Sequence[str], layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        texts = [self.prefix + text for text in items]
        encoded = self.tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt").to(
            compute_device()
        )
        encoded.pop("token_type_ids", None)
        mask = encoded["attention_mask"]
        self.truncated += int((mask.sum(dim=1) >= MAX_TOKENS).sum())
        with torch.inference_mode():
            states = self.module(**encoded, output_hidden_states=True).hidden_states
        pooled = {layer: pool_tokens(states[self.layers.index(layer)], mask, pooling) for layer in layers}
        return {layer: value.float().cpu().numpy() for layer, value in pooled.items()}


def pool_tokens(states: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Pool (b, t, d) hidden states over the tokens that the mask marks, whichever side the padding is on."""
    states = states.float()
    if pooling == "mean":
        weights = mask.to(states.dtype).unsqueeze(-1)
        return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
    positions = torch.arange(mask.shape[1], device=mask.device)
    if pooling == "last":
        index = torch.where(mask.bool(), positions, -1).max(dim=1).values.clamp(min=0)
    else:
        index = torch.where(mask.bool(), positions, mask.shape[1]).min(dim=1).values.clamp(max=mask.shape[1] - 1)
    return states[torch.arange(len(states), device=states.device), index]
