"""The command line: it works end to end, and bad input is one sentence on stderr with exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from explorer.cli import main


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_extract_import_sweep(tmp_path: Path) -> None:
    store = tmp_path / "s"
    done = run(
        "extract",
        "--model",
        "digits/mlp-seed0",
        "--dataset",
        "digits",
        "--layers",
        "hidden*",
        "--pool",
        "mean",
        "--store",
        store,
    )
    assert done.exit_code == 0, done.output
    assert "3 layers of digits/mlp-seed0 on 1797 items" in done.output
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).standard_normal((1797, 5)))
    assert run("import", tmp_path / "mine.npy", "--store", store, "--dataset", "digits").exit_code == 0
    out = tmp_path / "r.parquet"
    done = run("sweep", "--store", store, "--measures", "cka,twonn", "--out", out)
    assert done.exit_code == 0, done.output
    frame = pl.read_parquet(out)
    assert frame.filter(pl.col("measure") == "cka").height == 10
    assert frame.filter(pl.col("measure") == "twonn").height == 4
    assert frame["value"].is_finite().all()
    strangers = frame.filter((pl.col("x_model") == "mine") != (pl.col("y_model") == "mine"))
    assert strangers["value"].abs().max() < 0.02


def test_a_hugging_face_folder_on_a_text_file(tmp_path: Path) -> None:
    from tests.models.test_text_models import tiny, tokenizer

    tiny("bert").save_pretrained(tmp_path / "model")
    tokenizer("right").save_pretrained(tmp_path / "model")
    (tmp_path / "items.txt").write_text("a cat\nthe dog sat\non the mat\n")
    done = run("extract", "--model", tmp_path / "model", "--dataset", tmp_path / "items.txt", "--store", tmp_path / "s")
    assert done.exit_code == 0, done.output
    assert "4 layers of" in done.output and "3 items of items" in done.output


def test_measures_lists_the_catalogue() -> None:
    listed = run("measures").output
    assert "mutual_knn" in listed and "estimator=debiased" in listed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["extract", "--model", "nobody/none", "--dataset", "digits", "--store", "s"], "hf download nobody/none"),
        (
            ["extract", "--model", "digits/mlp-seed0", "--dataset", "nowhere", "--store", "s"],
            "no file, folder or bundled",
        ),
        (
            ["extract", "--model", "digits/mlp-seed0", "--dataset", "digits", "--layers", "x", "--store", "s"],
            "no layer 'x'",
        ),
        (["extract", "--model", "digits/mlp-seed0", "--dataset", "words", "--store", "s"], "no image items"),
        (["import", "gone.npy", "--store", "s"], "cannot be opened"),
        (["sweep", "--store", "gone", "--measures", "cka", "--out", "o"], "no store at"),
        (["sweep", "--store", ".", "--measures", "nonsense", "--out", "o"], "holds no representations"),
        (["sweep", "--store", ".", "--measures", " , ", "--out", "o"], "names no measure"),
    ],
)
def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(*arguments)
    assert found.exit_code == 2
    assert words in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_mismatched_items_on_import(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    found = run("import", tmp_path / "a.npy", "--store", tmp_path / "s", "--dataset", "digits")
    assert found.exit_code == 2
    assert "a.npy has 3 items but dataset digits has 1797" in found.stderr
    assert not (tmp_path / "s").exists()


def test_module_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "explorer.cli", "measures"], capture_output=True, text=True, check=True
    )
    assert "ollivier_ricci" in done.stdout


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys, explorer; print([m for m in ('torch', 'streamlit', 'umap', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    code = "import sys, explorer; explorer.compute; print([m for m in ('streamlit', 'umap', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
