"""Where the bundled data lie and where the user's own store goes."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def bundle_root() -> Path:
    """The folder that holds ``app.py`` and ``data/``: the checkout, or the copy inside an installed wheel."""
    checkout = PACKAGE.parent
    return checkout if (checkout / "data" / "text").is_dir() else PACKAGE / "_bundle"


def data_folder() -> Path:
    """The bundled demo data (read only)."""
    return bundle_root() / "data"


def reference_folder() -> Path:
    """Values that several public packages agree on (read only)."""
    checkout = PACKAGE.parent / "tests" / "reference"
    return checkout if checkout.is_dir() else PACKAGE / "_bundle" / "reference"


def cache_folder() -> Path:
    """The user's cache: ``REPGEO_CACHE``, else ``$XDG_CACHE_HOME/repgeo``, else ``~/.cache/repgeo``."""
    explicit = os.environ.get("REPGEO_CACHE")
    if explicit:
        return Path(explicit)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "repgeo"


def user_store() -> Path:
    """The store that the app writes to: ``REPGEO_STORE``, else a folder in the cache."""
    explicit = os.environ.get("REPGEO_STORE")
    return Path(explicit) if explicit else cache_folder() / "store"
