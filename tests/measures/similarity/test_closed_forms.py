"""Limiting cases and closed forms of the pairwise measures, and the traps in which other packages fall."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import explorer
from explorer.errors import ExplorerError
from explorer.measures.similarity import lcs_knn, stochastic_shape, triplet_agreement
from explorer.neighbor_lists import prepare
from explorer.verification.inputs import reference, supplement_inputs


def tall() -> tuple[np.ndarray, np.ndarray]:
    return supplement_inputs("tall")


def rotated(x: np.ndarray, seed: int = 0) -> np.ndarray:
    d = x.shape[1]
    return x @ np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def test_shape_metric_ends_are_procrustes_and_cca() -> None:
    x, y = tall()
    assert explorer.compute("shape_metric", x, y, alpha=1.0).value == pytest.approx(
        explorer.compute("procrustes", x, y).value, abs=1e-12
    )
    # Fully whitened shapes have equal singular values, so the cosine is a sum of canonical correlations.
    correlations = explorer.compute("cca", x, y).value * 6
    assert np.cos(explorer.compute("shape_metric", x, y, alpha=0.0).value) == pytest.approx(
        correlations / np.sqrt(6 * 9), abs=1e-12
    )


def test_bures_is_the_fidelity_of_gram_matrices() -> None:
    from scipy.linalg import sqrtm

    x, y = (v - v.mean(0) for v in tall())
    k, m = x @ x.T, y @ y.T
    root = sqrtm(k + 1e-12 * np.eye(len(k)))
    fidelity = np.trace(sqrtm(root @ m @ root)).real / np.sqrt(np.trace(k) * np.trace(m))
    assert explorer.compute("bures", x, y).value == pytest.approx(fidelity, abs=1e-6)


def test_distance_correlation_of_independent_data_averages_to_nothing_when_debiased() -> None:
    rng = np.random.default_rng(0)
    draws = [
        [
            explorer.compute(
                "distance_correlation", rng.standard_normal((30, 60)), rng.standard_normal((30, 60)), estimator=e
            ).value
            for _ in range(60)
        ]
        for e in ("debiased", "biased")
    ]
    assert abs(np.mean(draws[0])) < 3 * np.std(draws[0]) / np.sqrt(60)
    assert np.mean(draws[1]) > 0.8


def test_gulp_without_penalty_counts_the_dimensions_that_are_not_shared() -> None:
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((50, 9)) - 0)[0]
    basis = np.linalg.qr(basis - basis.mean(0))[0]
    # Spans of dimension 6 and 5 that share 2 directions: |P - Q|^2 = 6 + 5 - 2 * 2.
    x, y = basis[:, :6] @ rng.standard_normal((6, 6)), basis[:, 4:9] @ rng.standard_normal((5, 5))
    assert explorer.compute("gulp", x, y, lam=0.0).value == pytest.approx(7, abs=1e-8)


def test_svcca_keeps_components_by_variance() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((60, 4)) * [100, 10, 1, 0.001]
    x -= x.mean(0)
    found = explorer.compute("svcca", x, x @ np.diag([1, 1, 1, 1.0]))
    assert found.details["kept_x"] in (1, 2) and found.value == pytest.approx(1)
    assert explorer.compute("svcca", x, rotated(x), variance=1.0).details["kept_y"] == 4


def test_a_permutation_of_features_is_found_and_a_rotation_is_not() -> None:
    x, _ = tall()
    order = np.random.default_rng(3).permutation(6)
    found = explorer.compute("permutation_match", x, x[:, order])
    assert found.value == pytest.approx(1, abs=1e-12)
    assert (order[found.details["feature_y"]] == found.details["feature_x"]).all()
    assert explorer.compute("soft_match", x, x[:, order]).value == pytest.approx(1, abs=1e-12)
    assert explorer.compute("procrustes", x, x[:, order], group="permutation").value == 0
    assert explorer.compute("permutation_match", x, rotated(x)).value < 0.9


def test_soft_match_of_unequal_widths_stays_below_one() -> None:
    """A side that holds the other whole cannot reach 1: half of its features have no partner of their own."""
    x, _ = tall()
    wide = np.concatenate([x, np.random.default_rng(4).standard_normal((40, 6))], axis=1)
    assert explorer.compute("soft_match", x, wide).value < 0.75
    assert explorer.compute("soft_match", x, np.concatenate([x, x], axis=1)).value == pytest.approx(1, abs=1e-9)


def test_longest_common_subsequence_against_the_textbook_table() -> None:
    rng = np.random.default_rng(5)
    a, b = (np.array([rng.permutation(8)[:6] for _ in range(40)]) for _ in range(2))

    def textbook(p: np.ndarray, q: np.ndarray) -> int:
        table = np.zeros((len(p) + 1, len(q) + 1), dtype=int)
        for i, u in enumerate(p, 1):
            for j, v in enumerate(q, 1):
                table[i, j] = table[i - 1, j - 1] + 1 if u == v else max(table[i - 1, j], table[i, j - 1])
        return int(table[-1, -1])

    found = lcs_knn.common_lengths(torch.from_numpy(a), torch.from_numpy(b))
    assert found.tolist() == [textbook(p, q) for p, q in zip(a, b)]
    x, _ = tall()
    assert explorer.compute("lcs_knn", x, x, k=5).value == 5
    assert explorer.compute("lcs_knn", x, x, k=5, normalized=True).value == 1


def test_duplicated_items_never_list_themselves() -> None:
    rng = np.random.default_rng(6)
    x = np.repeat(rng.standard_normal((40, 5)), 3, axis=0)
    index = prepare(torch.from_numpy(x), k=10).index.numpy()
    assert not (index == np.arange(120)[:, None]).any()
    assert explorer.compute("jaccard_knn", x, x).value == 1


def test_second_order_cosine_takes_similarities() -> None:
    """On distances, as one package has it, unrelated data look alike."""
    rng = np.random.default_rng(7)
    x, y = rng.standard_normal((100, 30)), rng.standard_normal((100, 30))
    assert explorer.compute("second_order_cosine", x, y).value < 0.1
    assert explorer.compute("second_order_cosine", x, y, of="distances").value > 0.8


def test_linear_predictivity_finds_nothing_in_unrelated_data() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((120, 200)), rng.standard_normal((120, 20))
    assert explorer.compute("linear_predictivity", x, y).value < 0.05
    assert explorer.compute("linear_predictivity", x, y, evaluation="in_sample").value == pytest.approx(1)
    assert explorer.compute("stitching", x, y).value < 0.05


def test_cross_validated_ridge_agrees_with_scikit_learn() -> None:
    from sklearn.linear_model import Ridge

    from explorer.measures.similarity import linear_predictivity as own
    from explorer.ridge import best_penalty

    x, y = (torch.from_numpy(v) for v in tall())
    state, target = own.prepare(x, folds=5, seed=0), own.prepare(y, folds=5, seed=0)
    residual = 0.0
    for fold in state.factored:
        answers = target.features[fold.train]
        centred = answers - answers.mean(0)
        penalty = best_penalty(fold.singular, fold.left.T @ centred, centred)
        model = Ridge(alpha=penalty).fit(state.features[fold.train].numpy(), answers.numpy())
        residual += np.square(
            target.features[fold.test].numpy() - model.predict(state.features[fold.test].numpy())
        ).sum()
    expected = 1 - residual / float(target.features.square().sum())
    assert own.held_out_r2(state, target) == pytest.approx(expected, abs=1e-10)


def test_stitching_rank_one_of_a_rank_one_relation() -> None:
    rng = np.random.default_rng(9)
    x = rng.standard_normal((80, 5))
    y = x @ rng.standard_normal((5, 1)) @ rng.standard_normal((1, 7)) + 2
    assert explorer.compute("stitching", x, y, rank=1).value == pytest.approx(1, abs=1e-10)
    assert explorer.compute("stitching", x, x @ rng.standard_normal((5, 5)), rank=1).value < 0.95


@pytest.mark.parametrize("case", ["A_tall", "C_integer_ties", "D_rotated_scaled_shifted"])
def test_stored_topology_divergence(case: str) -> None:
    stored = reference("similarity-cases.json")
    entry = stored["cases"][case]
    found = explorer.compute("rtd", np.array(entry["X"]), np.array(entry["Y"]))
    expected = stored["extra"]["rtd_h1_quantile0.9_no_subsample"][case]
    assert found.value == pytest.approx(expected["mean"], abs=1e-6)
    assert found.details["x_then_y"] == pytest.approx(expected["x_then_y"], abs=1e-6)
    assert found.details["y_then_x"] == pytest.approx(expected["y_then_x"], abs=1e-6)


def test_topology_divergence_sees_a_cut_circle() -> None:
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.stack([np.cos(turn), np.sin(turn)], 1)
    arc = np.stack([np.cos(turn / 2), np.sin(turn / 2)], 1)
    assert explorer.compute("rtd", circle, arc).value > 5 * explorer.compute("rtd", circle, 3 * rotated(circle)).value
    assert "random subset" in explorer.compute("rtd", circle, arc, max_points=40, draws=2).notes[0]


def test_topological_rsa_of_the_package_ranks_first() -> None:
    stored = reference("similarity-cases.json")
    entry = stored["cases"]["A_tall"]
    found = explorer.compute("trsa", np.array(entry["X"]), np.array(entry["Y"]), ranked=True)
    expected = stored["extra"]["trsa_geotopological_l0.2_u0.8_euclidean_pearson"]["A_tall"]["value"]
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_topological_rsa_leaves_its_input_alone_and_steps_where_thresholds_meet() -> None:
    """One package changes the caller's RDM and gives NaN at l = u."""
    x, y = tall()
    before = x.copy()
    found = explorer.compute("trsa", x, y, lower=0.5, upper=0.5)
    assert (x == before).all() and -1 <= found.value <= 1
    assert found.details["map"][0, -1] == pytest.approx(
        explorer.compute("rsa", x, y, distance="euclidean", comparison="pearson").value, abs=1e-12
    )
    with pytest.raises(ExplorerError, match="must not exceed"):
        explorer.compute("trsa", x, y, lower=0.6, upper=0.5)


def test_projection_weights_refuse_tied_correlations() -> None:
    x, y = supplement_inputs("wide")
    found = explorer.compute("pwcca", x, y)
    assert np.isnan(found.value) and "tie at 1" in found.notes[0]


def test_triplets_by_hand() -> None:
    line = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
    other = np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 1.0]])
    assert explorer.compute("triplet_agreement", line, line).value == 1
    # In one the third item is odd, in the other the first.
    assert explorer.compute("triplet_agreement", line, other).value == 0
    assert len(triplet_agreement.draw_triplets(10, 1000, 0)) == 120
    drawn = triplet_agreement.draw_triplets(50, 500, 1)
    assert len(drawn) == 500 and all(len(set(t)) == 3 for t in drawn.tolist())


def test_anchors_are_shared_and_of_every_kind() -> None:
    x, _ = tall()
    for how in ("random", "first", "kmeans", "farthest"):
        assert explorer.compute("relative_similarity", x, rotated(x), anchors=how, count=7).value == pytest.approx(1)
    # A common offset makes all cosines alike; standardising removes it.
    rng = np.random.default_rng(10)
    far, near = rng.standard_normal((60, 20)) + 8, rng.standard_normal((60, 20)) + 8
    assert explorer.compute("relative_similarity", far, near).value > 0.99
    assert explorer.compute("relative_similarity", far, near, normalized=True).value < 0.5


class TestStochasticShape:
    def moments(self) -> tuple[stochastic_shape.TrialState, stochastic_shape.TrialState]:
        r = np.random.default_rng(5)
        means = [r.standard_normal((6, 3)) for _ in range(2)]
        factors = [r.standard_normal((6, 3, 3)) for _ in range(2)]
        covariances = [f @ f.transpose(0, 2, 1) / 3 + 0.1 * np.eye(3) for f in factors]
        states = [
            stochastic_shape.from_moments(torch.from_numpy(m), torch.from_numpy(c)) for m, c in zip(means, covariances)
        ]
        return states[0], states[1]

    @pytest.mark.parametrize("alpha", [2.0, 1.0, 0.0])
    def test_stored_optimum(self, alpha: float) -> None:
        expected = reference("similarity-supplement.json")["cases"]["stochastic"][f"gaussian_stochastic_alpha{alpha}"]
        x, y = self.moments()
        found = stochastic_shape.compare(x, y, alpha, restarts=30, seed=0)
        assert found == pytest.approx(expected["value"], rel=1e-6)

    def test_stored_trials(self) -> None:
        r = np.random.default_rng(7)
        x = r.standard_normal((6, 1, 3)) * 2 + r.standard_normal((6, 40, 3)) @ np.diag([1, 0.5, 0.2])
        y = r.standard_normal((6, 1, 3)) * 2 + r.standard_normal((6, 40, 3)) @ np.diag([0.3, 0.6, 0.9])
        expected = reference("similarity-cases.json")["extra"]["stochastic_gaussian_wasserstein_alpha1"]
        found = explorer.compute("stochastic_shape", x, y, restarts=20)
        assert found.value == pytest.approx(expected["orth_group_netrep_best_of_40_restarts"], rel=1e-7)
        turned = x @ np.linalg.qr(r.standard_normal((3, 3)))[0]
        assert explorer.compute("stochastic_shape", x, turned, restarts=20).value == pytest.approx(0, abs=1e-5)

    def test_unequal_widths_and_bad_trials(self) -> None:
        r = np.random.default_rng(8)
        x, y = r.standard_normal((5, 30, 3)), r.standard_normal((5, 20, 4))
        assert np.isfinite(explorer.compute("stochastic_shape", x, y).value)
        x[2, 4, 1] = np.nan
        with pytest.raises(ExplorerError, match="30 trials.*nan"):
            explorer.compute("stochastic_shape", x, y)
