"""Writing so that a crash leaves either the old file or the new one, and names that stay inside a folder."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_atomic(path: Path, write: Callable[[Path], None]) -> None:
    """Call ``write`` with a temporary path in the same folder, then rename it over ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    os.close(handle)
    try:
        write(Path(temporary))
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def slug(text: str) -> str:
    """Make a file name of any text; different texts keep different names."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "x"
    return plain if plain == text and len(text) < 80 else f"{plain[:60]}-{short_hash(text)}"


def short_hash(*parts: str | bytes) -> str:
    """Return 12 hex digits of the SHA-256 of the parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:12]
