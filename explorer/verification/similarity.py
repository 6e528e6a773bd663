"""Which stored similarity value is which measure with which parameters."""

from __future__ import annotations

from typing import Any

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
    "jaccard_knn_cosine_k10": ("jaccard_knn", {"k": 10}),
    "cknna_cosine_k10_debiased": ("cknna", {"k": 10}),
    "cycle_knn_cosine_k5": ("cycle_knn", {"k": 5}),
    "lcs_knn_cosine_k10_mean_length": ("lcs_knn", {"k": 10}),
    "svcca_99pct_variance_mean_correlation": ("svcca", {}),
    "distance_correlation": ("distance_correlation", {}),
    "linear_regression_r2_predict_y_from_x": ("linear_predictivity", {"evaluation": "in_sample"}),
    "linear_regression_r2_predict_x_from_y": (
        "linear_predictivity",
        {"evaluation": "in_sample", "direction": "y_to_x"},
    ),
    "hard_correlation_match_signed": ("permutation_match", {}),
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
    "mutual_knn_k3_cosine_centered": ("mutual_knn", {"k": 3, "metric": "centred_cosine"}),
    "cycle_knn_k3_cosine": ("cycle_knn", {"k": 3}),
    "lcs_knn_k3_cosine": ("lcs_knn", {"k": 3}),
    "cknna_k3_unbiased_unit": ("cknna", {"k": 3}),
    "cknna_k3_biased_unit": ("cknna", {"k": 3, "estimator": "biased"}),
    "jaccard_k3_cosine": ("jaccard_knn", {"k": 3}),
    "rank_similarity_k3": ("rank_similarity", {"k": 3}),
    "second_order_cosine_k3_similarities": ("second_order_cosine", {"k": 3}),
    "second_order_cosine_k3": ("second_order_cosine", {"k": 3, "of": "distances"}),
    "svcca_0.99": ("svcca", {}),
    "pwcca_x_to_y": ("pwcca", {}),
    "pwcca_y_to_x": ("pwcca", {"weights": "y"}),
    "perm_angular_centered": ("procrustes", {"group": "permutation"}),
    "hard_corr_match": ("permutation_match", {}),
    "soft_matching_corr": ("soft_match", {}),
    "linreg_r2_y_from_x": ("linear_predictivity", {"evaluation": "in_sample"}),
    "linreg_r2_x_from_y": ("linear_predictivity", {"evaluation": "in_sample", "direction": "y_to_x"}),
    "distance_correlation": ("distance_correlation", {}),
    "nbs_centered": ("bures", {}),
    "gulp_lambda0": ("gulp", {"lam": 0.0}),
    "gulp_lambda0.1": ("gulp", {"lam": 0.1}),
    "shape_alpha0_angular": ("shape_metric", {"alpha": 0.0}),
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
    "jaccard_knn_cosine_k5": ("jaccard_knn", {"k": 5}),
    "rank_similarity_cosine_k5": ("rank_similarity", {"k": 5}),
    "second_order_cosine_k5_on_similarities": ("second_order_cosine", {"k": 5}),
    "second_order_cosine_k5_on_distances_resi": ("second_order_cosine", {"k": 5, "of": "distances"}),
    "cycle_knn_cosine_k5_A_of_B": ("cycle_knn", {"k": 5}),
    "lcs_knn_cosine_k5_mean_length": ("lcs_knn", {"k": 5}),
    "cknna_cosine_k5": ("cknna", {"k": 5}),
    "trsa_euclidean_l0.0_u1.0_pearson": ("trsa", {"lower": 0.0, "upper": 1.0}),
    "trsa_euclidean_l0.2_u0.8_pearson": ("trsa", {}),
    "trsa_euclidean_l0.1_u0.4_pearson": ("trsa", {"lower": 0.1, "upper": 0.4}),
    "procrustes_cosine": ("bures", {}),
    "permutation_procrustes_centred_angular": ("procrustes", {"group": "permutation"}),
    "shape_metric_alpha0.5_angular": ("shape_metric", {}),
    "shape_metric_alpha0.0_angular": ("shape_metric", {"alpha": 0.0}),
    "svcca_99": ("svcca", {}),
    "pwcca_weights_from_X": ("pwcca", {}),
    "pwcca_weights_from_Y": ("pwcca", {"weights": "y"}),
    "linear_r2_predict_Y_from_X": ("linear_predictivity", {"evaluation": "in_sample"}),
    "linear_r2_predict_X_from_Y": ("linear_predictivity", {"evaluation": "in_sample", "direction": "y_to_x"}),
    "hard_correlation_match": ("permutation_match", {}),
    "soft_matching_ot_mean_correlation": ("soft_match", {}),
    "distance_correlation": ("distance_correlation", {}),
    "gulp_squared_lambda0.01": ("gulp", {"lam": 0.01}),
    "gulp_squared_lambda1.0": ("gulp", {"lam": 1.0}),
    "relative_similarity_anchors_0to4_mean_cosine": ("relative_similarity", {"anchors": "first", "count": 5}),
}
