"""Similarity of two representations of the same items."""
