"""Dimension & spectrum of one representation: over scales, over sizes, over directions; outlier dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import streamlit as st

from explorer.app import state, work
from explorer.figures.spectrum import eigenspectrum, scale_curve, size_curves
from explorer.measures.registry import get_measure

CONFIG = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
# The neighbour up to which each estimate looks.
SCALES = {"twonn": 2, "mle": 20, "correlation_dimension": 20, "lpca": 30}
LEAST = 20


def page() -> None:
    """Show the page."""
    st.title("Dimension & spectrum")
    dataset, frame, _ = state.choose_represented()
    with st.sidebar:
        identity = state.choose_representation(frame, "d_", 0, 0.5)
        items = state.choose_items(dataset, "d_")
    count = len(items) if items is not None else len(state.load(identity).values)
    if count < LEAST:
        st.warning(f"There are {count} item(s) in this group; at least {LEAST} are needed.")
        return
    name = state.load(identity).name
    arguments: dict[str, Any] = {"stores": state.store_paths(), "identity": identity, "items": items}
    found = work.run_job(f"Dimension and spectrum of {name}", "shape", "shape", **arguments)
    if found is None:
        return
    _numbers(found)
    left, right = st.columns(2)
    with left:
        _scales(found)
    with right:
        curve = work.run_job(
            f"Dimension of {name} by the number of items", "shape_by_items", "shape-items", **arguments
        )
        if curve is not None:
            titles = {m: get_measure(m).name for m in curve["measure"].unique(maintain_order=True)}
            st.plotly_chart(size_curves(curve, titles), key="sizes", config=CONFIG)
    left, right = st.columns(2)
    with left:
        _spectrum(found)
    with right:
        _outliers(found)
    described = frame.filter(pl.col("id") == identity)
    st.caption(state.described(described, items_used=found["n"], local_estimates="MLE k = 20, lPCA k = 30"))
    for note in found["notes"]:
        st.caption(note)
    for measure in ("gride", "twonn", "participation_ratio", "power_law_exponent", "outlier_dimensions"):
        st.caption(f"**{get_measure(measure).name}**: {get_measure(measure).caveat}")


def _numbers(found: dict[str, Any]) -> None:
    values, curve = found["values"], found.get("gride", {})
    columns = st.columns(5)
    dimensions = np.asarray(curve.get("dimension", [np.nan]))
    low, high = float(np.nanmin(dimensions)), float(np.nanmax(dimensions))
    columns[0].metric(
        "Nonlinear (Gride, over scales)", f"{low:.1f} to {high:.1f}",
        help="Lowest and highest estimate over the scales below. A narrow range is a dimension, a wide one is not.",
    )  # fmt: skip
    columns[1].metric("TwoNN (smallest scale)", _number(values, "twonn"), help=get_measure("twonn").caveat)
    columns[2].metric(
        "Linear: participation ratio",
        _number(values, "participation_ratio"),
        help=get_measure("participation_ratio").caveat,
    )
    columns[3].metric(
        "Linear: 90 % of the variance",
        _number(values, "pca_dimension", 0),
        help="Principal components for 90 % of the variance.",
    )
    merged = int(curve.get("duplicates", 0))
    columns[4].metric(
        "Duplicates merged", f"{merged:,}", help="Equal items would drive estimates to zero; each is counted once."
    )
    st.markdown(reading(dimensions, values.get("participation_ratio", np.nan)))


def _number(values: dict[str, float], name: str, digits: int = 1) -> str:
    return f"{values[name]:.{digits}f}" if name in values and np.isfinite(values[name]) else "none"


def reading(dimensions: np.ndarray, linear: float) -> str:
    """What the curve over scales and the linear dimension say together, in a sentence or two."""
    low, high = float(np.nanmin(dimensions)), float(np.nanmax(dimensions))
    if high > 1.5 * low:
        falls = dimensions[0] > dimensions[-1]
        why = "noise at small scales" if falls else "clusters or curvature at large ones"
        words = f"The estimate {'falls' if falls else 'rises'} from {dimensions[0]:.1f} to {dimensions[-1]:.1f} over scales: **no single dimension** ({why})."
    else:
        words = f"The estimate stays within {low:.1f} and {high:.1f} over scales: **about {np.nanmedian(dimensions):.0f} dimensions**."
    if np.isfinite(linear) and linear > 1.5 * high:
        words += " The linear dimension is well above it: the items lie on a **curved** set."
    elif np.isfinite(linear) and linear < 0.67 * low:
        words += " The linear dimension is below it: a few directions carry most of the **variance**."
    return words


def _scales(found: dict[str, Any]) -> None:
    if "gride" not in found:
        st.info("There are too few distinct items for a curve over scales.")
        return
    values = found["values"]
    points = {get_measure(m).name: (k, values[m]) for m, k in SCALES.items() if np.isfinite(values.get(m, np.nan))}
    linear = {"Participation ratio": values["participation_ratio"]} if "participation_ratio" in values else {}
    st.plotly_chart(scale_curve(found["gride"], points, linear), key="scales", config=CONFIG)


def _spectrum(found: dict[str, Any]) -> None:
    fit = found.get("power_law_exponent")
    if fit is None:
        st.info("Too few directions carry variance for a spectrum with a fit.")
        return
    st.plotly_chart(
        eigenspectrum(fit["spectrum"], fit | {"exponent": found["values"]["power_law_exponent"]}),
        key="spectrum",
        config=CONFIG,
    )


def _outliers(found: dict[str, Any]) -> None:
    st.markdown("**Outlier dimensions** (features with more than 5 times the mean variance)")
    held = found.get("outlier_dimensions")
    if held is None or not len(held["features"]):
        st.markdown("There are none.")
        return
    st.markdown(
        f"{len(held['features'])} of {found['d']} features carry **{100 * held['variance_share']:.0f}%** of the variance."
    )
    effect = pl.DataFrame(
        {
            "measure": ["participation ratio", "mean cosine"],
            "with them": [held["participation_ratio_with"], held["mean_cosine_with"]],
            "without": [held["participation_ratio_without"], held["mean_cosine_without"]],
        }
    )
    st.dataframe(effect, hide_index=True)
    shown = {"feature": held["features"], "share of the variance": held["shares"]}
    st.dataframe(pl.DataFrame(shown), hide_index=True, height=180)
    st.caption("To see every page without them, or whitened, choose another form under Features in the sidebar.")
