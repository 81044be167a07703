"""Ways of chunking and searching side by side, over real stores."""

import hashlib
import json
from pathlib import Path

import altair
import pytest

from rag_engine.config import read_config
from rag_engine.errors import InputError
from rag_engine.evaluation.configurations import (
    Configuration,
    chunking_strategies,
    configurations,
    configurations_of,
)
from rag_engine.evaluation.gold import GoldQuestion, Quote
from rag_engine.evaluation.passage_metrics import METRICS
from rag_engine.evaluation.report import ReportRow, compare, csv_table, markdown_table, write_report
from rag_engine.evaluation.run_passages import PassageFigures, run_passages, subsets
from rag_engine.types.document import Block, Document, ExtractedText, Line, Metadata
from tests.conftest import FLOOD_EN, HEAT_IT
from tests.rag_engine.conftest import CountingEmbedder

QUESTIONS = (
    GoldQuestion(
        "q1",
        "When do residents near the dyke leave their homes?",
        "en",
        (Quote("flood.md", 1, "Residents within 300 metres of the dyke leave their homes"),),
        False,
        "report",
        "dev",
    ),
    GoldQuestion(
        "q2",
        "Quando scatta il livello rosso?",
        "it",
        (Quote("heat.md", 1, "Il livello rosso scatta quando la temperatura percepita supera i 38 gradi"),),
        True,
        "statute",
        "dev",
    ),
)


def document(file: str, text: str, language: str) -> Document:
    lines = (Line(0, len(text), 1, None),)
    extracted = ExtractedText(text, 1, lines, (Block(0, len(text), 1, "text"),), "text/plain", file)
    return Document(file, file, hashlib.sha256(text.encode()).hexdigest(), Metadata(file, language), extracted)


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> tuple[PassageFigures, ...]:
    chosen = [Configuration(name, name, {"top_k": 2}, {"strategy": name}) for name in ("semantic", "newline")]
    documents = [document("flood.md", FLOOD_EN, "en"), document("heat.md", HEAT_IT, "it")]
    config = read_config(tmp_path_factory.mktemp("figures") / "workspace")
    cache = tmp_path_factory.mktemp("cache")
    return run_passages(QUESTIONS, documents, chosen, config, CountingEmbedder(), cache=cache)


@pytest.fixture(scope="module")
def rows(figures: tuple[PassageFigures, ...]) -> tuple[ReportRow, ...]:
    return compare([one.measured for one in figures], "semantic", subsets(QUESTIONS))


def test_the_passages_that_answer_are_found(figures: tuple[PassageFigures, ...]) -> None:
    semantic = figures[0]
    assert semantic.measured.metrics["recall"].tolist() == [1.0, 1.0]
    assert semantic.measured.metrics["mrr"].tolist() == [1.0, 1.0]
    assert 0 < semantic.measured.metrics["precision"].mean() < 1
    assert (semantic.parents >= 2, semantic.children >= 2) == (True, True)


def test_there_is_a_row_for_every_kind_and_for_answers_in_another_language(rows: tuple[ReportRow, ...]) -> None:
    assert [(row.name, row.group, row.questions) for row in rows[::2]] == [
        ("semantic", "all", 2),
        ("semantic", "cross-lingual", 1),
        ("semantic", "report", 1),
        ("semantic", "statute", 1),
    ]
    assert all(bool(row.versus) == (row.name != "semantic") for row in rows)


def test_the_tables_hold_every_figure_with_its_interval(rows: tuple[ReportRow, ...]) -> None:
    table = markdown_table(rows, METRICS, ("recall",))
    assert table.splitlines()[0].endswith("| tokens | recall against semantic |")
    assert len(table.splitlines()) == 2 + len(rows)
    lines = csv_table(rows).splitlines()
    assert len(lines) == 1 + len(rows) * len(METRICS)
    assert {line.count(",") for line in lines} == {10}


def test_the_charts_are_ones_that_a_page_can_draw(rows: tuple[ReportRow, ...], tmp_path: Path) -> None:
    written = write_report(tmp_path, "chunking", "Chunking", rows, METRICS, ("recall",), ["A note."], ("f1", "ndcg"))
    charts = [path for path in written if path.name.endswith(".vl.json")]
    assert {path.name for path in charts} == {"chunking.f1.vl.json", "chunking.ndcg.vl.json"}
    for path in charts:
        drawn = json.loads(path.read_text())
        altair.Chart.from_dict(drawn)
        assert len(drawn["spec"]["layer"]) == 2
        assert {value["questions"] for value in drawn["data"]["values"]} == {"all", "cross-lingual"}
    said = (tmp_path / "chunking.md").read_text()
    assert "- A note." in said
    assert "Python 3" in said


def test_a_baseline_that_was_not_measured_is_named(figures: tuple[PassageFigures, ...]) -> None:
    with pytest.raises(InputError, match="'section' was not measured"):
        compare([one.measured for one in figures], "section")


def test_the_ablation_has_the_published_eleven_the_factorial_and_the_index_signal() -> None:
    named = [one.name for one in configurations()]
    assert len(named) == len(set(named))
    assert len(configurations_of("published")) == 11
    assert {"default", "fixed both", "section dense", "section both provenance mmr rerank"} <= set(named)
    assert "no index signal" in named


def test_an_unknown_strategy_names_the_known_ones() -> None:
    assert "semantic" in chunking_strategies([])
    with pytest.raises(InputError, match=r"'topics'.*semantic"):
        chunking_strategies(["topics"])
