"""Layers, or checkpoints, as a sequence."""
