"""Model x dataset -> store: run the items through the model in batches and keep the pooled layers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from explorer.datasets.base import Dataset
from explorer.errors import ExplorerError
from explorer.models.base import Model
from explorer.store import Store

Report = Callable[[float, str], None]
DEFAULT_BATCH = 32


@dataclass(frozen=True)
class Extraction:
    """What an extraction did: the file, the layers in it, seconds, items per second, and a note for people."""

    file: Path
    layers: tuple[str, ...]
    seconds: float
    items_per_second: float
    note: str = ""


def extract(
    model: Model,
    dataset: Dataset,
    store: Store,
    layers: str | Sequence[str] = "all",
    pooling: str | None = None,
    batch_size: int = DEFAULT_BATCH,
    dtype: str = "float32",
    report: Report | None = None,
) -> Extraction:
    """Extract layers of a model on a dataset into a store.

    Nothing is written before the last batch is done, so a cancelled or failed run leaves the store as it
    was. Layers that the store already holds for this (dataset, model, pooling) are kept, and are not
    computed again.

    Parameters
    ----------
    layers : str or sequence of str
        ``all``, names, or globs such as ``layers.*``.
    pooling : str, optional
        One of ``model.poolings``; the model's default when absent.
    report : callable, optional
        Called as ``report(share_done, sentence)`` after each batch; may raise to cancel.
    """
    store.require_writable()
    chosen = model.select_layers(layers)
    pooling = model.check_pooling(pooling)
    items = dataset.inputs(model.modality)
    if batch_size < 1:
        raise ExplorerError(f"The batch size is {batch_size}; at least 1 is needed.")
    held = _held_layers(store, dataset, model, pooling)
    missing = [layer for layer in chosen if layer not in held]
    target = store.file_for(dataset.fingerprint, dataset.name, model.name, model.revision, pooling)
    if not missing:
        return Extraction(target, chosen, 0.0, float("inf"), "already stored")
    started = time.perf_counter()
    fresh = _run_batches(model, items, missing, pooling, batch_size, report)
    kept = {
        layer: store.load(
            model=model.name, layer=layer, dataset=dataset.fingerprint, pooling=pooling, id=identity
        ).values
        for layer, identity in held.items()
    }
    together = {layer: fresh.get(layer, kept.get(layer)) for layer in model.layers if layer in {**fresh, **kept}}
    store.save(
        {name: values for name, values in together.items() if values is not None},
        dataset=dataset.fingerprint,
        dataset_name=dataset.name,
        model=model.name,
        revision=model.revision,
        pooling=pooling,
        layer_order=model.layers,
        dtype=dtype,
    )
    seconds = time.perf_counter() - started
    truncated = getattr(model, "truncated", 0)
    note = f"{truncated} item(s) were cut at the model's longest input" if truncated else ""
    return Extraction(target, chosen, seconds, len(dataset) / seconds, note)


def _held_layers(store: Store, dataset: Dataset, model: Model, pooling: str) -> dict[str, str]:
    frame = store.representations().filter(
        (pl.col("dataset") == dataset.fingerprint)
        & (pl.col("model") == model.name)
        & (pl.col("revision") == model.revision)
        & (pl.col("pooling") == pooling)
    )
    return dict(zip(frame["layer"].to_list(), frame["id"].to_list()))


def _run_batches(
    model: Model, items: Any, layers: Sequence[str], pooling: str, size: int, report: Report | None
) -> dict[str, np.ndarray]:
    collected: dict[str, list[np.ndarray]] = {layer: [] for layer in layers}
    started = time.perf_counter()
    for start in range(0, len(items), size):
        batch = items[start : start + size]
        for layer, values in model.activations(batch, layers, pooling).items():
            if len(values) != len(batch):
                raise ExplorerError(f"Layer {layer} of {model.name} gave {len(values)} rows for {len(batch)} items.")
            collected[layer].append(values)
        if report is not None:
            done = start + len(batch)
            rate = done / max(time.perf_counter() - started, 1e-9)
            left = (len(items) - done) / rate
            report(done / len(items), f"{done} of {len(items)} items, {rate:.0f} items/s, {left:.0f} s left")
    return {layer: np.concatenate(parts) for layer, parts in collected.items()}
