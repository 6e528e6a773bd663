"""Each page runs on each bundled set, shows what it promises, and says what is wrong in a sentence."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.app import blobs
from explorer.app.components.linked_view import Colour, View, as_bits, from_bits, pack
from explorer.datasets import load_bundled

PAGES = [
    "workspace",
    "models",
    "geometry",
    "alignment",
    "profiles",
    "dimension",
    "topology",
    "curvature",
    "methods",
    "trust",
]


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REPGEO_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


def open_page(name: str, **query: str) -> AppTest:
    # Worker processes import the script that is running when they start: the guard keeps them from showing a page.
    script = f"if __name__ == '__main__':\n    from explorer.main import main\n    main({name!r})"
    at = AppTest.from_string(script, default_timeout=60)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def wait(at: AppTest, seconds: float = 90) -> AppTest:
    """Run again until no job is in progress."""
    end = time.time() + seconds
    while time.time() < end:
        if not any(b.label == "Cancel" for b in at.button):
            assert not at.exception, at.exception
            return at
        time.sleep(0.3)
        at.run()
    raise AssertionError("a job did not end")


def figures(at: AppTest) -> list[dict[str, Any]]:
    return [json.loads(element.proto.spec) for element in at.get("plotly_chart")]


def texts(at: AppTest) -> str:
    kinds = ("markdown", "caption", "error", "warning", "info", "success", "subheader", "title")
    return "\n".join(str(e.value) for kind in kinds for e in at.get(kind))


@pytest.mark.parametrize("name", PAGES)
def test_every_page_runs_on_the_default_set(name: str) -> None:
    at = wait(open_page(name))
    assert at.title[0].value
    assert not at.error


@pytest.mark.parametrize("dataset", ["words", "rotated-car"])
@pytest.mark.parametrize("name", ["workspace", "geometry", "alignment", "dimension", "topology", "curvature"])
def test_pages_on_other_sets(name: str, dataset: str) -> None:
    at = wait(open_page(name, dataset=dataset))
    assert not at.error
    assert at.selectbox(key="dataset").value == dataset


def test_app_file_shows_the_workspace() -> None:
    at = AppTest.from_file(Path(__file__).parents[2] / "app.py", default_timeout=60).run()
    assert not at.exception
    assert at.title[0].value == "Representation Geometry Explorer"


def test_alignment_finds_the_known_signal() -> None:
    """Emoji drawings and names agree on neighbours far above chance, at the best pair of layers as well."""
    at = wait(open_page("alignment", dataset="emoji", measure="mutual_knn", rows="effnet-lite0", columns="minilm-l6"))
    assert "this is more than chance (p = 0.005" in texts(at)
    best = float(texts(at).split("mutual_knn = **")[1].split("**")[0])
    assert 0.10 < best < 0.25


def test_alignment_distances_and_uncalibrated_measures() -> None:
    at = wait(open_page("alignment", dataset="emoji", measure="procrustes", rows="minilm-l6", columns="smollm2"))
    assert "says little without chance beside it" in texts(at)


def test_topology_finds_the_loop_and_its_fading() -> None:
    early = wait(open_page("topology", dataset="rotated-car", t_layer="blocks.2"))
    assert "one clear loop" in texts(early)
    late = wait(open_page("topology", dataset="rotated-car", t_layer="blocks.15"))
    assert "one clear loop" not in texts(late)
    assert float(early.metric[0].value) > 3 * float(late.metric[0].value)
    titles = [f["layout"]["title"]["text"] for f in figures(early)]
    assert titles[0] == "Persistence diagram" and titles[2] == "Betti curves"


def test_topology_of_one_group_only() -> None:
    at = wait(open_page("topology", dataset="words", t_items="cycle", t_group="months"))
    assert "36 of 36 items" in texts(at)


def test_profiles_draw_a_panel_for_each_measure() -> None:
    at = wait(open_page("profiles"))
    (figure,) = figures(at)
    assert len(figure["data"]) == 4 * 4
    assert figure["layout"]["annotations"][0]["text"] == "Two nearest neighbours dimension (TwoNN)"


def test_curvature_has_a_graph_and_a_histogram() -> None:
    at = wait(open_page("curvature", dataset="words"))
    graph, histogram = figures(at)
    assert any(t["type"] == "scatter" and t.get("mode") == "markers" for t in graph["data"])
    assert histogram["data"][0]["type"] == "bar"
    assert int(at.metric[0].value.replace(",", "")) > 480 * 5


def test_methods_lists_the_whole_registry() -> None:
    from explorer.measures.registry import registry

    at = open_page("methods")
    labels = " ".join(e.label for e in at.expander)
    assert all(f"`{identity}`" in labels for identity in registry())


def test_links_restore_a_view_and_ignore_nonsense() -> None:
    at = wait(
        open_page("geometry", dataset="words", views="3", v1_model="smollm2", v1_layer="layers.7", colour="language")
    )
    assert at.selectbox(key="v1_model").value == "smollm2"
    assert at.selectbox(key="v1_layer").value == "layers.7"
    assert at.selectbox(key="colour").value == "language"
    assert len([s for s in at.selectbox if s.label == "Layer"]) == 3
    odd = wait(open_page("geometry", dataset="no such set", v1_model="evil", colour="<script>"))
    assert odd.selectbox(key="dataset").value == "emoji"


def test_geometry_shows_the_selected_items() -> None:
    dataset = load_bundled("emoji")
    at = AppTest.from_string("from explorer.main import main\nmain('geometry')", default_timeout=60)
    bits = as_bits(np.array([0, 5, 9]), len(dataset))
    at.session_state[f"geometry-{dataset.fingerprint}"] = {
        "selection": {"bits": bits, "n": 3, "view": 0, "dataset": dataset.fingerprint}
    }
    at.run()
    assert "3 selected items" in texts(at)
    assert at.dataframe[0].value["label"].to_list() == [dataset.labels[i] for i in (0, 5, 9)]


def test_geometry_colours_by_a_measure_of_each_item() -> None:
    at = wait(open_page("geometry", dataset="words", colour="local dimension (mle)"))
    assert not at.error


def test_extraction_runs_and_the_result_is_offered(own_store: Path) -> None:
    at = open_page("models")
    next(b for b in at.button if b.label == "Extract").click().run()
    at = wait(at)
    assert [m for m in ("mlp", "cnn", "vit") if f"digits/{m}-seed0: " in texts(at)] == ["mlp", "cnn", "vit"]
    assert len(list(own_store.rglob("*.safetensors"))) == 3
    digits = wait(open_page("geometry", dataset="digits"))
    assert digits.selectbox(key="dataset").value == "digits"


def test_a_wrong_layer_is_said_and_nothing_is_written(own_store: Path) -> None:
    at = open_page("models")
    at.text_input(key="run_layers").set_value("nonsense")
    next(b for b in at.button if b.label == "Extract").click().run()
    at = wait(at)
    assert "has no layer 'nonsense'; it has hidden1" in at.error[0].value
    assert not list(own_store.rglob("*.safetensors"))


def test_umap_replaces_pca_when_it_is_ready() -> None:
    at = open_page("geometry", dataset="rotated-car", projection="UMAP")
    assert any(b.label == "Cancel" for b in at.button), "PCA is shown while UMAP is computed"
    at = wait(at)
    assert not at.error


@pytest.mark.zoo
def test_own_texts_through_a_pretrained_model(own_store: Path) -> None:
    from explorer.models.catalogue import find_entry

    if not find_entry("minilm-l6").available:  # type: ignore[union-attr]
        pytest.skip("the package of minilm-l6 is not installed (data/requirements-zoo.txt)")
    at = open_page("models")
    at.text_area(key="texts_typed").set_value("\n".join(f"sentence number {i}" for i in range(12)))
    next(b for b in at.button if b.label == "Keep these items").click().run()
    assert "12 items are kept as 'my texts'" in texts(at)
    assert at.selectbox(key="run_items").value == "my texts"
    assert at.multiselect[0].value == ["minilm-l6"]
    next(b for b in at.button if b.label == "Extract").click().run()
    at = wait(at)
    assert "minilm-l6: 7 layers are in your store" in texts(at)
    shown = wait(open_page("geometry", dataset="my texts"))
    assert shown.selectbox(key="v1_layer").value == "layers.5"
    assert not shown.error


def test_changing_a_parameter_leaves_the_job_before() -> None:
    from explorer.app import work

    at = wait(open_page("curvature", dataset="words"))
    at.number_input(key="c_k").set_value(45).run()
    slow = next(j for j in work.lane("measures").jobs.values() if j.arguments.get("params", {}).get("k") == 45)
    at.number_input(key="c_k").set_value(5).run()
    at = wait(at)
    assert slow.state in ("cancelled", "done")


def test_bits_round_trip_and_extra_bits_are_dropped() -> None:
    index = np.array([0, 7, 8, 441])
    assert from_bits(as_bits(index, 500), 500).tolist() == index.tolist()
    assert from_bits(as_bits(index, 500), 440).tolist() == [0, 7, 8]


def test_payload_layout_and_escaped_titles() -> None:
    points = np.arange(6, dtype=float).reshape(3, 2)
    colour = Colour("category", "kind", np.array([0, 1, 0]), ("a", "b"))
    raw = pack("d", [View("<b>x</b>", "PCA", points)], colour, 400)
    length = int.from_bytes(raw[:4], "little")
    head = json.loads(raw[4 : 4 + length])
    assert head["views"][0]["title"] == "&lt;b&gt;x&lt;/b&gt;"
    start = -(-(4 + length) // 8) * 8
    assert np.frombuffer(raw, "<f4", 3, start).tolist() == [0, 2, 4]
    assert [c["name"] for c in head["columns"]] == ["x0", "y0", "color"]


def test_blobs_are_bounded_and_keyed_by_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "LIMIT", 1000)
    monkeypatch.setattr(blobs, "_items", type(blobs._items)())
    first = blobs.put(b"a" * 600)
    assert blobs.put(b"a" * 600) == first
    second = blobs.put(b"b" * 600)
    assert blobs.get(first) is None and blobs.get(second) == b"b" * 600


SECTIONS = ["Layers", "All models", "Items", "Maps", "Model space", "RDMs"]


@pytest.mark.parametrize("section", SECTIONS[1:])
def test_alignment_sections_on_one_model_without_groups(section: str) -> None:
    """The smallest set: one model, 48 items, no categories."""
    at = wait(open_page("alignment", dataset="rotated-car", section=section))
    assert not at.error and not at.exception
    assert f"'section': '{section}'" in str(dict(at.query_params)) or at.query_params["section"] == [section]


def test_items_that_disagree_are_selected_for_every_page() -> None:
    at = wait(open_page("alignment", dataset="rotated-car", section="Items"))
    assert "value = 0." in texts(at)
    next(b for b in at.button if b.label == "Select the 20 that disagree most").click().run()
    (chosen,) = at.session_state["selection"].values()
    assert len(chosen) == 20
    assert "20 selected items agree by" in texts(at)
    told = texts(at).split("20 selected items agree by **")[1]
    inside, outside = float(told.split("**")[0]), float(told.split("the others ")[1].split()[0].rstrip("."))
    assert inside < outside


def test_maps_are_judged_and_a_universe_is_built() -> None:
    at = wait(open_page("alignment", dataset="rotated-car", section="Maps"))
    table = at.dataframe[0].value
    assert len(table) == 6 and table["map"].iloc[0] == "Orthogonal map"
    # Layers of different widths: an orthogonal map leaves directions out, and still changes distances least.
    assert table["distance change"].iloc[0] < table["distance change"].iloc[1] and (table["MRR →"] > 0.1).all()
    assert "with the correction" in texts(at)


def test_rdms_and_a_given_one() -> None:
    at = wait(open_page("alignment", dataset="words", section="RDMs", rdm_distance="cosine"))
    heat, curve = figures(at)
    assert [t["type"] for t in heat["data"]] == ["heatmap"] * 3
    assert "more than chance (p = 0.005)" in texts(at)
    assert len(curve["data"]) == len({t["name"] for t in curve["data"]})


def test_a_convention_sets_the_parameters_and_says_so() -> None:
    at = wait(
        open_page(
            "alignment", dataset="rotated-car", measure="cka", cka_convention="Kornblith 2019", rows="effnet-lite0"
        )
    )
    assert "estimator = biased" in texts(at)
    assert "far above 0 when d > n" in texts(at)


def test_chance_within_groups_is_said() -> None:
    at = wait(open_page("alignment", dataset="words", measure="mutual_knn", rows="minilm-l6", columns="smollm2"))
    at.selectbox(key="within").set_value("category").run()
    at = wait(at)
    assert "permuted within = category" in texts(at)
    at.toggle(key="interval_on").set_value(True).run()
    at = wait(at)
    metric = next(m for m in at.metric if "interval" in m.label)
    low, high = (float(v) for v in metric.value.split("[")[1].rstrip("]").split(","))
    assert low < float(metric.value.split()[0]) < high


def test_health_names_what_is_grave() -> None:
    at = wait(open_page("alignment", dataset="words", measure="mutual_knn", rows="smollm2", columns="smollm2"))
    at.toggle(key="health_on").set_value(True).run()
    at = wait(at)
    assert "✖ **variance in one feature**" in texts(at)


def test_trust_recomputes_everything() -> None:
    from explorer.measures.registry import registry

    at = wait(open_page("trust"))
    agree, of = (int(v) for v in at.metric[0].value.split(" of "))
    assert agree == of > 600
    assert at.metric[1].value == f"{len(registry())} of {len(registry())}"
    at.selectbox(key="trust_measure").set_value("svcca").run()
    assert set(at.dataframe[0].value["measure"]) == {"svcca"}
    assert "ReSi" in set(at.dataframe[1].value["package"])
