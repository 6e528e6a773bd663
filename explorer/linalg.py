"""Shared linear algebra: centring without cancellation, spectra from the smaller side."""

from __future__ import annotations

import torch

from explorer.errors import ExplorerError
from explorer.sharing import once


class Undefined(ExplorerError):
    """The input is well formed but the measure has no value there; reported as NaN with this reason."""


def centred(x: torch.Tensor) -> torch.Tensor:
    """Subtract the mean of each feature, twice: the second mean takes what rounding left of a large offset."""
    mean = x.mean(dim=0, keepdim=True)
    if not bool(torch.isfinite(mean).all()):  # the sum overflowed, not the mean
        mean = x.mean(dim=0, keepdim=True, dtype=torch.float64).to(x.dtype)
    rest = x - mean
    return rest.sub_(rest.mean(dim=0, keepdim=True))


def largest(x: torch.Tensor) -> float:
    """The largest absolute value."""
    least, most = torch.aminmax(x)
    return max(-float(least), float(most))


def scaled(x: torch.Tensor) -> torch.Tensor:
    """Divide by the largest absolute value, so that squares neither overflow nor vanish in float32."""
    size = largest(x)
    return x / size if size > 0 else x


def centred_and_scaled(x: torch.Tensor) -> torch.Tensor:
    """Centre, then scale; refuse a representation in which nothing varies."""
    result = centred(x)
    spread = largest(result)
    # What remains of a constant after centring is rounding noise of the size of the data.
    if spread <= 8 * torch.finfo(x.dtype).eps * largest(x):
        raise Undefined("all items are equal: nothing varies, so the measure has no value")
    return result.div_(spread)


def covariance_spectrum(x: torch.Tensor) -> torch.Tensor:
    """Eigenvalues of the covariance of the features, descending, float64, at most min(n, d) of them.

    Computed from the smaller of the Gram and the covariance matrix, up to one factor.
    """
    return once(x, ("covariance_spectrum",), lambda: _spectrum(centred_and_scaled(x)))


def uncentred_spectrum(x: torch.Tensor) -> torch.Tensor:
    """Eigenvalues of X^T X / n without centring, descending, float64, up to one factor."""
    if largest(x) == 0:
        raise Undefined("all values are zero")
    return once(x, ("uncentred_spectrum",), lambda: _spectrum(scaled(x)))


def _spectrum(values: torch.Tensor) -> torch.Tensor:
    n, d = values.shape
    values = values.double()
    product = values.T @ values if d <= n else values @ values.T
    return torch.linalg.eigvalsh(product / n).flip(0).clamp(min=0)


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
