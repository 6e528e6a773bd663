"""Maps between representations: how they are fitted on one part of the items, judged on the other, and declared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.linalg import centred_and_scaled
from explorer.measures.registry import Measure, Parameter
from explorer.neighbors import pairwise_distances

SHARE = Parameter("share", 0.5, "share of the items that the map is fitted on", minimum=0.05, maximum=0.95)
SEED = Parameter("seed", 0, "seed of the split", minimum=0, maximum=2**31 - 1)
REPORT = Parameter(
    "report",
    "mrr",
    "the number that stands for the map on held-out items: mean reciprocal rank, share found first or among five, R2",
    ("mrr", "top1", "top5", "r2"),
)
LEAST = 4


@dataclass(frozen=True)
class LinearMap:
    """x -> (x - mean_x) @ weight + mean_y, with weight of shape (d_x, d_y)."""

    weight: torch.Tensor
    mean_x: torch.Tensor
    mean_y: torch.Tensor

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        """Map items (n, d_x) into the other space (n, d_y)."""
        return (x - self.mean_x) @ self.weight + self.mean_y


@dataclass(frozen=True)
class MapState:
    """The features (n, d) in float64; the split is drawn by position."""

    features: torch.Tensor


Fit = Callable[..., Any]


def split(n: int, share: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions of the items to fit on and of the items to judge on; at least two on each side."""
    order = torch.from_numpy(np.random.default_rng(seed).permutation(n))
    cut = min(max(round(share * n), 2), n - 2)
    return order[:cut], order[cut:]


def retrieval(queries: torch.Tensor, gallery: torch.Tensor) -> dict[str, float]:
    """How often the partner of a query is found: row i of both is the same item, nearest by cosine.

    ``top1`` and ``top5`` are shares of queries, ``mrr`` the mean of 1 / rank. Equal similarities count against
    the query, so that a collapsed map scores nothing.
    """
    sides = [torch.nn.functional.normalize(v, dim=1, eps=1e-300) for v in (queries, gallery)]
    similarity = sides[0] @ sides[1].T
    own = similarity.diagonal()[:, None]
    # Rounding must not turn a partner that is exactly as near into one that is further.
    at_least = similarity >= own - 1e-12
    rank = at_least.sum(dim=1).double()
    return {
        "top1": float((rank <= 1).double().mean()),
        "top5": float((rank <= 5).double().mean()),
        "mrr": float((1 / rank).mean()),
    }


def judge(mapped: torch.Tensor, answers: torch.Tensor, origin: torch.Tensor, before: torch.Tensor) -> dict[str, float]:
    """Everything that is said of a map on held-out items.

    Parameters
    ----------
    mapped, answers : torch.Tensor, shape (m, d_y)
        Where the map puts the held-out items, and where they are.
    origin : torch.Tensor, shape (d_y,)
        The mean of the fitted answers, from which directions and variance are taken.
    before : torch.Tensor, shape (m, d_x)
        The held-out items before mapping, for the change of their mutual distances.
    """
    there, back = retrieval(mapped - origin, answers - origin), retrieval(answers - origin, mapped - origin)
    found = {f"{name}_{way}": scores[name] for way, scores in (("there", there), ("back", back)) for name in scores}
    found |= {name: (there[name] + back[name]) / 2 for name in there}
    found["r2"] = 1 - float((answers - mapped).square().sum() / (answers - origin).square().sum())
    found["distance_change"] = distance_change(before, mapped)
    found["chance_mrr"] = float((1 / torch.arange(1, len(mapped) + 1, dtype=torch.float64)).mean())
    return found


def distance_change(before: torch.Tensor, after: torch.Tensor) -> float:
    """Mean relative change of the distances between items, after the best common scale: 0 for a similarity."""
    old, new = (pairwise_distances(v) for v in (before, after))
    scale = float((old * new).sum() / new.square().sum()) if bool(new.any()) else 0.0
    return float((scale * new - old).abs().sum() / old.sum())


def _prepare(x: torch.Tensor, **_: object) -> MapState:
    centred_and_scaled(x)
    return MapState(x.double())


def _scores(fit: Fit, sx: MapState, sy: MapState, params: Mapping[str, Any]) -> dict[str, float]:
    train, test = (part.to(sx.features.device) for part in split(len(sx.features), params["share"], params["seed"]))
    own = {name: value for name, value in params.items() if name not in ("share", "seed", "report")}
    fitted = fit(sx.features[train], sy.features[train], **own)
    before, answers = sx.features[test], sy.features[test]
    return judge(fitted.apply(before), answers, sy.features[train].mean(dim=0), before)


def _compare(sx: MapState, sy: MapState, fit: Fit, **params: Any) -> float:
    return _scores(fit, sx, sy, params)[params["report"]]


def _explain(sx: MapState, sy: MapState, fit: Fit, **params: Any) -> dict[str, float]:
    return _scores(fit, sx, sy, params)


def _permute(state: MapState, order: torch.Tensor) -> MapState:
    return MapState(state.features[order])


def map_measure(fit: Fit, parameters: tuple[Parameter, ...] = (), **metadata: Any) -> Measure:
    """Declare a map as a pairwise measure: its value is how well it does on items that it has not seen.

    ``fit(x, y, **own_parameters)`` takes training items in float64 and gives something with ``apply``.
    """
    return Measure(
        family="alignment",
        kind="pairwise",
        range=(-float("inf"), 1.0),
        higher_means="more alike",
        symmetric=False,
        uses_item_order=True,
        min_items=LEAST,
        parameters=(*parameters, REPORT, SHARE, SEED),
        prepare=_prepare,
        compare=functools.partial(_compare, fit=fit),
        explain=functools.partial(_explain, fit=fit),
        permute=_permute,
        fit=fit,
        **metadata,
    )
