"""Every similarity value that several public implementations agree on; tolerances are those of the files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import explorer
from tests.conftest import reference, supplement_inputs

TIGHT = {"rel": 1e-8, "abs": 1e-10}

SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "cka_linear_biased": ("cka", {"estimator": "biased"}),
    "cka_linear_debiased": ("cka", {}),
    "mutual_knn_cosine_k5": ("mutual_knn", {"k": 5}),
    "mutual_knn_cosine_k10": ("mutual_knn", {"k": 10}),
    "mutual_knn_euclidean_k10": ("mutual_knn", {"k": 10, "metric": "euclidean"}),
    "procrustes_angular_radians": ("procrustes", {"form": "angular"}),
    "procrustes_centered_normalized_distance": ("procrustes", {"form": "normalized"}),
    "procrustes_size_and_shape_distance": ("procrustes", {"form": "size_and_shape"}),
    "rsa_correlation_distance_spearman": ("rsa", {}),
    "rsa_euclidean_distance_pearson": ("rsa", {"distance": "euclidean", "comparison": "pearson"}),
    "rsa_euclidean_distance_spearman": ("rsa", {"distance": "euclidean"}),
    "rsa_cosine_distance_spearman": ("rsa", {"distance": "cosine"}),
    "rsa_euclidean_distance_kendall_tau_b": ("rsa", {"distance": "euclidean", "comparison": "kendall_b"}),
    "cca_mean_correlation": ("cca", {}),
}

COMPARATORS = {
    "corr": "pearson",
    "spearman": "spearman",
    "kendall": "kendall_b",
    "tau-a": "kendall_a",
    "rho-a": "rho_a",
    "cosine": "cosine",
    "cosine_cov": "whitened_cosine",
}
DISTANCES = {"sqeuclid": "sqeuclidean", "euclid": "euclidean", "corrdist": "correlation", "cosdist": "cosine"}

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "cka_linear_biased": ("cka", {"estimator": "biased"}),
    "cka_linear_unbiased": ("cka", {}),
    "mutual_knn_k3_cosine": ("mutual_knn", {"k": 3}),
    "mutual_knn_k3_euclidean": ("mutual_knn", {"k": 3, "metric": "euclidean"}),
    "procrustes_angular": ("procrustes", {}),
    "procrustes_normalized": ("procrustes", {"form": "normalized"}),
    "procrustes_size_and_shape": ("procrustes", {"form": "size_and_shape"}),
    "cca_mean": ("cca", {}),
    "cca_mean_sq": ("cca", {"summary": "mean_squared"}),
    **{
        f"rsa_{d}_{c}": ("rsa", {"distance": distance, "comparison": comparison})
        for d, distance in DISTANCES.items()
        for c, comparison in COMPARATORS.items()
        if c != "cosine_cov" or d == "sqeuclid"
    },
}

SUPPLEMENT: dict[str, tuple[str, dict[str, Any]]] = {
    "cka_linear_biased": ("cka", {"estimator": "biased"}),
    "cka_linear_debiased": ("cka", {}),
    **{
        f"cka_rbf_{share}_median_{estimator}": (
            "cka",
            {"kernel": "rbf", "bandwidth": float(share), "estimator": estimator},
        )
        for share in ("0.5", "1.0")
        for estimator in ("biased", "debiased")
    },
    "mutual_knn_cosine_k5": ("mutual_knn", {"k": 5}),
    "mutual_knn_euclidean_k5": ("mutual_knn", {"k": 5, "metric": "euclidean"}),
    **{
        f"rsa_{distance}_{name}": ("rsa", {"distance": distance, "comparison": comparison})
        for distance in ("euclidean", "sqeuclidean", "cosine", "correlation")
        for name, comparison in {
            "pearson": "pearson",
            "spearman": "spearman",
            "cosine": "cosine",
            "kendall_tau_b": "kendall_b",
            "kendall_tau_a": "kendall_a",
            "rho_a": "rho_a",
        }.items()
    },
    "rsa_sqeuclidean_whitened_cosine": ("rsa", {"distance": "sqeuclidean", "comparison": "whitened_cosine"}),
    "procrustes_angular": ("procrustes", {}),
    "procrustes_normalized_distance": ("procrustes", {"form": "normalized"}),
    "procrustes_size_and_shape": ("procrustes", {"form": "size_and_shape"}),
    "cca_mean": ("cca", {}),
    "cca_mean_squared": ("cca", {"summary": "mean_squared"}),
}


def shared_cases() -> list[Any]:
    values = reference("similarity.json")["cases"]
    return [pytest.param(case, key, id=f"{case}-{key}") for case in values for key in SHARED if key in values[case]]


@pytest.mark.parametrize(("case", "key"), shared_cases())
def test_shared_values(case: str, key: str) -> None:
    arrays = reference("similarity.npz")
    measure, params = SHARED[key]
    found = explorer.compute(measure, arrays[f"{case}_x"], arrays[f"{case}_y"], **params)
    assert found.value == pytest.approx(reference("similarity.json")["cases"][case][key], **TIGHT)


def hand_cases() -> list[Any]:
    values = reference("similarity-cases.json")["cases"]
    return [
        pytest.param(case, key, id=f"{case}-{key}")
        for case in values
        for key in CASES
        if isinstance(values[case]["measures"].get(key, {}).get("value"), float)
    ]


@pytest.mark.parametrize(("case", "key"), hand_cases())
def test_hand_made_cases(case: str, key: str) -> None:
    entry = reference("similarity-cases.json")["cases"][case]
    measure, params = CASES[key]
    found = explorer.compute(measure, np.array(entry["X"]), np.array(entry["Y"]), **params)
    # Where rotated copies are compared the truth is 0 and peers keep the rounding of arccos(1) ~ 2e-8.
    loose = 5e-7 if case.startswith("D_") and measure == "procrustes" else 1e-10
    assert found.value == pytest.approx(entry["measures"][key]["value"], rel=1e-9, abs=loose)


def supplement_cases() -> list[Any]:
    values = reference("similarity-supplement.json")["cases"]
    return [
        pytest.param(case, key, id=f"{case}-{key}")
        for case in ("tall", "wide", "ties", "independent")
        for key in SUPPLEMENT
        if key in values[case]
    ]


@pytest.mark.parametrize(("case", "key"), supplement_cases())
def test_supplement_values(case: str, key: str) -> None:
    x, y = supplement_inputs(case)
    measure, params = SUPPLEMENT[key]
    expected = reference("similarity-supplement.json")["cases"][case][key]["value"]
    assert explorer.compute(measure, x, y, **params).value == pytest.approx(expected, rel=1e-6, abs=1e-9)
