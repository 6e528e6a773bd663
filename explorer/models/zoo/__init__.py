"""Readers for pretrained weights that come inside ordinary Python packages (data/requirements-zoo.txt).

The packages are found as files and never imported, so that reading them runs none of their code.
"""
