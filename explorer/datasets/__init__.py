"""Items and what is known about them: bundled sets and the user's own files."""

from explorer.datasets.base import Dataset
from explorer.datasets.bundled import BUNDLED, load_bundled
from explorer.datasets.files import load_dataset

__all__ = ["BUNDLED", "Dataset", "load_bundled", "load_dataset"]
