"""Spectrum of one representation: how variance spreads over directions."""
