"""Find a weight file inside an installed package without importing it, and check its hash once."""

from __future__ import annotations

import hashlib
import importlib.metadata
from functools import lru_cache
from pathlib import Path

from explorer.errors import ExplorerError


def carried_file(distributions: tuple[str, ...], ending: str) -> Path | None:
    """Return the file that ends in ``ending`` inside the first of these distributions that is installed."""
    for distribution in distributions:
        try:
            files = importlib.metadata.files(distribution) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if str(file).endswith(ending):
                path = Path(str(file.locate()))
                if path.is_file():
                    return path
    return None


@lru_cache(maxsize=32)
def checked(path: Path, sha256: str) -> Path:
    """Return ``path`` if its content has this hash; weights that changed are refused."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 22):
            digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise ExplorerError(
            f"{path.name} is not the file that this reader was written for (sha256 {digest.hexdigest()[:12]}..., "
            f"expected {sha256[:12]}...); reinstall it from data/requirements-zoo.txt."
        )
    return path
