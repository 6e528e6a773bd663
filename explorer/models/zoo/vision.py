"""The four packaged vision models: EfficientNet-Lite 0, 1 and 2, and a ViT-S/14 of DINOv2 architecture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.models.torch_module import TorchModel
from explorer.models.zoo.text import onnx_state

SIDES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}
DINO_SIDE = 224
IMAGENET_MEAN, IMAGENET_SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def resized(items: Sequence[Any], side: int) -> torch.Tensor:
    """Make (b, 3, side, side) float32 pixels in 0..255 of uint8 pictures, by bicubic interpolation."""
    from PIL import Image

    pictures = [
        np.asarray(Image.fromarray(np.asarray(item)).resize((side, side), Image.Resampling.BICUBIC)) for item in items
    ]
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float()


def load_efficientnet(weights: Path, revision: str, architecture: str) -> TorchModel:
    """An EfficientNet-Lite whose layers are its blocks, spatially pooled."""
    from efficientnet_lite_pytorch import EfficientNet

    module = EfficientNet.from_name(architecture)
    module.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"), strict=True)
    side = SIDES[architecture]

    def preprocess(items: Sequence[Any]) -> torch.Tensor:
        return (resized(items, side) - 127) / 128

    layers = {f"blocks.{i}": f"_blocks.{i}" for i in range(len(module._blocks))}
    name = architecture.replace("efficientnet", "effnet")
    return TorchModel(module, preprocess, name, revision, "image", layers, ("mean",))


def load_dinov2(weights: Path, revision: str) -> TorchModel:
    """A ViT-S/14 of DINOv2 architecture; the package does not say where its weights come from."""
    import tempfile

    from safetensors.torch import save_file
    from transformers import Dinov2Config, Dinov2Model

    state = onnx_state(weights, "backbone.", 1)
    raw = onnx_state(weights, "onnx::", 1)
    state["embeddings.position_embeddings"] = torch.cat([raw["Concat_1957"], raw["Reshape_1962"]], dim=1)
    state["embeddings.mask_token"] = torch.zeros(1, 384)
    config = Dinov2Config(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, patch_size=14, image_size=518)
    # from_pretrained translates the old parameter names, which load_state_dict would refuse in newer versions.
    with tempfile.TemporaryDirectory() as folder:
        kept = {k: v.contiguous() for k, v in state.items() if k.startswith(("embeddings", "encoder", "layernorm"))}
        save_file(kept, Path(folder) / "model.safetensors", metadata={"format": "pt"})
        config.save_pretrained(folder)
        loaded: Any = Dinov2Model.from_pretrained(folder, local_files_only=True, output_loading_info=True)
    module, loading = loaded
    if loading["missing_keys"] or loading["unexpected_keys"]:
        raise ExplorerError(f"{weights.name} does not fit the DINOv2 architecture: {loading}.")
    mean, deviation = (torch.tensor(v).view(1, 3, 1, 1) for v in (IMAGENET_MEAN, IMAGENET_SD))

    def preprocess(items: Sequence[Any]) -> torch.Tensor:
        return (resized(items, DINO_SIDE) / 255 - mean) / deviation

    layers = {f"layers.{i}": f"encoder.layer.{i}" for i in range(12)}
    return TorchModel(module, preprocess, "dinov2-s", revision, "image", layers, ("first", "mean"))
