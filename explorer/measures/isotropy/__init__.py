"""Isotropy of one representation: how its directions spread over the sphere."""
