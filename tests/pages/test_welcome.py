"""The page before the first question: documents coming in, or a collection that cannot be opened."""

import json
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ingestion.acts.context import ActContext
from ingestion.acts.documents import erase
from ingestion.add_files import add_paths
from ingestion.jobs.queue import JobQueue
from ingestion.records.source_store import SourceStore
from ingestion.status.invented_samples import SAMPLES
from ingestion.types.run import Progress
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import open_engine
from rag_engine.passage_search.example_questions import forget_examples
from rag_engine.storage.catalog import open_catalog, set_state
from tests.pages.conftest import Start
from tests.threads import join_threads


def said(app: AppTest) -> str:
    bars = [one.proto.text for one in app.get("progress")]
    return "\n".join([*bars, *(str(one.value) for one in [*app.markdown, *app.caption])])


def test_documents_that_are_still_being_indexed_are_counted(start: Start, tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    jobs = JobQueue(catalog)
    jobs.queue("add", {"paths": ["/sample"]})
    job = jobs.next()
    assert job is not None
    jobs.beat(job.id, Progress(7, 30, 700, 3000, "plan.pdf"))

    app = start(tmp_path)

    assert not app.exception
    assert "7 of 30 documents indexed" in said(app)
    assert "The collection is empty" not in said(app)

    jobs.finish(job.id, "done", [])
    app.run()

    assert "documents indexed" not in said(app)
    assert "The collection is empty" in said(app)
    catalog.close()


def test_the_invented_samples_are_called_so_until_they_are_gone(start: Start, tmp_path: Path) -> None:
    own, workspace = tmp_path / "own.txt", tmp_path / "workspace"
    own.write_text("A local flood plan remains valid for six years.", encoding="utf-8")
    engine = open_engine(read_config(workspace))
    samples = sorted(SAMPLES.glob("*.html"))[:2]
    add_paths(samples, engine)
    assert "All 2 documents here are invented samples, written to try Sextant with." in said(start(workspace))
    add_paths([own], engine)
    assert "2 of the documents are invented samples." in said(start(workspace))
    erase(ActContext(engine, SourceStore(engine.catalog), JobQueue(engine.catalog), LOCAL), samples[0].name)
    assert "1 of the documents is an invented sample." in said(start(workspace))
    erase(ActContext(engine, SourceStore(engine.catalog), JobQueue(engine.catalog), LOCAL), samples[1].name)
    assert "invented" not in said(start(workspace))
    engine.close()


def test_examples_are_of_documents_that_the_filter_leaves(start: Start, collection: Path) -> None:
    engine = open_engine(read_config(collection))
    by_language = {one.metadata.language: one.document_id for one in engine.collection.documents()}
    kept = [{"question": f"In {code}?", "language": code, "document_id": id} for code, id in by_language.items()]
    state = json.dumps({"change": engine.catalog.change(), "by language": {"en": kept}})
    with engine.catalog.begin() as connection:
        set_state(connection, "example questions", state)

    assert examples(start(collection)) == [f"In {code}?" for code in by_language]
    assert examples(start(collection, language="it")) == ["In it?"]
    assert "For example, from your documents:" not in said(start(collection, document_type="Law", language="it"))
    forget_examples(engine)
    engine.close()


def examples(app: AppTest) -> list[str]:
    join_threads("example questions")
    return [one.label.replace("\\", "") for one in app.run().button if str(one.key).startswith("example ")]


def test_a_catalog_of_another_schema_is_told_with_its_cure(start: Start, tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path)
    with catalog.begin() as connection:
        set_state(connection, "schema", "0")
    catalog.close()

    app = start(tmp_path)

    assert not app.exception
    assert "has schema 0" in app.error[0].value
    assert not app.title


def test_a_setting_that_is_none_is_told_with_its_cure(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_EXECUTION", "abacus")
    st.cache_resource.clear()

    app = start(tmp_path)

    assert not app.exception
    assert "abacus" in app.error[0].value
    assert "openvino" in app.error[0].value
