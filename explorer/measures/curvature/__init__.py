"""Curvature of one representation, through its neighbour graph."""
