"""Train the bundled digits nets: three architectures, three seeds, and checkpoints of seed 0.

Run from the project's root: python data/scripts/train_digits.py (about three minutes on one core).
Weights are written as float16 safetensors to data/nets/, with the test accuracy in their headers.
"""

from __future__ import annotations

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from explorer.datasets import load_bundled
from explorer.models.digits import ARCHITECTURES, digits_to_tensor, nets_folder

SEEDS = (0, 1, 2)
EPOCHS = 30
CHECKPOINTS = (0, 1, 2, 4, 8, 16)
TRAIN_ITEMS = 1400


def save(module: nn.Module, name: str, accuracy: float) -> None:
    weights = {key: value.half().contiguous() for key, value in module.state_dict().items()}
    note = {"test_accuracy": f"{accuracy:.4f}", "trained_on": "scikit-learn digits, 1400 of 1797 items"}
    save_file(weights, nets_folder() / f"{name}.safetensors", metadata=note)
    print(f"{name}: test accuracy {accuracy:.3f}", flush=True)


def train(kind: str, seed: int, pictures: torch.Tensor, labels: torch.Tensor) -> None:
    torch.manual_seed(seed)
    module = ARCHITECTURES[kind][0]()
    optimiser = torch.optim.AdamW(module.parameters(), lr=3e-3, weight_decay=0.01)
    order = torch.from_numpy(np.random.default_rng(99).permutation(len(labels)))
    train_set, test_set = order[:TRAIN_ITEMS], order[TRAIN_ITEMS:]

    def accuracy() -> float:
        with torch.inference_mode():
            return float((module(pictures[test_set]).argmax(1) == labels[test_set]).float().mean())

    for epoch in range(EPOCHS + 1):
        if seed == 0 and epoch in CHECKPOINTS:
            save(module, f"{kind}-seed{seed}-epoch{epoch}", accuracy())
        if epoch == EPOCHS:
            break
        shuffled = train_set[torch.randperm(TRAIN_ITEMS)]
        for batch in shuffled.split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(module(pictures[batch]), labels[batch]).backward()
            optimiser.step()
    save(module, f"{kind}-seed{seed}", accuracy())


def main() -> None:
    torch.set_num_threads(1)
    nets_folder().mkdir(parents=True, exist_ok=True)
    digits = load_bundled("digits")
    pictures = digits_to_tensor(digits.images)
    labels = torch.tensor([int(d) for d in digits.metadata["digit"]])
    for kind in ARCHITECTURES:
        for seed in SEEDS:
            train(kind, seed, pictures, labels)


if __name__ == "__main__":
    main()
