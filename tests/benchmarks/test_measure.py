"""The tables of retrieval from one command, over small sets and an encoder of counted words."""

import csv
import importlib
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.evaluation.conftest import QRELS, QUESTIONS, TEXTS, WriteDataset, write_dataset

__all__ = ["write_dataset"]

GERMAN = {
    "flood": ("Hochwasserplan", "Wer am Deich wohnt, verlässt sein Haus, sobald der Pegel 4,5 Meter überschreitet."),
    "heat": ("Hitzeplan", "Die rote Stufe beginnt bei einer gefühlten Temperatur von mehr als 38 Grad."),
    "drought": ("Dürreplan", "Unter 40 Prozent Füllstand der Talsperren darf der Rasen nicht bewässert werden."),
    "quake": ("", "Nach einem Erdbeben wird jede Schule geprüft, bevor die Kinder wieder hineindürfen."),
}
GERMAN_QUESTIONS = {
    "q1": "Wann verlässt wer am Deich wohnt sein Haus?",
    "q2": "Wann beginnt die rote Stufe?",
    "q3": "Wann darf der Rasen nicht bewässert werden?",
}

Measure = Callable[..., list[str]]
Table = list[dict[str, str]]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return the command; what it writes goes to a folder "results"."""
    module = importlib.import_module("benchmarks.measure")
    monkeypatch.setattr("benchmarks.report.RESULTS", tmp_path / "results")
    monkeypatch.setattr("benchmarks.retrieval.measure_sets.vectors_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(module, "load_encoder", lambda *_: CountingEmbedder())
    return module


@pytest.fixture
def shared(tmp_path: Path, write_dataset: WriteDataset) -> Path:
    """Return a folder of the public sets.

    "plans" in English, "plaene" in German, and "broken" with an unknown document.
    """
    folder = tmp_path / "shared" / "data" / "benchmarks"
    folder.mkdir(parents=True)
    write_dataset("plans", split="dev").rename(folder / "plans")
    write_dataset("plaene", split="dev", texts=GERMAN, questions=GERMAN_QUESTIONS).rename(folder / "plaene")
    write_dataset("broken", split="dev", qrels={**QRELS, ("q1", "storm"): 1}).rename(folder / "broken")
    return tmp_path / "shared"


def markdown(path: Path) -> list[list[str]]:
    """Return the cells of a table, its columns first."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if set(row) != {"---"}]


def test_every_set_has_its_figures_beside_what_is_to_be_reached(
    measure: ModuleType, shared: Path, tmp_path: Path
) -> None:
    row = importlib.import_module("benchmarks.retrieval.measure_sets").MeasuredSet
    sets = [row("English", ("plans",), 0.9, 1.5), row("some of it", ("plans",), kinds=("q1", "q3"))]
    assert measure.run_parts(["retrieval"], sets, "dev", shared) == []
    columns, whole, part = markdown(tmp_path / "results" / "retrieval.md")
    assert len(columns) == len(whole) == len(part)
    assert whole[:5] == ["English", "en", "4", "3", "1.000 [1.000, 1.000]"]
    assert whole[7:11] == ["0.9", "yes", "1.5", "no"]
    assert part[3] == "2"
    assert part[7:11] == ["", "", "", ""]
    said = (tmp_path / "results" / "retrieval.md").read_text(encoding="utf-8")
    assert "Python 3" in said
    assert "Only some of the sets" in said
    with (tmp_path / "results" / "retrieval.csv").open(encoding="utf-8") as file:
        figures = list(csv.DictReader(file))
    found = {(one["set"], one["configuration"], one["metric"]): one for one in figures}
    assert len(found) == len(figures) == 2 * 2 * 5
    assert found["English", "default", "ndcg@10"]["value"] == "1"
    assert found["English", "paper", "ndcg@10"]["p"] == ""
    assert found["English", "default", "map"]["p"] != ""


def test_questions_in_another_language_and_corpora_in_one_index(
    measure: ModuleType, shared: Path, tmp_path: Path
) -> None:
    row = importlib.import_module("benchmarks.retrieval.measure_sets").MeasuredSet
    sets = [
        row("German on English", ("plans",), asked_by="plaene"),
        row("English", ("plans",)),
        row("both", ("plans", "plaene")),
    ]
    assert measure.run_parts(["retrieval"], sets, "dev", shared) == []
    _, across, within, both = markdown(tmp_path / "results" / "retrieval.md")
    assert across[1:4] == within[1:4] == ["en", "4", "3"]
    assert float(across[4][:5]) < float(within[4][:5])
    # Seconds of one index, since both ask the same.
    assert across[-2:] == within[-2:]
    assert both[1:4] == ["mixed", "8", "3"]


def test_a_broken_set_is_said_in_its_place_and_the_others_are_measured(
    measure: ModuleType, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = importlib.import_module("benchmarks.retrieval.measure_sets").MeasuredSet
    sets = [row("broken", ("broken",), 0.9, 0.95), row("missing", ("nothing",)), row("English", ("plans",))]
    broken = measure.run_parts(["retrieval", "steps"], sets, "dev", shared)
    assert [one.partition(":")[0] for one in broken] == ["broken", "missing"]
    assert "no document has the id 'storm'" in broken[0]
    for name in ("retrieval", "steps"):
        _, first, second, third = markdown(tmp_path / "results" / f"{name}.md")
        assert first[0] == "broken"
        assert first[1].startswith("BROKE OFF")
        assert "".join(first[2:]) == ""
        assert second[1].startswith("BROKE OFF")
        assert "1.000" in "".join(third)
    assert "BROKE OFF: broken" in capsys.readouterr().err


def test_every_step_has_its_difference_from_the_default(measure: ModuleType, shared: Path, tmp_path: Path) -> None:
    row = importlib.import_module("benchmarks.retrieval.measure_sets").MeasuredSet
    assert measure.run_parts(["steps"], [row("English", ("plans",))], "dev", shared) == []
    columns, figures = markdown(tmp_path / "results" / "steps.md")
    assert columns[:2] == ["set", "default"]
    assert {"paper", "bm25", "bm25-lucene", "dense", "sparse", "rrf", "no-rerank", "mmr"} <= set(columns)
    assert dict(zip(columns, figures, strict=True))["no-index"] == "+0.000"


def test_citations_are_counted_by_kind_of_question(
    measure: ModuleType, shared: Path, tmp_path: Path, write_dataset: WriteDataset
) -> None:
    questions = {"section-1": QUESTIONS["q1"], "policy-1": QUESTIONS["q2"]}
    qrels = {("section-1", "flood"): 1, ("policy-1", "heat"): 1, ("policy-1", "quake"): 1}
    folder = write_dataset("tr_kmk_statute", split="dev", texts=TEXTS, questions=questions, qrels=qrels)
    folder.rename(shared / "data" / "benchmarks" / folder.name)
    whole = importlib.import_module("benchmarks.retrieval.measure_sets").MeasuredSet("all", ("tr_kmk_statute",))
    sets = [whole, replace(whole, name="policy", kinds=("policy-",)), replace(whole, name="plans", corpora=("plans",))]
    assert measure.run_parts(["statutes"], sets, "dev", shared) == []
    rows = markdown(tmp_path / "results" / "statutes.md")[1:]
    assert [row[:3] for row in rows] == [
        ["all", "default", "2"],
        ["all", "paper", "2"],
        ["policy", "default", "1"],
        ["policy", "paper", "1"],
    ]
    assert rows[0][3].startswith("1.000 [0.342")
    assert rows[2][4].startswith(("0.000 [0.000, 0.793", "1.000 [0.207"))


def test_a_part_that_breaks_off_does_not_stop_the_others(
    measure: ModuleType, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "command_of", lambda part, *_: ["false"] if part == "sections" else ["true"])
    # There is no scifact here.
    broken = measure.run_parts(["published", "sections", "topics"], [], "dev", shared)
    assert [one.partition(":")[0] for one in broken] == ["published", "sections"]
    assert not (tmp_path / "results" / "published.md").exists()


def test_published_bm25_is_compared_with_the_published_figure(
    measure: ModuleType, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "PUBLISHED_NDCG", {"plans": 0.7})
    assert measure.run_parts(["published"], [], "dev", shared) == []
    _, row = markdown(tmp_path / "results" / "published.md")
    assert row[:6] == ["plans", "3", "1.000 [1.000, 1.000]", "0.700", "+0.300", "no"]


def test_every_part_with_a_command_names_a_module_that_there_is(measure: ModuleType, shared: Path) -> None:
    for part in measure.COMMANDS:
        _, option, module, *_ = measure.command_of(part, "dev", shared)
        assert option == "-m"
        assert find_spec(module) is not None
