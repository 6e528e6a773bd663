"""The project's own small nets for 8 x 8 digits: an MLP, a CNN and a vision transformer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from explorer.errors import ExplorerError
from explorer.files import short_hash
from explorer.models.torch_module import TorchModel
from explorer.paths import data_folder

SIDE = 8
CLASSES = 10


class DigitsMLP(nn.Module):
    """Three hidden layers of 96 rectified units."""

    def __init__(self, width: int = 96) -> None:
        super().__init__()
        self.hidden1 = nn.Sequential(nn.Linear(SIDE * SIDE, width), nn.ReLU())
        self.hidden2 = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.hidden3 = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.logits = nn.Linear(width, CLASSES)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.logits(self.hidden3(self.hidden2(self.hidden1(pictures.flatten(1)))))


class DigitsCNN(nn.Module):
    """Three 3 x 3 convolutions (16, 32, 64 channels), the last two at stride 2."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU())
        self.conv2 = nn.Sequential(nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU())
        self.conv3 = nn.Sequential(nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU())
        self.logits = nn.Linear(64 * 4, CLASSES)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.logits(self.conv3(self.conv2(self.conv1(pictures))).flatten(1))


class Block(nn.Module):
    """A pre-norm transformer block; its output is the residual stream."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        normed = self.norm1(tokens)
        tokens = tokens + self.attention(normed, normed, normed, need_weights=False)[0]
        return tokens + self.mlp(self.norm2(tokens))


class DigitsViT(nn.Module):
    """Sixteen 2 x 2 patches, four blocks of width 32, mean of the tokens into the classifier."""

    def __init__(self, width: int = 32, depth: int = 4, heads: int = 4) -> None:
        super().__init__()
        self.embed = nn.Conv2d(1, width, 2, stride=2)
        self.position = nn.Parameter(torch.zeros(1, 16, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.logits = nn.Linear(width, CLASSES)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        tokens = self.embed(pictures).flatten(2).transpose(1, 2) + self.position
        for block in self.blocks:
            tokens = block(tokens)
        return self.logits(tokens.mean(dim=1))


ARCHITECTURES: dict[str, tuple[type[nn.Module], tuple[str, ...]]] = {
    "mlp": (DigitsMLP, ("hidden1", "hidden2", "hidden3", "logits")),
    "cnn": (DigitsCNN, ("conv1", "conv2", "conv3", "logits")),
    "vit": (DigitsViT, ("embed", "blocks.0", "blocks.1", "blocks.2", "blocks.3", "logits")),
}


def digits_to_tensor(items: Sequence[np.ndarray] | np.ndarray) -> torch.Tensor:
    """Make (b, 1, 8, 8) floats in [0, 1] of (b, 8, 8, 3) bytes."""
    pictures = np.asarray(items)
    if pictures.ndim != 4 or pictures.shape[1:3] != (SIDE, SIDE):
        raise ExplorerError(
            f"The digits nets read pictures of {SIDE} x {SIDE} pixels; these have shape {pictures.shape[1:]}."
        )
    return torch.from_numpy(pictures[..., :1].astype(np.float32) / 255).permute(0, 3, 1, 2)


def nets_folder() -> Path:
    """Where the trained weights lie."""
    return data_folder() / "nets"


def available_nets() -> list[str]:
    """Names of all trained nets, e.g. ``digits/mlp-seed0`` or ``digits/cnn-seed0-epoch2``."""
    return sorted(f"digits/{path.stem}" for path in nets_folder().glob("*.safetensors"))


def load_digits_net(name: str) -> TorchModel:
    """Load one of :func:`available_nets`."""
    from safetensors.torch import load_file

    if name not in available_nets():
        raise ExplorerError(f"There is no bundled net '{name}'; there are {', '.join(available_nets())}.")
    path = nets_folder() / f"{name.removeprefix('digits/')}.safetensors"
    architecture, layers = ARCHITECTURES[path.stem.split("-")[0]]
    module = architecture()
    module.load_state_dict({key: value.float() for key, value in load_file(path).items()})
    return TorchModel(
        module, digits_to_tensor, name, short_hash(path.read_bytes()), "image", layers, ("mean", "flatten")
    )
