"""Shared linear algebra: centring without cancellation, spectra from the smaller side."""

from __future__ import annotations

import torch

from explorer.errors import ExplorerError


class Undefined(ExplorerError):
    """The input is well formed but the measure has no value there; reported as NaN with this reason."""


def centred(x: torch.Tensor) -> torch.Tensor:
    """Subtract the mean of each feature; the mean is taken in float64, so that a large offset cancels."""
    mean = x.mean(dim=0, keepdim=True, dtype=torch.float64)
    return (x.double() - mean).to(x.dtype)


def scaled(x: torch.Tensor) -> torch.Tensor:
    """Divide by the largest absolute value, so that squares neither overflow nor vanish in float32."""
    largest = x.abs().max()
    return x / largest if float(largest) > 0 else x


def centred_and_scaled(x: torch.Tensor) -> torch.Tensor:
    """Centre, then scale; refuse a representation in which nothing varies."""
    result = centred(x)
    spread = float(result.abs().max())
    # What remains of a constant after centring is rounding noise of the size of the data.
    if spread <= 8 * torch.finfo(x.dtype).eps * float(x.abs().max()):
        raise Undefined("all items are equal: nothing varies, so the measure has no value")
    return result / spread


def covariance_spectrum(x: torch.Tensor) -> torch.Tensor:
    """Eigenvalues of the covariance of the features, descending, float64, at most min(n, d) of them.

    Computed from the smaller of the Gram and the covariance matrix.
    """
    values = centred_and_scaled(x).double()
    n, d = values.shape
    product = values.T @ values if d <= n else values @ values.T
    eigenvalues = torch.linalg.eigvalsh(product / n).flip(0)
    return eigenvalues.clamp(min=0)


def entropy(weights: torch.Tensor) -> torch.Tensor:
    """Shannon entropy (nats) of non-negative weights normalised to sum to one; 0 log 0 = 0."""
    shares = weights / weights.sum()
    return -(torch.special.xlogy(shares, shares)).sum()


def unit_rows(x: torch.Tensor) -> torch.Tensor:
    """Scale each item to length one; an item of length zero has no direction."""
    values = scaled(x)
    norms = values.double().norm(dim=1, keepdim=True)
    zero = (norms[:, 0] == 0).nonzero()
    if len(zero):
        raise Undefined(f"item {int(zero[0])} is all zeros, so its direction is undefined ({len(zero)} such item(s))")
    return (values.double() / norms).to(x.dtype)
