"""The public calls: compute one measure, a similarity matrix, a calibrated similarity, the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import torch

from explorer.arrays import as_matrix, as_trials, check_same_items
from explorer.calibration import Calibration, calibrate
from explorer.errors import ExplorerError
from explorer.graph import as_graph
from explorer.linalg import Undefined
from explorer.measures.registry import Measure, Result, catalogue, get_measure, registry
from explorer.representation import Representation, require_same_items

__all__ = ["Calibration", "calibrate", "compute", "fit_map", "measures", "prepare_states", "similarity_matrix"]


def measures() -> pl.DataFrame:
    """The catalogue: one row per measure with all its metadata."""
    return catalogue()


def compute(
    measure: str, X: Any = None, Y: Any = None, *, graph: Any = None, lengths: Any = None, **params: Any
) -> Result:
    """Compute one measure.

    Parameters
    ----------
    measure : str
        An id from :func:`measures`.
    X, Y : array_like, torch.Tensor or Representation, shape (n_items, n_features)
        The same items in the same order; ``Y`` for pairwise measures only.
    graph : array_like, shape (m, 2), optional
        Edges as pairs of integer node ids, instead of ``X``, for measures of graphs; ``lengths`` (m,) are optional.
    **params
        The measure's parameters, and the inputs that it needs beside X (labels, a second view); see the catalogue.

    Returns
    -------
    Result
        With ``value`` (NaN where the measure has no value, and the reason in ``notes``), and ``items``, ``edges``,
        ``diagrams`` or ``details`` where the measure gives them. For a pair, ``items`` says how well the two
        representations agree on each item.

    Raises
    ------
    ExplorerError
        For an unknown measure or parameter and for bad input, in a sentence that names the place.
    """
    chosen = get_measure(measure)
    needed = {need.name: params.pop(need.name) for need in chosen.needs if need.name in params}
    resolved = chosen.resolve(params)
    if chosen.kind == "pairwise":
        return _compute_pair(chosen, X, Y, resolved)
    if chosen.kind in ("group", "trajectory"):
        return _compute_group(chosen, X, resolved)
    if Y is not None:
        raise ExplorerError(f"{measure} describes one representation; Y must not be given.")
    source = _graph_or_matrix(chosen, X, graph, lengths)
    assert chosen.compute is not None
    try:
        return chosen.compute(source, **chosen.take_inputs(needed, source), **resolved)
    except Undefined as reason:
        return Result(float("nan"), notes=(str(reason),))


def _graph_or_matrix(measure: Measure, X: Any, graph: Any, lengths: Any) -> Any:
    if graph is None:
        if lengths is not None:
            raise ExplorerError("lengths were given without a graph.")
        if X is None:
            raise ExplorerError(f"{measure.id} needs a representation X.")
        return matrix_of(X, "X", measure.min_items)
    if not measure.accepts_graph:
        raise ExplorerError(f"{measure.id} does not work on a graph; give a representation X.")
    if X is not None:
        raise ExplorerError(f"{measure.id}: give either X or graph, not both.")
    return as_graph(graph, lengths)


def _compute_pair(measure: Measure, X: Any, Y: Any, params: dict[str, Any]) -> Result:
    if X is None or Y is None:
        raise ExplorerError(f"{measure.id} compares two representations; both X and Y are needed.")
    if isinstance(X, Representation) and isinstance(Y, Representation):
        require_same_items(X, Y)
    x, y = _values_of(measure, X, "X"), _values_of(measure, Y, "Y")
    check_same_items(x, y)
    assert measure.prepare is not None and measure.compare is not None
    try:
        state_x, state_y = (measure.prepare(v, **params) for v in (x, y))
        value = measure.compare(state_x, state_y, **params)
        details = measure.explain(state_x, state_y, **params) if measure.explain is not None else {}
        agreed = measure.agree(state_x, state_y, **params) if measure.agree is not None else None
    except Undefined as reason:
        return Result(float("nan"), notes=(str(reason),))
    notes = [note for s in (state_x, state_y) for note in getattr(s, "notes", ())]
    items = None if agreed is None else agreed.cpu().numpy()
    return Result(float(value), items=items, details=details, notes=tuple(dict.fromkeys(notes)))


def _compute_group(measure: Measure, layers: Any, params: dict[str, Any]) -> Result:
    if layers is None or (hasattr(layers, "ndim") and layers.ndim != 3) or isinstance(layers, Representation):
        raise ExplorerError(f"{measure.id} compares a list of representations of the same items; give [X1, X2, ...].")
    if all(isinstance(layer, Representation) for layer in layers):
        for layer in layers[1:]:
            require_same_items(layers[0], layer)
    matrices = as_layers(layers, "X", measure.min_items)
    for i, layer in enumerate(matrices):
        check_same_items(matrices[0], layer, "X[0]", f"X[{i}]")
    assert measure.compute is not None
    try:
        return measure.compute(matrices, **params)
    except Undefined as reason:
        return Result(float("nan"), notes=(str(reason),))


def _values_of(measure: Measure, values: Any, name: str) -> torch.Tensor:
    if measure.accepts_trials and getattr(values, "ndim", 2) == 3:
        return as_trials(values, name, measure.min_items)
    return matrix_of(values, name, measure.min_items)


def matrix_of(values: Any, name: str, min_items: int) -> torch.Tensor:
    """Check a matrix or the matrix of a Representation (named by its model and layer)."""
    if isinstance(values, Representation):
        return as_matrix(values.matrix, values.name, min_items)
    return as_matrix(values, name, min_items)


def as_layers(layers: Any, name: str, min_items: int) -> list[torch.Tensor]:
    """Check a list of representations, or one representation as a list of one."""
    if isinstance(layers, (Representation, torch.Tensor, np.ndarray)) and getattr(layers, "ndim", 2) != 3:
        layers = [layers]
    if len(layers) == 0:
        raise ExplorerError(f"{name} holds no layers; at least one is needed.")
    return [matrix_of(layer, f"{name}[{i}]", min_items) for i, layer in enumerate(layers)]


def prepare_states(
    measure: Measure, X_layers: Any, Y_layers: Any, params: dict[str, Any]
) -> tuple[list[Any], list[Any], int]:
    """Prepare every layer once (a list compared with itself is prepared once, too); also gives the number of items.

    A layer on which the measure is undefined raises, naming the layer.
    """
    xs = as_layers(X_layers, "X", measure.min_items)
    ys = xs if Y_layers is X_layers else as_layers(Y_layers, "Y", measure.min_items)
    for name, group in (("X", xs), ("Y", ys)):
        for i, layer in enumerate(group):
            check_same_items(xs[0], layer, "X[0]", f"{name}[{i}]")

    def prepared(group: Sequence[torch.Tensor], name: str) -> list[Any]:
        assert measure.prepare is not None
        states = []
        for i, layer in enumerate(group):
            try:
                states.append(measure.prepare(layer, **params))
            except Undefined as reason:
                raise Undefined(f"{name}[{i}]: {reason}") from None
        return states

    states_x = prepared(xs, "X")
    return states_x, states_x if ys is xs else prepared(ys, "Y"), len(xs[0])


def fit_map(measure: str, X: Any, Y: Any, **params: Any) -> Any:
    """Fit a map (a measure of family "alignment") on all items, to carry further items from X's space into Y's.

    Returns
    -------
    An object with ``apply(x)``: (n, d_x) float64 tensor -> (n, d_y) float64 tensor. To know how good the map is on
    items that it has not seen, use :func:`compute` with the same id.
    """
    chosen = get_measure(measure, "pairwise")
    if chosen.fit is None:
        maps = ", ".join(m.id for m in registry().values() if m.fit is not None)
        raise ExplorerError(f"{measure} fits no map; these do: {maps}.")
    resolved = chosen.resolve(params)
    x, y = matrix_of(X, "X", chosen.min_items), matrix_of(Y, "Y", chosen.min_items)
    check_same_items(x, y)
    own = {name: value for name, value in resolved.items() if name not in ("share", "seed", "report")}
    return chosen.fit(x.double(), y.double(), **own)


def similarity_matrix(measure: str, X_layers: Any, Y_layers: Any = None, **params: Any) -> np.ndarray:
    """Compare all layers of one list with all layers of another (or of the same).

    Returns
    -------
    numpy.ndarray, shape (len(X_layers), len(Y_layers)), float64.
    """
    chosen = get_measure(measure, "pairwise")
    resolved = chosen.resolve(params)
    states_x, states_y, _ = prepare_states(chosen, X_layers, X_layers if Y_layers is None else Y_layers, resolved)
    return chosen.matrix(states_x, states_y, **resolved)
