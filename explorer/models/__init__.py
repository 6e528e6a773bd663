"""Something with named layers that turns items into activations."""

from explorer.models.base import Model
from explorer.models.catalogue import CATALOGUE, ModelEntry, load_model
from explorer.models.torch_module import TorchModel, discover_layers, layer_tree

__all__ = ["CATALOGUE", "Model", "ModelEntry", "TorchModel", "discover_layers", "layer_tree", "load_model"]
