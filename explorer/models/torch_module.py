"""Any torch module as a model: layers found by walking it, activations caught by forward hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from explorer.device import compute_device
from explorer.errors import ExplorerError
from explorer.models.base import Model

CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
SILENT = (nn.Dropout, nn.Identity)


def discover_layers(module: nn.Module, max_depth: int = 6) -> tuple[str, ...]:
    """Name the submodules whose outputs can be recorded, in the order in which the module lists them.

    Containers, dropout and identities are left out: they compute nothing of their own.
    """
    return tuple(
        name
        for name, child in module.named_modules()
        if name and not isinstance(child, CONTAINERS + SILENT) and name.count(".") < max_depth
    )


def layer_tree(module: nn.Module) -> str:
    """Draw the module as an indented tree: name, class and number of parameters of each submodule."""
    lines = []
    for name, child in module.named_modules():
        depth = name.count(".") + bool(name)
        count = sum(p.numel() for p in child.parameters())
        label = name.rsplit(".", 1)[-1] or "(model)"
        lines.append(f"{'  ' * depth}{label}: {type(child).__name__}, {count:,} parameters")
    return "\n".join(lines)


class TorchModel(Model):
    """A torch module with hooks on named submodules.

    Parameters
    ----------
    module : torch.nn.Module
        Put into evaluation mode; its weights are not changed.
    preprocess : callable
        Turns a batch of items into the tensor that the module takes.
    layers : sequence of str or dict of str, optional
        Submodule names in order of depth (a dict maps the names to show to those of submodules); found by
        :func:`discover_layers` when absent.
    poolings : sequence of str
        Out of ``mean`` (over positions or tokens), ``first`` (first token), ``last``, ``flatten``.
    """

    def __init__(
        self,
        module: nn.Module,
        preprocess: Callable[[Sequence[Any]], torch.Tensor],
        name: str = "module",
        revision: str = "unversioned",
        modality: str = "image",
        layers: Sequence[str] | Mapping[str, str] | None = None,
        poolings: Sequence[str] = ("mean", "flatten", "first", "last"),
    ) -> None:
        self.module = module.eval().to(compute_device())
        self.preprocess = preprocess
        self.name, self.revision, self.modality = name, revision, modality
        names = layers if layers is not None else discover_layers(module)
        self._paths = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
        self.layers = tuple(self._paths)
        self.poolings = tuple(poolings)
        known = dict(module.named_modules())
        missing = [path for path in self._paths.values() if path not in known]
        if missing:
            raise ExplorerError(f"{name} has no submodule '{missing[0]}' (of {len(missing)} unknown names).")

    def activations(self, items: Sequence[Any], layers: Sequence[str], pooling: str) -> dict[str, np.ndarray]:
        caught: dict[str, torch.Tensor] = {}
        modules = dict(self.module.named_modules())

        def keep(layer: str) -> Callable[..., None]:
            # Clone, since a later in-place operation would overwrite the stored output.
            def hook(_module: nn.Module, _inputs: Any, output: Any) -> None:
                tensor = output[0] if isinstance(output, (tuple, list)) else output
                caught[layer] = pool(tensor, pooling).detach().clone()

            return hook

        handles = [modules[self._paths[layer]].register_forward_hook(keep(layer)) for layer in layers]
        try:
            with torch.inference_mode():
                self.module(self.preprocess(items).to(compute_device()))
        finally:
            for handle in handles:
                handle.remove()
        silent = [layer for layer in layers if layer not in caught]
        if silent:
            raise ExplorerError(f"Layer '{silent[0]}' of {self.name} is not reached in a forward pass.")
        return {layer: caught[layer].float().cpu().numpy() for layer in layers}


def pool(tensor: torch.Tensor, pooling: str) -> torch.Tensor:
    """Make one vector an item: (b, d) stays; (b, t, d) tokens and (b, c, h, w) maps are pooled.

    ``mean`` averages over tokens or over space, ``first`` and ``last`` take one token (for a map: ``mean``),
    ``flatten`` keeps every value.
    """
    if tensor.ndim == 2:
        return tensor
    if tensor.ndim < 2:
        raise ExplorerError(f"A layer gave shape {tuple(tensor.shape)}; one row an item is needed.")
    if pooling == "flatten":
        return tensor.flatten(1)
    if tensor.ndim == 3:
        return {"first": tensor[:, 0], "last": tensor[:, -1]}.get(pooling, tensor.mean(dim=1))
    return tensor.flatten(2).mean(dim=2)
