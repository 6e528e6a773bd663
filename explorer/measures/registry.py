"""What a measure must declare, and the registry that finds every file that declares one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

import explorer.measures as families
from explorer.errors import ExplorerError
from explorer.inputs import Input
from explorer.linalg import Undefined

INVARIANCES = (
    "orthogonal",
    "isotropic_scaling",
    "translation",
    "feature_permutation",
    "invertible_linear",
    "row_scaling",
)
KINDS = ("single", "pairwise", "group", "trajectory")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure: its default, and the choices or the bounds that it must keep."""

    name: str
    default: Any
    help: str
    choices: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None

    def check(self, value: Any, measure: str) -> Any:
        """Return the value, or say what is allowed."""
        if self.choices is not None:
            if value not in self.choices:
                raise ExplorerError(
                    f"{measure}: {self.name} = {value!r} is not one of {', '.join(map(repr, self.choices))}."
                )
            return value
        if isinstance(self.default, bool):
            if not isinstance(value, (bool, np.bool_)):
                raise ExplorerError(f"{measure}: {self.name} = {value!r} must be True or False.")
            return bool(value)
        return self._check_number(value, measure)

    def _check_number(self, value: Any, measure: str) -> Any:
        whole = isinstance(self.default, int)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise ExplorerError(f"{measure}: {self.name} = {value!r} must be a number.")
        if whole and float(value) != int(value):
            raise ExplorerError(f"{measure}: {self.name} = {value!r} must be a whole number.")
        low = -np.inf if self.minimum is None else self.minimum
        high = np.inf if self.maximum is None else self.maximum
        if not low <= value <= high:
            raise ExplorerError(f"{measure}: {self.name} = {value} must lie between {low:g} and {high:g}.")
        return int(value) if whole else float(value)


@dataclass(frozen=True)
class Preset:
    """The parameters that reproduce the convention of a paper or a package, and what is different about it."""

    name: str
    params: Mapping[str, Any]
    note: str


@dataclass(frozen=True)
class Result:
    """What a measure gives.

    ``value`` is the number (NaN where undefined, with the reason in ``notes``); ``items`` one number an item;
    ``edges`` a frame of source, target, curvature; ``diagrams`` one (n_pairs, 2) array a homology dimension.
    ``details`` holds further named numbers or arrays.
    """

    value: float
    items: np.ndarray | None = None
    edges: pl.DataFrame | None = None
    diagrams: list[np.ndarray] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measure:
    """A measure: pure functions of tensors, and everything that lists, pages, docs and tests need to know.

    Single measures give ``compute(X, **params) -> Result``. Pairwise measures split the work into
    ``prepare(X, **params) -> state`` once a representation and ``compare(state_x, state_y, **params)`` a pair;
    ``compare_matrix`` does all pairs of two lists at once where algebra makes that cheap,
    ``permute(state, order)`` reorders a state's items without preparing it again, and ``null_sampler``
    gives a function from a permutation to the matrix under it where that is cheaper still (or None). ``explain`` adds named details to one
    pair; ``agree`` gives one number an item (n,), whose mean is the value where ``agree_is_mean``. Measures of family "alignment" also ``fit`` a map. Group measures give
    ``compute([X1, X2, ...], **params) -> Result``, and so do trajectories, of layers in order of depth.
    ``needs`` names inputs beside X (labels, a second view), which ``compute`` gets by name; ``neighbours(**params)``
    says which neighbours (k, metric) a single measure asks for, so that several can share one search.

    ``best_of`` gives the best value where it depends on parameters. ``self_is_best`` is False where a
    representation compared with itself need not reach it, ``uses_item_order`` is True where a split or a sample is
    drawn by position, and ``accepts_trials`` where items may hold repeated trials, (n_items, n_trials, n_features).
    """

    id: str
    name: str
    family: str
    kind: str
    authors: str
    year: int
    title: str
    formula: str
    range: tuple[float, float]
    higher_means: str
    cost: str
    invariances: frozenset[str]
    caveat: str
    parameters: tuple[Parameter, ...] = ()
    symmetric: bool = True
    is_metric: bool = False
    min_items: int = 2
    best: float = 1.0
    best_of: Callable[..., float] | None = None
    self_is_best: bool = True
    uses_item_order: bool = False
    accepts_trials: bool = False
    agree_is_mean: bool = True
    presets: tuple[Preset, ...] = ()
    compute: Callable[..., Result] | None = None
    accepts_graph: bool = False
    per_item: bool = False
    needs: tuple[Input, ...] = ()
    neighbours: Callable[..., tuple[int, str]] | None = None
    prepare: Callable[..., Any] | None = None
    compare: Callable[..., float] | None = None
    compare_matrix: Callable[..., np.ndarray] | None = None
    permute: Callable[..., Any] | None = None
    null_sampler: Callable[..., Callable[[Any], np.ndarray] | None] | None = None
    null_moments: Callable[..., tuple[float, float]] | None = None
    explain: Callable[..., Mapping[str, Any]] | None = None
    agree: Callable[..., Any] | None = None
    fit: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        unknown = self.invariances - set(INVARIANCES)
        if unknown or self.kind not in KINDS:
            raise ValueError(f"measure {self.id}: unknown invariance {unknown} or kind {self.kind}")

    @property
    def is_distance(self) -> bool:
        """Whether smaller means more alike (pairwise measures)."""
        return self.kind == "pairwise" and self.higher_means == "less alike"

    def best_value(self, params: Mapping[str, Any]) -> float:
        """The value of perfect agreement under these (resolved) parameters."""
        return self.best if self.best_of is None else float(self.best_of(**params))

    def preset(self, name: str) -> Preset:
        """A convention by its name, or say which ones there are."""
        for preset in self.presets:
            if preset.name == name:
                return preset
        there = ", ".join(repr(p.name) for p in self.presets) or "none"
        raise ExplorerError(f"{self.id} has no convention {name!r}; there are: {there}.")

    def take_inputs(self, params: dict[str, Any], x: Any) -> dict[str, Any]:
        """Remove the inputs that this measure needs from what was passed, and check them against X."""
        found = {}
        for need in self.needs:
            value = params.pop(need.name, None)
            if value is None and not need.optional:
                raise ExplorerError(f"{self.id} needs {need.name}: {need.help}.")
            found[need.name] = None if value is None else need.check(value, x)
        return found

    def resolve(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in the defaults and check every value."""
        known = {p.name: p for p in self.parameters}
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ExplorerError(f"{self.id} has no parameter '{unknown[0]}'; it has {', '.join(known) or 'none'}.")
        return {name: p.check(params.get(name, p.default), self.id) for name, p in known.items()}

    def matrix(self, states_x: Sequence[Any], states_y: Sequence[Any], **params: Any) -> np.ndarray:
        """Compare all states of one list with all of another: (len(states_x), len(states_y)) float64."""
        if self.compare_matrix is not None:
            return self.compare_matrix(states_x, states_y, **params)
        if self.symmetric and len(states_x) == len(states_y) and all(a is b for a, b in zip(states_x, states_y)):
            return self._symmetric_matrix(states_x, params)
        return np.array([[self._cell(sx, sy, params) for sy in states_y] for sx in states_x], dtype=np.float64)

    def _symmetric_matrix(self, states: Sequence[Any], params: Mapping[str, Any]) -> np.ndarray:
        found = np.empty((len(states), len(states)))
        for i, left in enumerate(states):
            for j in range(i, len(states)):
                found[i, j] = found[j, i] = self._cell(left, states[j], params)
        return found

    def _cell(self, left: Any, right: Any, params: Mapping[str, Any]) -> float:
        """One cell; a pair on which the measure has no value is NaN and leaves the others alone."""
        assert self.compare is not None
        try:
            return self.compare(left, right, **params)
        except Undefined:
            return float("nan")


@lru_cache(maxsize=1)
def registry() -> dict[str, Measure]:
    """Find every module below ``explorer.measures`` that defines ``MEASURE``; by id, in order of family and id."""
    found: list[Measure] = []
    for info in pkgutil.walk_packages(families.__path__, f"{families.__name__}."):
        if not info.ispkg:
            measure = getattr(importlib.import_module(info.name), "MEASURE", None)
            if measure is not None:
                found.append(measure)
    found.sort(key=lambda m: (m.kind != "pairwise", m.family, m.id))
    return {measure.id: measure for measure in found}


def get_measure(identity: str, kind: str | None = None) -> Measure:
    """Return a measure by id, or say which ones there are."""
    known = registry()
    if identity not in known:
        meant = get_close_matches(str(identity).lower(), list(known), n=3)
        offer = (
            f"did you mean {' or '.join(meant)}?"
            if meant
            else f"`repgeo measures` and explorer.measures() list all {len(known)}."
        )
        raise ExplorerError(f"There is no measure '{identity}'; {offer}")
    measure = known[identity]
    if kind is not None and measure.kind != kind:
        raise ExplorerError(f"{identity} is a {measure.kind} measure; a {kind} measure is needed here.")
    return measure


def catalogue() -> pl.DataFrame:
    """One row per measure with all its metadata."""
    rows = [
        {
            "id": m.id,
            "name": m.name,
            "family": m.family,
            "kind": m.kind,
            "authors": m.authors,
            "year": m.year,
            "title": m.title,
            "citation": f"{m.authors} ({m.year}). {m.title}.",
            "formula": m.formula,
            "range": f"[{m.range[0]:g}, {m.range[1]:g}]",
            "higher_means": m.higher_means,
            "is_metric": m.is_metric,
            "symmetric": m.symmetric,
            "cost": m.cost,
            "invariances": sorted(m.invariances),
            "parameters": [f"{p.name}={p.default}" for p in m.parameters],
            "needs": [need.name for need in m.needs],
            "conventions": [p.name for p in m.presets],
            "caveat": m.caveat,
        }
        for m in registry().values()
    ]
    return pl.DataFrame(rows)
