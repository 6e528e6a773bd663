"""A bounded store of byte payloads that the browser fetches by content hash."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

LIMIT = 512 << 20

_lock = threading.Lock()
_items: OrderedDict[str, bytes] = OrderedDict()


def put(data: bytes) -> str:
    """Keep a payload and return its key; the least recently used ones are dropped above the limit."""
    key = hashlib.blake2b(data, digest_size=16).hexdigest()
    with _lock:
        _items[key] = data
        _items.move_to_end(key)
        while sum(map(len, _items.values())) > LIMIT and len(_items) > 1:
            _items.popitem(last=False)
    return key


def get(key: str) -> bytes | None:
    """Return a payload, or None when it was dropped."""
    with _lock:
        return _items.get(key)
