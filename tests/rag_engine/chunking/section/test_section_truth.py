"""Printed statutes and treaties: nearly every child carries the section that is cited."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.chunking.section.chunks import section_chunks
from rag_engine.config import ChunkSizes
from rag_engine.types.passage import Parent

DOCUMENTS = 11
BAR = 0.95


@pytest.fixture
def benchmark() -> ModuleType:
    return importlib.import_module("benchmarks.pipeline.sections")


def parents_of(path: Path) -> list[Parent]:
    found = extract(path, ExtractionLimits(), None)
    return section_chunks(found.text, path.name[:2], title=found.title, blocks=found.blocks, config=ChunkSizes())


def test_nearly_every_child_carries_its_section(shared: Path, benchmark: ModuleType) -> None:
    scores = list(benchmark.scores(shared))
    assert len(scores) == DOCUMENTS
    assert {score.name: score.wrong for score in scores if score.share < BAR} == {}


def test_the_agreement_annexed_to_a_decision_is_an_act_of_its_own(shared: Path) -> None:
    parents = parents_of(shared / "data" / "corpus" / "en_unfccc_cop21_decision1_paris.pdf")
    assert {parent.act for parent in parents if parent.section.startswith("Article")} == {"Paris Agreement"}
    headings = next(parent.headings for parent in parents if parent.section == "Article 8")
    assert headings[1:] == ("Decision 1/CP.21 Adoption of the Paris Agreement", "Annex Paris Agreement", "Article 8")
    decision = [parent for parent in parents if parent.section == "Decision 1/CP.21"]
    assert all(parent.act.startswith("Report of the Conference of the Parties") for parent in decision)
    assert "II Intended nationally determined contributions" in {parent.headings[-1] for parent in decision}
    article = next(parent for parent in parents if parent.section == "Article 8")
    assert "Warsaw International Mechanism" in article.text
    assert article.children[-1].clause.startswith(("4", "5"))


def test_decisions_keep_their_annexes_and_the_protocol_its_own(shared: Path) -> None:
    parents = parents_of(shared / "data" / "corpus" / "en_unfccc_cop3_kyoto.pdf")
    acts = {parent.section: parent.act for parent in parents}
    assert acts["Annex B"] == acts["Article 28"] != acts["Decision 18/CP.3"]
    assert "KYOTO PROTOCOL" in acts["Article 28"]
