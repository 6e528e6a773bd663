"""Relative map: describe an item by its cosines to anchors, and invert that description in the other space."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from explorer.mapping import map_measure
from explorer.measures.registry import Parameter


@dataclass(frozen=True)
class RelativeMap:
    """Cosines to anchors in X (a, d_x), then the inverse (a, d_y) of cosines to the same anchors in Y."""

    anchors: torch.Tensor
    inverse: torch.Tensor
    mean_x: torch.Tensor
    mean_y: torch.Tensor
    length: float

    def relative(self, x: torch.Tensor) -> torch.Tensor:
        """The relative representation of items: (n, a) cosines."""
        return _unit(x - self.mean_x) @ self.anchors.T

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        """Map items (n, d_x) into the other space (n, d_y), at the mean length of that space."""
        return _unit(self.relative(x) @ self.inverse) * self.length + self.mean_y


def fit(x: torch.Tensor, y: torch.Tensor, anchors: int = 0) -> RelativeMap:
    """Anchors are fitted items (the first ones of the random split); directions are taken from the mean."""
    mean_x, mean_y = x.mean(dim=0), y.mean(dim=0)
    chosen = slice(None if anchors == 0 else anchors)
    there = _unit(y[chosen] - mean_y)
    inverse = torch.linalg.pinv(there, rtol=1e-3).T
    return RelativeMap(_unit(x[chosen] - mean_x), inverse, mean_x, mean_y, float((y - mean_y).norm(dim=1).mean()))


def _unit(values: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(values, dim=1, eps=1e-300)


MEASURE = map_measure(
    fit,
    id="relative_map",
    name="Inverse relative map, held out",
    authors="Maiorca, Moschella, Fumero, Locatello & Rodolà; relative representations by Moschella et al. (2023)",
    year=2024,
    title="Latent Space Translation via Inverse Relative Projection",
    formula=r"\hat y = \big(\cos(x, a^X_j)\big)_j\ \big(A^{Y\top}\big)^{+}",
    cost="n d a + a^2 d a pair for a anchors",
    invariances=frozenset({"orthogonal", "isotropic_scaling", "translation", "feature_permutation"}),
    caveat="Only directions are carried over, at the mean length of the other space; needs about as many anchors as d.",
    parameters=(
        Parameter("anchors", 0, "how many fitted items serve as anchors (0: all)", minimum=0, maximum=100_000),
    ),
)
