"""The development half of the page questions is answered by the right words, over the real documents."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.answers.page_answers import QUESTIONS, Asked, ask
from ingestion.add_files import add_paths
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import NOT_THERE, read_gold
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder

# Two below what was measured, 18 and 24 of 36, for scores differ between processors; one beside 4 of 4 and 1 of 36.
FIRST_RIGHT, QUOTED, REFUSED, REFUSED_BY_MISTAKE = 16, 22, 3, 2


@pytest.fixture(scope="module")
def asked(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Asked]:
    """Ask every question of the half; a second run on a machine encodes nothing."""
    embedder = CachedEmbedder(load_encoder("multilingual-e5-small"), vectors_folder())
    files = [path for path in sorted((shared / "data" / "corpus").iterdir()) if not path.name.startswith("scan_")]
    with closing(Engine(read_config(tmp_path_factory.mktemp("pages") / "workspace"), embedder=embedder)) as engine:
        assert {one.status for one in add_paths(files, engine)} == {"indexed"}
        return [ask(engine, question) for question in read_gold(QUESTIONS, "dev")]


@pytest.fixture(scope="module")
def answerable(asked: list[Asked]) -> list[Asked]:
    return [one for one in asked if one.question.kind != NOT_THERE]


def test_the_first_quotation_holds_the_right_words(answerable: list[Asked]) -> None:
    right = [one.question.id for one in answerable if one.first]
    assert len(right) >= FIRST_RIGHT, right


def test_some_quotation_holds_the_right_words(answerable: list[Asked]) -> None:
    right = [one.question.id for one in answerable if one.quoted]
    assert len(right) >= QUOTED, right


def test_what_is_not_there_is_refused_and_what_is_there_is_not(asked: list[Asked], answerable: list[Asked]) -> None:
    by_mistake = [one.question.id for one in answerable if one.refused]
    refused = [one.question.id for one in asked if one.refused and one.question.id not in by_mistake]
    assert len(refused) >= REFUSED, refused
    assert len(by_mistake) <= REFUSED_BY_MISTAKE, by_mistake
