"""Importers for files that people already have; each says what it found before anything is written."""

from explorer.formats.arrays import Imported, read_activations

__all__ = ["Imported", "read_activations"]
