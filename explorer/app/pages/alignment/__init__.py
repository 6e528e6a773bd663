"""Alignment: which representations agree, where, by what map, and is that more than chance?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import streamlit as st

from explorer.app import state

# Section -> (module with show(), what it answers)
SECTIONS = {
    "Layers": ("layers", "Which layers of two models agree, and is that more than chance?"),
    "All models": ("everything", "Every stored layer against every other."),
    "Items": ("items", "On which items do two representations agree, and on which not?"),
    "Maps": ("maps", "How well does a map carry one representation into the other, on items it has not seen?"),
    "Model space": ("space", "Representations as points: near ones are alike."),
    "RDMs": ("rdm", "Dissimilarity matrices side by side, and against a human or neural one."),
}


def page() -> None:
    """Show the page."""
    st.title("Alignment")
    dataset, frame, models = state.choose_represented()
    section = (
        st.segmented_control(
            "Section", list(SECTIONS), default="Layers", key="section", label_visibility="collapsed", **state.BOUND
        )
        or "Layers"
    )
    module, words = SECTIONS[section]
    st.caption(words)
    show: Callable[..., Any] = import_module(f"explorer.app.pages.alignment.{module}").show
    show(dataset, frame, models)
