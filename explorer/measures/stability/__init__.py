"""Stability of one representation: under splits of its features and under other views of its items."""
