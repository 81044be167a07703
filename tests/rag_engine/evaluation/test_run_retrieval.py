"""A whole measurement over real stores, with an encoder of counted words."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.retrieval.run_files import read_run
from rag_engine.config import read_config
from rag_engine.errors import InputError
from rag_engine.evaluation.configurations import CONFIGURATIONS, Configuration, chosen_of
from rag_engine.evaluation.datasets import Dataset, Query, read_dataset
from rag_engine.evaluation.metric import METRICS, best_of_documents, measure
from rag_engine.evaluation.run_retrieval import RetrievalReport, run_retrieval
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.evaluation.conftest import TEXTS, WriteDataset


def dataset_of(folder: Path) -> Dataset:
    return read_dataset(folder, "all", identify=lambda _: "en")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands in for the system's temporary one."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def run(dataset: Dataset, tmp_path: Path, *names: str) -> RetrievalReport:
    config = read_config(tmp_path / "workspace")
    chosen = chosen_of(CONFIGURATIONS, names)
    cache, runs = tmp_path / "cache", tmp_path / "runs"
    return run_retrieval([dataset], chosen, config, CountingEmbedder(), cache=cache, runs=runs)[0]


def test_the_configurations_find_the_plans_and_are_compared_with_the_first(
    write_dataset: WriteDataset, tmp_path: Path
) -> None:
    report = run(dataset_of(write_dataset()), tmp_path, "bm25", "paper", "default").to_dict()
    assert (report["documents"], report["queries"], report["language"]) == (4, 3, "en")
    assert [one["name"] for one in report["configs"]] == ["bm25", "paper", "default"]
    best = report["configs"][2]
    assert best["ndcg@10"] == best["recall@10"] == best["mrr@10"] == best["map"] == 1.0
    assert best["versus"]["name"] == "bm25"
    assert "versus" not in report["configs"][0]
    for one in report["configs"]:
        for metric in METRICS:
            low, high = one[f"{metric}_interval"]
            assert low <= one[metric] <= high


def test_the_run_files_hold_the_rankings(write_dataset: WriteDataset, tmp_path: Path) -> None:
    run(dataset_of(write_dataset()), tmp_path, "default")
    ranked = read_run(tmp_path / "runs" / "plans.default.run")
    assert [ranking[0][0] for ranking in ranked.values()] == ["flood", "heat", "drought"]
    for ranking in ranked.values():
        assert len({document for document, _ in ranking}) == len(ranking)
        assert [score for _, score in ranking] == sorted((score for _, score in ranking), reverse=True)


def test_nothing_is_left_behind_and_the_workspace_is_not_touched(
    write_dataset: WriteDataset, tmp_path: Path, temporary: Path
) -> None:
    run(dataset_of(write_dataset()), tmp_path, "default")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "workspace").exists()


def test_nothing_is_left_behind_by_a_run_that_breaks_off(
    write_dataset: WriteDataset, tmp_path: Path, temporary: Path
) -> None:
    def stop(done: int, total: int, now: str) -> None:
        if now == "default":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_retrieval(
            [dataset_of(write_dataset())],
            chosen_of(CONFIGURATIONS, ["default"]),
            read_config(tmp_path / "workspace"),
            CountingEmbedder(),
            cache=tmp_path / "cache",
            progress=stop,
        )
    assert list(temporary.iterdir()) == []


def test_a_second_run_encodes_no_document(write_dataset: WriteDataset, tmp_path: Path) -> None:
    first = run(dataset_of(write_dataset()), tmp_path, "default")
    second = run(dataset_of(write_dataset()), tmp_path, "default")
    assert first.encode_seconds > 0
    assert second.encode_seconds == 0
    assert second.to_dict()["configs"][0]["ndcg@10"] == first.to_dict()["configs"][0]["ndcg@10"]


def test_documents_of_the_same_text_and_of_none_do_not_stop_a_run(write_dataset: WriteDataset, tmp_path: Path) -> None:
    texts = {**TEXTS, "twin": TEXTS["flood"], "blank": ("", "")}
    report = run(dataset_of(write_dataset(texts=texts)), tmp_path, "default").to_dict()
    assert report["documents"] == 6
    assert "blank" in report["warnings"][0]
    ranked = [document for document, _ in read_run(tmp_path / "runs" / "plans.default.run")["q1"]]
    assert set(ranked[:2]) == {"flood", "twin"}


def test_an_unknown_configuration_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'papr'.*default, paper, bm25"):
        chosen_of(CONFIGURATIONS, ["default", "papr"])


def test_a_setting_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'mine' cannot be applied: RetrievalConfig has no setting colour"):
        Configuration("mine", "", {"colour": "red"}).applied(read_config(tmp_path))


def test_a_document_stands_where_its_best_child_does() -> None:
    assert best_of_documents([("b", 0.9), ("a", 0.8), ("b", 0.7)]) == [("b", 0.9), ("a", 0.8)]


def test_rankings_of_many_questions_are_not_held_at_once(write_dataset: WriteDataset) -> None:
    small = dataset_of(write_dataset())
    queries = tuple(Query(f"q{number}", "x") for number in range(20_000))
    many = Dataset("many", "all", small.documents, queries, {query.id: {"flood": 1} for query in queries}, "en")
    measured = measure("fixed", many, lambda _: [("heat", 2.0), ("flood", 1.0)])
    assert len(measured.milliseconds) == 20_000
    assert np.allclose(measured.metrics["mrr@10"], 0.5)


def test_several_sets_of_questions_share_one_index(write_dataset: WriteDataset, tmp_path: Path) -> None:
    whole = dataset_of(write_dataset())
    one = replace(whole, name="one", queries=whole.queries[:1], qrels={"q1": whole.qrels["q1"]})
    config, chosen = read_config(tmp_path / "workspace"), chosen_of(CONFIGURATIONS, ["bm25", "default"])
    embedder = CountingEmbedder()
    reports = run_retrieval([whole, one], chosen, config, embedder, cache=tmp_path / "cache")
    assert [len(report.measured[1].milliseconds) for report in reports] == [3, 1]
    assert reports[0].index_seconds == reports[1].index_seconds
    alone = run(one, tmp_path, "bm25", "default")
    assert [m.metrics["map"].tolist() for m in reports[1].measured] == [
        m.metrics["map"].tolist() for m in alone.measured
    ]
    other = replace(one, documents=whole.documents[:2])
    with pytest.raises(ValueError, match="not the same documents"):
        run_retrieval([whole, other], chosen, config, embedder, cache=tmp_path / "cache")


def test_a_reranker_that_is_nowhere_is_said_with_the_figures(write_dataset: WriteDataset, tmp_path: Path) -> None:
    config = replace(read_config(tmp_path / "workspace"), reranker=str(tmp_path / "nowhere"))
    chosen = chosen_of(CONFIGURATIONS, ["default", "no-rerank"])
    dataset = dataset_of(write_dataset())
    [report] = run_retrieval([dataset], chosen, config, CountingEmbedder(), cache=tmp_path / "cache")
    (said,) = report.to_dict()["warnings"]
    assert said.startswith("default: Not reranked: ")
    assert report.measured[0].metrics["map"].tolist() == report.measured[1].metrics["map"].tolist()


def test_the_published_bm25_ranks_without_a_collection(write_dataset: WriteDataset, tmp_path: Path) -> None:
    report = run(dataset_of(write_dataset()), tmp_path, "bm25-lucene").to_dict()
    assert (report["index_seconds"], report["configs"][0]["ndcg@10"]) == (0, 1.0)
