"""Hugging Face folders and ids that are already on this machine; code from a repository is never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from explorer.errors import ExplorerError
from explorer.models.base import Model
from explorer.models.text import TextModel
from explorer.models.torch_module import TorchModel


def load_huggingface(source: str) -> Model:
    """Load a text or vision model from a folder, or by id from the local cache.

    Raises
    ------
    ExplorerError
        When it is not here, needs its own code, or is neither a text nor a vision model.
    """
    import transformers

    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = transformers.AutoConfig.from_pretrained(source, **options)
    except (OSError, ValueError) as error:
        raise _not_loadable(source, error) from None
    revision = getattr(config, "_commit_hash", None) or _folder_revision(source)
    name = Path(source).name if Path(source).is_dir() else source
    try:
        module = transformers.AutoModel.from_pretrained(source, **options)
        if hasattr(config, "patch_size") and hasattr(config, "num_channels"):
            return _vision(module, transformers.AutoImageProcessor.from_pretrained(source, **options), name, revision)
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
    except (OSError, ValueError, RuntimeError, ImportError, KeyError) as error:
        raise _not_loadable(source, error) from None
    return TextModel(module, tokenizer, name, revision)


def _vision(module: Any, processor: Any, name: str, revision: str) -> Model:
    blocks = [n for n, _ in module.named_modules() if n.rsplit(".", 1)[-1].isdigit()]
    depth = min((n.count(".") for n in blocks), default=0)
    layers = [n for n in blocks if n.count(".") == depth]

    def preprocess(items: Any) -> torch.Tensor:
        batch = [np.asarray(item) for item in items]
        return processor(images=batch, return_tensors="pt")["pixel_values"]

    return TorchModel(module, preprocess, name, revision, "image", layers or None, ("first", "mean", "flatten"))


def _folder_revision(source: str) -> str:
    """Identify local weights by the size and time of their files, since hashing gigabytes at each start is slow."""
    from explorer.files import short_hash

    folder = Path(source)
    if not folder.is_dir():
        return "unversioned"
    weights = sorted(p for p in folder.iterdir() if p.suffix in {".safetensors", ".bin", ".json"})
    return short_hash(*(f"{p.name}:{p.stat().st_size}:{p.stat().st_mtime_ns}" for p in weights))


def _not_loadable(source: str, error: Exception) -> ExplorerError:
    if Path(source).exists():
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return ExplorerError(f"The folder {source} does not load as a Hugging Face model: {first}")
    return ExplorerError(
        f"'{source}' is neither a bundled model, nor a folder, nor in the local Hugging Face cache; "
        f"fetch it first with: hf download {source}"
    )
