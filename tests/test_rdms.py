"""Given RDMs: reading, checking, order, ceiling, and layers beside them."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import explorer
from explorer.errors import ExplorerError
from explorer.formats.rdms import read_rdms
from explorer.rdms import checked_rdms, clustered_order, compare_with_layers, layer_rdm, noise_ceiling, ranked_rdm


def points(n: int = 12, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, 4))


RDM = squareform(pdist(points()))


class TestReading:
    def test_csv_with_and_without_labels(self, tmp_path: Path) -> None:
        plain, labelled = tmp_path / "a.csv", tmp_path / "b.tsv"
        np.savetxt(plain, RDM, delimiter=",")
        names = [f"item {i}" for i in range(12)]
        rows = ["\t".join(["", *names])] + ["\t".join([n, *map(str, r)]) for n, r in zip(names, RDM)]
        labelled.write_text("\n".join(rows))
        for file in (plain, labelled):
            assert read_rdms(file) == pytest.approx(RDM[None])

    def test_npy_square_stack_and_condensed(self, tmp_path: Path) -> None:
        file = tmp_path / "r.npy"
        for values, count in ((RDM, 1), (np.stack([RDM, 2 * RDM]), 2), (squareform(RDM), 1)):
            np.save(file, values)
            found = read_rdms(file)
            assert found.shape == (count, 12, 12) and found[0] == pytest.approx(RDM)

    def test_hdf5_as_rsatoolbox_writes_it(self, tmp_path: Path) -> None:
        file = tmp_path / "r.hdf5"
        with h5py.File(file, "w") as opened:
            opened.attrs["rsatoolbox_version"] = "0.3.2"
            opened["dissimilarities"] = np.stack([squareform(RDM), 3 * squareform(RDM)])
            opened.create_group("rdm_descriptors")["index"] = np.arange(2)
            opened.attrs["dissimilarity_measure"] = "euclidean"
        assert read_rdms(file) == pytest.approx(np.stack([RDM, 3 * RDM]))

    def test_similarities_are_turned_round(self) -> None:
        found = checked_rdms(10 - RDM)[0]
        assert found == pytest.approx(RDM, abs=1e-12)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "empty"),
            ("0,1,2\n1,0,x\n2,3,0", "'x' at row 1, column 2"),
            ("0,1,2\n1,0\n2,3,0", "row 1 has 2 numbers"),
            ("0,1,2\n1,0,3\n2,4,0", "not symmetric"),
            ("0,1,nan\n1,0,3\nnan,3,0", "nan at row 0, column 2"),
            ("0,1\n1,0", "three or more items"),
        ],
    )
    def test_bad_tables(self, tmp_path: Path, text: str, words: str) -> None:
        file = tmp_path / "r.csv"
        file.write_text(text)
        with pytest.raises(ExplorerError, match=words):
            read_rdms(file)

    def test_bad_files(self, tmp_path: Path) -> None:
        file = tmp_path / "r.npy"
        np.save(file, np.array([{}, 1], dtype=object), allow_pickle=True)
        with pytest.raises(ExplorerError, match="pickled objects"):
            read_rdms(file)
        np.save(file, np.arange(7.0))
        with pytest.raises(ExplorerError, match="rows of 7 numbers"):
            read_rdms(file)
        other = tmp_path / "r.h5"
        with h5py.File(other, "w") as opened:
            opened["weights"] = np.ones(3)
        with pytest.raises(ExplorerError, match="holds weights, but none of"):
            read_rdms(other)
        with pytest.raises(ExplorerError, match="cannot be opened"):
            read_rdms(tmp_path / "missing.csv")
        with pytest.raises(ExplorerError, match="type <U"):
            checked_rdms(np.array([["a", "b"]]))

    @settings(max_examples=60, deadline=None)
    @given(
        data=st.binary(max_size=300), head=st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"\x89HDF\r\n\x1a\n", b"0,1\n"])
    )
    def test_any_bytes_give_a_sentence(
        self, tmp_path_factory: pytest.TempPathFactory, data: bytes, head: bytes
    ) -> None:
        file = tmp_path_factory.mktemp("fuzz") / "r.bin"
        file.write_bytes(head + data)
        try:
            read_rdms(file)
        except ExplorerError as error:
            assert str(error)


def test_the_rdm_of_a_layer_is_that_of_scipy() -> None:
    x = points(9)
    assert layer_rdm(x) == pytest.approx(squareform(pdist(x, "correlation")), abs=1e-6)
    assert layer_rdm(x, "euclidean") == pytest.approx(squareform(pdist(x)), abs=1e-6)


def test_ranks_reach_from_zero_to_one() -> None:
    shown = ranked_rdm(RDM)
    off = shown[~np.eye(12, dtype=bool)]
    assert off.min() == 0 and off.max() == 1 and (shown == shown.T).all()


def test_clusters_stand_together() -> None:
    rng = np.random.default_rng(1)
    label = rng.permutation(np.repeat([0, 1, 2], 8))
    x = 10 * rng.standard_normal((3, 5))[label] + rng.standard_normal((24, 5))
    ordered = label[clustered_order(squareform(pdist(x)))]
    assert (np.diff(ordered) != 0).sum() == 2


def test_layers_against_a_given_rdm_and_its_chance() -> None:
    x = points(30)
    layers = [np.random.default_rng(2).standard_normal((30, 4)), x + 0.3 * points(30, 3), x]
    found = compare_with_layers(squareform(pdist(x, "correlation"))[None], layers, permutations=99)
    assert found.matrix.shape == (3, 1)
    assert found.matrix[2, 0] == pytest.approx(1, abs=1e-6)
    assert found.matrix[0, 0] < found.matrix[1, 0] < 1
    assert found.cell_p[0, 0] > 0.05 and found.cell_p[1, 0] == 0.01
    direct = explorer.compute("rsa", layers[1], x).value
    assert found.matrix[1, 0] == pytest.approx(direct, abs=1e-6)
    with pytest.raises(ExplorerError, match="of 12 items and the layers hold 30"):
        compare_with_layers(RDM[None], layers)


def test_noise_ceiling_of_known_noise() -> None:
    rng = np.random.default_rng(4)
    truth = squareform(pdist(points(25)))
    noise = [squareform(rng.standard_normal(300)) for _ in range(8)]
    given_rdms = np.stack([truth + 0.8 * (n + n.T) / 2 for n in noise])
    lower, upper = noise_ceiling(given_rdms, "pearson")
    pairs = np.triu_indices(25, 1)
    best = np.mean([np.corrcoef(truth[pairs], g[pairs])[0, 1] for g in given_rdms])
    assert lower < best < upper and upper - lower < 0.2
    same = noise_ceiling(np.stack([truth, truth]), "spearman")
    assert same == pytest.approx((1, 1))
    with pytest.raises(ExplorerError, match="two or more subjects"):
        noise_ceiling(given_rdms[:1])
