"""Every reference case: a measure, its parameters, an input, what the value must be, and what packages say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from explorer.measures.registry import registry
from explorer.verification.case import Case, Difference
from explorer.verification.geometry import geometry_cases
from explorer.verification.inputs import geometry_set, polygon, reference, supplement_inputs
from explorer.verification.similarity import CASES, SHARED, SUPPLEMENT

# Where packages are called by short names in the stored files.
PACKAGES = {
    "resi": "ReSi",
    "shesha": "shesha-geometry",
    "shesha_debiased": "shesha-geometry",
    "platonic": "platonic-rep",
    "kisungyou_gretton": "repsim (gretton)",
    "kisungyou_song": "repsim (song)",
    "kisungyou_lange": "repsim (lange)",
    "kisungyou_xy": "repsim",
}
# Reasons that a stored file gives only once, for a package and a measure.
REASONS = {
    ("ReSi", "svcca"): "keeps one component: compares a share of variance with a share of the total",
    ("ReSi", "pwcca"): "indexes one side by the mask of the other",
    ("repsim 0.1.5", "svcca"): "another rule for how many components are kept",
    ("shesha-geometry", "cka"): "keeps the Gram diagonals in the leading term, so it is not debiased",
    ("repsim (song)", "cka"): "unbiased numerator over biased norms",
    ("repsim (lange)", "cka"): "unbiased numerator over biased norms",
    ("repsim (gretton)", "cka"): "the biased estimator",
    ("pytorch-cka 1.1.3", "cka"): "clips to [0, 1], which hides negative values",
    ("repsim", "pwcca"): "symmetrised over both sides",
    ("repsim 0.1.5", "cca"): "the mean of SQUARED correlations under the plain name",
    ("sim_metric", "cca"): "requires d < n",
}
SINGLE: dict[str, tuple[str, dict[str, Any]]] = {
    "twonn_fit_discard0.1_i/n": ("twonn", {}),
    "twonn_mle": ("twonn", {"method": "likelihood"}),
    "twonn_mle_unbiased": ("twonn", {"method": "unbiased"}),
    "mle_k10_mackay_ghahramani": ("mle", {"k": 10}),
    "mle_k20_mackay_ghahramani": ("mle", {}),
    "participation_ratio": ("participation_ratio", {}),
    "effective_rank_singular_values": ("effective_rank", {}),
    "exp_entropy_of_variance": ("effective_rank", {"of": "covariance"}),
    "gride_1_2": ("gride", {"scale": 1}),
    "gride_2_4": ("gride", {"scale": 2}),
    "gride_4_8": ("gride", {"scale": 4}),
    "gride_8_16": ("gride", {"scale": 8}),
    "gride_16_32": ("gride", {}),
    "corrint_k10_20": ("correlation_dimension", {}),
    "stable_rank": ("stable_rank", {}),
    "pca_dims_90pct": ("pca_dimension", {}),
}
# Packages that were run on the same points and gave the same value.
RUN = {
    "twonn": ("scikit-dimension 0.5", "DADApy 0.3.4"),
    "mle": ("scikit-dimension 0.5",),
    "gride": ("DADApy 0.3.4 (to its root finder)",),
    "correlation_dimension": ("scikit-dimension 0.5",),
}
SINGLE_OF_PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "participation_ratio_covariance": ("participation_ratio", {}),
    "effective_rank_covariance_entropy": ("effective_rank", {"of": "covariance"}),
    "mean_cosine_offdiagonal": ("mean_cosine", {}),
    "uniformity_t2_unit_sphere": ("uniformity", {}),
}


def all_cases() -> list[Case]:
    """All reference cases, by measure; a measure that no package has is compared with its own limit."""
    found = [
        *_shared(),
        *_hand_made(),
        *_supplement(),
        *_single(),
        *_graphs(),
        *_loops(),
        *_group(),
        *_trials(),
        *_rtd(),
        *geometry_cases(),
    ]
    covered = {case.measure for case in found}
    found += [_itself(m.id) for m in registry().values() if m.id not in covered and m.kind in ("pairwise", "group")]
    return sorted(found, key=lambda case: list(registry()).index(case.measure))


def _shared() -> Iterator[Case]:
    stored = reference("similarity.json")["cases"]
    for case, values in stored.items():
        for key, (measure, params) in SHARED.items():
            if key in values:
                # The stored CKNNA carries the 1e-6 that platonic-rep adds to an unscaled denominator of about 0.04.
                loose = measure == "cknna"
                remark = "stored value carries platonic-rep's 1e-6 in the denominator" if loose else ""
                agrees = ("platonic-rep", "ReSi or netrep", "published formula")
                yield Case(
                    measure, params, "similarity", f"{case}: {key}", values[key], 3e-5 if loose else 1e-8,
                    partial(_stored_pair, case), agrees, (), remark,
                )  # fmt: skip
        for key, (measure, params) in SINGLE_OF_PAIRS.items():
            yield Case(
                measure, params, "similarity", f"{case}: {key}", values["single_x"][key], 1e-9,
                partial(_first_of_pair, case), ("published formula",),
            )  # fmt: skip


def _stored_pair(case: str) -> dict[str, np.ndarray]:
    arrays = reference("similarity.npz")
    return {"X": arrays[f"{case}_x"], "Y": arrays[f"{case}_y"]}


def _first_of_pair(case: str) -> dict[str, np.ndarray]:
    return {"X": _stored_pair(case)["X"]}


def _drawn_pair(case: str) -> dict[str, np.ndarray]:
    return dict(zip("XY", supplement_inputs(case)))


def _points(name: str) -> dict[str, np.ndarray]:
    return {"X": geometry_set(name)}


def _hand_made() -> Iterator[Case]:
    stored = reference("similarity-cases.json")["cases"]
    for case, entry in stored.items():
        pair = {"X": np.array(entry["X"]), "Y": np.array(entry["Y"])}
        for key, (measure, params) in CASES.items():
            held = entry["measures"].get(key, {})
            # All canonical correlations of case B tie at 1, where PWCCA is not defined and ours refuses.
            if not isinstance(held.get("value"), float) or (measure == "pwcca" and case.startswith("B_")):
                continue
            # For rotated copies the truth is 0, and packages keep the rounding of arccos(1), about 2e-8.
            near_zero = case.startswith("D_") and measure in ("procrustes", "shape_metric")
            differs = tuple(_difference(p, measure, d) for p, d in held.get("peers_that_differ", {}).items())
            yield Case(
                measure, params, "similarity-cases", f"{case}: {key}", held["value"], 5e-7 if near_zero else 1e-9,
                partial(dict, pair), tuple(_package(p) for p in held.get("independent_agreement", [])), differs,
            )  # fmt: skip


def _supplement() -> Iterator[Case]:
    stored = reference("similarity-supplement.json")["cases"]
    for case in ("tall", "wide", "ties", "independent"):
        for key, (measure, params) in SUPPLEMENT.items():
            if key not in stored[case]:
                continue
            held = stored[case][key]
            differs = tuple(_difference(p, measure, v) for p, v in held.get("disagrees", {}).items())
            yield Case(
                measure, params, "similarity-supplement", f"{case}: {key}", held["value"], 1e-6,
                partial(_drawn_pair, case), tuple(held.get("agrees", [])), differs,
            )  # fmt: skip


def _package(name: str) -> str:
    return PACKAGES.get(name, name)


def _difference(name: str, measure: str, held: Any) -> Difference:
    package = _package(name)
    entry = held if isinstance(held, dict) else {"value": held}
    value = entry.get("value")
    known = next((why for (p, m), why in REASONS.items() if m == measure and package.startswith(p)), "")
    reason = entry.get("reason") or known or "another convention"
    if isinstance(value, int | float):
        return Difference(package, float(value), reason)
    error = str(entry.get("error") or value or "no value").split(":")[0]
    return Difference(package, float("nan"), f"fails ({error}): {reason}")


def _single() -> Iterator[Case]:
    stored = reference("geometry-cases.json")["id"]
    for name, entry in stored.items():
        for key, (measure, params) in SINGLE.items():
            # Equal items are merged by ours and left out altogether in the stored values.
            if measure in ("mle", "gride", "correlation_dimension") and "dup" in name:
                continue
            agrees = RUN.get(measure, ("published formula",))
            yield Case(
                measure, params, "geometry-cases", f"{name}: {key}", entry["own"][key], 1e-8,
                partial(_points, name), agrees,
            )  # fmt: skip


def _graphs() -> Iterator[Case]:
    import itertools

    def complete(n: int) -> np.ndarray:
        return np.array(list(itertools.combinations(range(n), 2)))

    def cycle(n: int) -> np.ndarray:
        return np.array([(i, (i + 1) % n) for i in range(n)])

    stored = reference("geometry-cases.json")["ollivier_ricci"]["graphs"]
    for name, edges in {"K3": complete(3), "K5": complete(5), "C5": cycle(5), "C6": cycle(6)}.items():
        if name not in stored:
            continue
        for key, measure, params in (
            ("alpha_0.5", "ollivier_ricci", {"alpha": 0.5}),
            ("alpha_0.0", "ollivier_ricci", {"alpha": 0.0}),
            ("forman_plain", "forman_ricci", {"augmented": False}),
            ("forman_augmented_triangles", "forman_ricci", {"augmented": True}),
        ):
            yield Case(
                measure, params, "geometry-cases", f"{name}: {key}", stored[name][key]["mean"], 1e-9,
                partial(dict, graph=edges), ("GraphRicciCurvature", "closed form"),
            )  # fmt: skip


def _loops() -> Iterator[Case]:
    for n in (12, 20):
        birth, death = 2 * np.sin(np.pi / n), 2 * np.sin(np.pi * np.ceil(n / 3) / n)
        yield Case(
            "persistence", {"max_dim": 1}, "closed form", f"regular {n}-gon: longest H1 bar over the diameter",
            float((death - birth) / 2), 1e-6, partial(dict, X=polygon(n)), ("ripser", "giotto-ph", "GUDHI"),
        )  # fmt: skip


def _group() -> Iterator[Case]:
    held = reference("similarity-cases.json")["extra"]["gpa_M3"]
    differs = tuple(_difference(p, "gpa", d) for p, d in held["peers_that_differ"].items())
    # The packages print the objective, ours the consensus share 1 - objective / M.
    differs = tuple(Difference(d.package, 1 - d.value / 3, d.reason) for d in differs)
    yield Case(
        "gpa", {}, "similarity-cases", "M3: 1 - objective / 3", 1 - held["objective_at_fixed_point"] / 3, 1e-9,
        partial(dict, X=[np.array(v) for v in held["inputs"]]), ("netrep (streaming)", "qc-procrustes"), differs,
    )  # fmt: skip


def _trials() -> Iterator[Case]:
    held = reference("similarity-cases.json")["extra"]["stochastic_gaussian_wasserstein_alpha1"]

    def inputs() -> dict[str, np.ndarray]:
        r = np.random.default_rng(7)
        x = r.standard_normal((6, 1, 3)) * 2 + r.standard_normal((6, 40, 3)) @ np.diag([1, 0.5, 0.2])
        y = r.standard_normal((6, 1, 3)) * 2 + r.standard_normal((6, 40, 3)) @ np.diag([0.3, 0.6, 0.9])
        return {"X": x, "Y": y}

    yield Case(
        "stochastic_shape", {"restarts": 20}, "similarity-cases", "6 items, 40 trials",
        held["orth_group_netrep_best_of_40_restarts"], 1e-7, inputs, ("netrep, best of 40 starts",),
    )  # fmt: skip


def _rtd() -> Iterator[Case]:
    stored = reference("similarity-cases.json")
    for case, held in stored["extra"]["rtd_h1_quantile0.9_no_subsample"].items():
        entry = stored["cases"][case]
        yield Case(
            "rtd", {}, "similarity-cases", f"{case}: mean of both directions", held["mean"], 1e-6,
            partial(dict, X=np.array(entry["X"]), Y=np.array(entry["Y"])), ("ripser", "GUDHI"),
        )  # fmt: skip


def _itself(measure: str) -> Case:
    """A representation against itself, or a rotated copy of itself where the measure forgives rotations."""
    declared = registry()[measure]
    x = supplement_inputs("tall")[0]
    y = (
        x @ np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
        if "orthogonal" in declared.invariances
        else x
    )
    inputs = {"X": [x, y, x]} if declared.kind == "group" else {"X": x, "Y": y}
    params = {"variance": 1.0} if measure == "cca_map" else {}
    best = declared.best_value(declared.resolve(params))
    return Case(measure, params, "limiting case", "a rotated copy of itself", best, 1e-9, partial(dict, inputs))
