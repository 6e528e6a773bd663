"""Intrinsic dimension of one representation."""
