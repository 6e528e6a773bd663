"""Methods: the catalogue, built from the registry."""

from __future__ import annotations

import math

import streamlit as st

from explorer.measures.registry import Measure, registry

FAMILIES = {
    "similarity": "Similarity of two representations",
    "alignment": "Maps from one representation to another, judged on held-out items",
    "dimension": "Intrinsic dimension",
    "spectrum": "Spectrum",
    "isotropy": "Isotropy",
    "curvature": "Curvature",
    "topology": "Topology",
    "stability": "Stability",
    "task": "Task: what a representation makes easy",
    "trajectory": "Layers as a sequence",
}
CALIBRATION = r"""
Every pairwise measure can be compared with chance: the rows of one side are permuted $K$ times (the same permutation
for all its layers) and the statistic is the best cell (or the mean) of the layer matrix.

- $p = (1 + \#\{\text{null} \ge \text{observed}\}) / (K + 1)$
- threshold $\tau$ = the $\lceil (1 - \alpha)(K + 1) \rceil$-th smallest of the observed value and the nulls
- calibrated score = $\mathrm{clip}\big((s - \tau) / (s_{max} - \tau), 0, 1\big)$ (Groeger, Wen & Brbic 2026)
- chance-corrected = $(s - \overline{\text{null}}) / (s_{max} - \overline{\text{null}})$, $z = (s - \overline{\text{null}}) / \mathrm{sd}(\text{null})$

Every pairwise measure goes through this one interface. Chance is exact where its moments are known in closed form (CKA,
neighbour measures, triplets), else from the permutations. Each cell has two p-values, against its own chance and against
the best cell under chance; Benjamini & Hochberg (1995) over the former gives the false discovery rate $q$.

Items that are not exchangeable (frames of one video, captions of one picture, members of one class) make this null too
easy to beat: permute within groups instead.

**Intervals.** Where a value is a mean over items (neighbour measures), the items' values are bootstrapped with the gallery
kept. Elsewhere subsets of 63 % of the items are drawn without replacement and their spread is scaled to all items:
resampled copies of an item would be its own neighbours and inflate the diagonal of every Gram matrix.
"""


def page() -> None:
    """Show the page."""
    st.title("Methods")
    st.markdown("What is computed, from which source, what it is invariant to, and when not to trust it.")
    families = dict.fromkeys([*FAMILIES, *(m.family for m in registry().values())])
    for family in families:
        members = [m for m in registry().values() if m.family == family]
        if members:
            st.subheader(FAMILIES.get(family, family.capitalize()))
            for measure in members:
                with st.expander(f"**{measure.name}**  `{measure.id}`"):
                    _describe(measure)
    st.subheader("Calibration against chance")
    st.markdown(CALIBRATION)


def _number(value: float) -> str:
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    return r"\pi/2" if value == math.pi / 2 else f"{value:g}"


def _describe(measure: Measure) -> None:
    st.latex(measure.formula)
    st.markdown(f"{measure.authors} ({measure.year}). *{measure.title}*.")
    facts = [
        f"range $[{_number(measure.range[0])}, {_number(measure.range[1])}]$, higher means {measure.higher_means}",
        f"cost: {measure.cost}",
        f"invariant to: {', '.join(sorted(measure.invariances)).replace('_', ' ') or 'nothing'}",
    ]
    if measure.kind == "pairwise":
        facts.append(
            f"{'symmetric' if measure.symmetric else 'not symmetric'}, {'a metric' if measure.is_metric else 'not a metric'}"
        )
    st.markdown("\n".join(f"- {fact}" for fact in facts))
    for p in measure.parameters:
        allowed = ", ".join(p.choices) if p.choices else "" if p.minimum is None else f"{p.minimum:g} to {p.maximum:g}"
        st.markdown(f"- `{p.name}` = {p.default}: {p.help}{f' ({allowed})' if allowed else ''}")
    for need in measure.needs:
        st.markdown(f"- needs `{need.name}`{' (optional)' if need.optional else ''}: {need.help}")
    for preset in measure.presets:
        said = ", ".join(f"`{k}={v}`" for k, v in preset.params.items())
        st.markdown(f"- as in *{preset.name}*: {said}. {preset.note[0].upper()}{preset.note[1:]}.")
    st.warning(measure.caveat, icon=":material/info:")
