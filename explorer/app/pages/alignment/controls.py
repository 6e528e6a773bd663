"""What the sections share: choosing a measure with its parameters or a convention, warnings, and ways onward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import streamlit as st

from explorer.app import state
from explorer.measures.registry import Measure, Parameter, registry

OWN = "own parameters"


def choose_measure(
    key: str = "measure", default: str = "cka", keep: Callable[[Measure], bool] = lambda m: True
) -> tuple[Measure, dict[str, Any]]:
    """Choose a pairwise measure and its parameters in the side bar."""
    known = {m.id: m for m in registry().values() if m.kind == "pairwise" and not m.accepts_trials and keep(m)}
    ids = list(known)
    with st.sidebar:
        if st.session_state.get(key) not in ids:
            st.session_state.pop(key, None)
        chosen = st.selectbox(
            "Measure",
            ids,
            index=ids.index(default),
            key=key,
            help="Type to search. Maps (names ending in _map) are judged on items that they were not fitted on.",
            **state.BOUND,
        )
        measure = known[chosen]
        params = _convention(measure)
        if params is None:
            params = choose_parameters(measure)
        st.caption(f"**{measure.name}.** {measure.caveat}")
    return measure, params


def _convention(measure: Measure) -> dict[str, Any] | None:
    """The parameters of a paper or package, if people choose one; None for their own."""
    if not measure.presets:
        return None
    names = [OWN, *(p.name for p in measure.presets)]
    name = st.selectbox(
        "As in paper or package",
        names,
        key=f"{measure.id}_convention",
        help="Reproduces the number of that convention; the difference is stated below.",
        **state.BOUND,
    )
    if name == OWN:
        return None
    preset = measure.preset(name)
    said = ", ".join(f"{k} = {v}" for k, v in preset.params.items())
    st.caption(f"{said}. {preset.note[0].upper()}{preset.note[1:]}.")
    return measure.resolve(preset.params)


def choose_parameters(measure: Measure) -> dict[str, Any]:
    """Widgets for a measure's parameters, with its own defaults and bounds."""
    params = {}
    for p in measure.parameters:
        key = f"{measure.id}_{p.name}"
        if p.choices:
            params[p.name] = st.selectbox(
                p.name, p.choices, index=p.choices.index(p.default), key=key, help=p.help, **state.BOUND
            )
        elif isinstance(p.default, bool):
            params[p.name] = st.toggle(p.name, value=p.default, key=key, help=p.help, **state.BOUND)
        else:
            params[p.name] = _number(p, key)
    return params


def _number(p: Parameter, key: str) -> int | float:
    low = 0.0 if p.minimum is None else p.minimum
    high = 1e6 if p.maximum is None else p.maximum
    if isinstance(p.default, int):
        return int(st.number_input(p.name, int(low), int(high), p.default, key=key, help=p.help))
    return float(st.number_input(p.name, float(low), float(high), float(p.default), key=key, help=p.help, format="%g"))


def cautions(measure: str, params: dict[str, Any], frame: pl.DataFrame) -> list[str]:
    """When a number of this measure must not be taken at face value on these sizes."""
    n, d = int(frame["n_items"][0]), int(frame["n_features"].max())  # type: ignore[arg-type]
    found = []
    if measure == "cca" and n < 5 * d:
        found.append(
            f"n / d = {n / d:.1f} is below 5 at the widest layer: canonical correlations are inflated (1 when n does not exceed d)."
        )
    if measure == "cka" and params.get("estimator") == "biased" and d > n:
        found.append(
            f"d = {d} exceeds n = {n} at the widest layer: biased CKA is far above 0 for unrelated data. Use the debiased estimator."
        )
    if measure == "procrustes" and d > n:
        found.append(
            f"d = {d} exceeds n = {n} at the widest layer: a rotation fits unrelated data well. Compare with chance."
        )
    return found


def open_in_geometry(pairs: list[tuple[str, str]]) -> None:
    """Go to the Geometry page with these representations as its views.

    Without query parameters of its own, ``switch_page`` refuses to leave a page whose widgets are bound to the URL.
    """
    views = {"views": "2"}
    for k, (model, layer) in enumerate(pairs):
        views |= {f"v{k + 1}_model": model, f"v{k + 1}_layer": layer}
    for name, value in views.items():
        st.session_state[name] = int(value) if name == "views" else value
    st.switch_page(st.session_state["pages"]["geometry"], query_params=views)
