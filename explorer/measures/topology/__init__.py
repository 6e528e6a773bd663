"""Topology of one representation: persistent homology."""
