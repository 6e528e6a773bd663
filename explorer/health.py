"""What is wrong with these numbers before anything is computed from them, and which measures it spoils."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.api import matrix_of
from explorer.linalg import Undefined, centred, unit_rows
from explorer.neighbors import count_duplicates, nearest

GOOD, LOOK, BAD = "good", "look", "bad"
MAX_COSINE_ITEMS = 2_000


@dataclass(frozen=True)
class Finding:
    """One property of a representation: its number, how grave it is (good, look, bad), and what it does."""

    name: str
    value: float
    shown: str
    level: str
    meaning: str


def examine(X: Any, k: int = 10) -> list[Finding]:
    """Look a representation over.

    Parameters
    ----------
    X : array_like or Representation, shape (n_items, n_features)
    k : int
        Neighbours for duplicates and hubs.

    Returns
    -------
    list of Finding, the same ones in the same order for every representation.
    """
    x = matrix_of(X, "X", 3)
    n = len(x)
    variance = centred(x).double().square().mean(dim=0)
    found = [_sizes(x), _constant(variance, x), _dominant(variance)]
    found += [_cosine(x), *_neighbour_findings(x, min(k, n - 2)), _lengths(x)]
    return found


def _sizes(x: torch.Tensor) -> Finding:
    n, d = x.shape
    ratio = n / d
    level = GOOD if ratio >= 5 else LOOK if ratio > 1 else BAD
    meaning = {
        GOOD: "enough items for every measure",
        LOOK: "below 5: CCA, SVCCA, regression and Procrustes are inflated; prefer debiased CKA, RSA or neighbours",
        BAD: "no more items than features: CCA, in-sample R2 and biased CKA are near 1 for unrelated data; use debiased "
        "CKA, neighbours, or held-out maps, and always compare with chance",
    }[level]
    return Finding("items per feature", ratio, f"{n:,} / {d:,} = {ratio:.2f}", level, meaning)


def _constant(variance: torch.Tensor, x: torch.Tensor) -> Finding:
    count = int((variance <= 1e-14 * x.double().square().mean().clamp(min=1e-300)).sum())
    meaning = (
        "every feature varies"
        if count == 0
        else "they add nothing to Euclidean measures and have no correlation: feature matches leave them out, and "
        "correlation distance is pulled towards its mean"
    )
    return Finding("constant features", count, f"{count}", GOOD if count == 0 else LOOK, meaning)


def _dominant(variance: torch.Tensor) -> Finding:
    total = float(variance.sum())
    share = float(variance.max()) / total if total > 0 else float("nan")
    which = int(variance.argmax())
    # With few features a large share is no sign of anything.
    level = GOOD if share < 0.1 or share < 5 / len(variance) else LOOK if share < 0.5 else BAD
    meaning = (
        "no feature rules the others"
        if level == GOOD
        else f"feature {which} holds that share of the variance: CKA, Procrustes, Euclidean RSA and cosine look mostly at "
        "it; compare with it removed or standardised"
    )
    return Finding("variance in one feature", share, f"{share:.1%}", level, meaning)


def _cosine(x: torch.Tensor) -> Finding:
    sample = x
    if len(x) > MAX_COSINE_ITEMS:
        chosen = np.random.default_rng(0).choice(len(x), MAX_COSINE_ITEMS, replace=False)
        sample = x[torch.from_numpy(np.sort(chosen)).to(x.device)]
    try:
        unit = unit_rows(sample).double()
    except Undefined as reason:
        return Finding("mean cosine", float("nan"), "undefined", BAD, f"{reason}: cosine measures have no value")
    n = len(unit)
    mean = (float(unit.sum(dim=0).square().sum()) - n) / (n * (n - 1))
    level = GOOD if mean < 0.5 else LOOK if mean < 0.9 else BAD
    meaning = (
        "items point in many directions"
        if level == GOOD
        else "items share one direction (a narrow cone): cosine neighbours, cosine RDMs, second-order cosine and relative "
        "representations compare mostly that direction; centre first"
    )
    return Finding("mean cosine", mean, f"{mean:.3f}", level, meaning)


def _neighbour_findings(x: torch.Tensor, k: int) -> list[Finding]:
    found = nearest(x, k, "euclidean")
    n = len(x)
    copies = n - len(torch.unique(x, dim=0))
    close = max(count_duplicates(found), 0)
    duplicates = max(copies, close) if copies else close
    meaning = (
        "all items differ"
        if duplicates == 0
        else "equal items are each other's neighbours in any representation that keeps them equal: neighbour measures rise, "
        "two-neighbour dimension leaves them out, rank measures meet ties"
    )
    level = GOOD if duplicates == 0 else LOOK if duplicates < 0.1 * n else BAD
    first = Finding("duplicate items", duplicates, f"{duplicates:,} of {n:,}", level, meaning)
    popularity = found.index.flatten().bincount(minlength=n).double()
    deviation = float(popularity.std(correction=0))
    skew = float(((popularity - popularity.mean()) ** 3).mean()) / deviation**3 if deviation > 0 else 0.0
    orphans = int((popularity == 0).sum())
    level = GOOD if skew < 1.5 else LOOK if skew < 4 else BAD
    meaning = (
        "no item is everybody's neighbour"
        if level == GOOD
        else f"a few items (hubs) are neighbours of very many, {orphans} of none: neighbour measures, cycle kNN and graph "
        "curvature are ruled by the hubs"
    )
    return [first, Finding("hubness (skewness)", skew, f"{skew:.2f}", level, meaning)]


def _lengths(x: torch.Tensor) -> Finding:
    distance = centred(x).double().norm(dim=1)
    ratio = float(distance.max() / distance.median()) if float(distance.median()) > 0 else float("inf")
    which = int(distance.argmax())
    level = GOOD if ratio < 4 else LOOK if ratio < 20 else BAD
    meaning = (
        "no item lies far outside"
        if level == GOOD
        else f"item {which} lies that many times further from the mean than the median item: it weighs most in CKA, "
        "Procrustes and regression"
    )
    return Finding("furthest item", ratio, f"{ratio:.1f} x", level, meaning)
