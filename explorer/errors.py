"""The one error that people are meant to read: a sentence that says what was given and what is needed."""

from __future__ import annotations


class ExplorerError(ValueError):
    """Bad input or a request that cannot be met; the message is one sentence for the person who asked."""
