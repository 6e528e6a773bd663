"""One file per measure; adding a file that defines ``MEASURE`` is all it takes (see registry.py)."""
