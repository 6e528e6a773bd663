"""Other forms of the features: without outlier dimensions, standardised, whitened. They change what every measure says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from explorer.arrays import as_matrix
from explorer.errors import ExplorerError
from explorer.linalg import centred_and_scaled
from explorer.measures.isotropy.outlier_dimensions import outliers
from explorer.representation import Representation

PREPROCESSINGS = {
    "none": "as they are",
    "no_outliers": "without outlier dimensions",
    "standardised": "standardised",
    "pca_whitened": "whitened (PCA)",
    "zca_whitened": "whitened (ZCA)",
}
OUTLIER_FACTOR = 5.0


def preprocess(values: np.ndarray, how: str) -> np.ndarray:
    """Features in another form: (n_items, n_features or fewer) float32.

    Parameters
    ----------
    how : str
        ``no_outliers`` drops features with more than 5 times the mean variance; ``standardised`` gives every feature
        variance one; ``pca_whitened`` and ``zca_whitened`` give every direction variance one, in the principal axes or
        turned back to the features (Kessy, Lewin & Strimmer 2018, "Optimal Whitening and Decorrelation").
    """
    if how not in PREPROCESSINGS:
        raise ExplorerError(f"There is no preprocessing '{how}'; there are {', '.join(PREPROCESSINGS)}.")
    if how == "none":
        return values
    x = as_matrix(values, "X", 2)
    if how == "no_outliers":
        kept = np.ones(x.shape[1], dtype=bool)
        kept[outliers(x, OUTLIER_FACTOR)[0].cpu().numpy()] = False
        return np.asarray(values)[:, kept]
    return _scaled(centred_and_scaled(x).double(), how).float().cpu().numpy()


def _scaled(x: torch.Tensor, how: str) -> torch.Tensor:
    n = len(x)
    if how == "standardised":
        deviation = x.square().mean(dim=0).sqrt()
        varies = deviation > 1e-6 * deviation.max()
        return torch.where(varies, x / torch.where(varies, deviation, 1.0), 0.0)
    left, singular, right = torch.linalg.svd(x, full_matrices=False)
    # Directions without variance cannot be scaled to one; rounding would be blown up.
    kept = singular > singular[0] * max(x.shape) * torch.finfo(torch.float32).eps
    white = left[:, kept] * n**0.5
    return white if how == "pca_whitened" else white @ right[kept]


def preprocessed(r: Representation, how: str) -> Representation:
    """A representation in another form; its origin says so, so that it never passes for the stored one."""
    if how == "none":
        return r
    return Representation(preprocess(r.matrix, how), replace(r.origin, pooling=f"{r.origin.pooling}, {how}"))
