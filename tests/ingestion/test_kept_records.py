"""Records that people keep of a document stay through all its changes, until it is erased."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from ingestion.acts.backups import CATALOG_TABLES
from ingestion.acts.comparisons import begin_comparison
from ingestion.acts.documents import FORGETTING, add_files
from ingestion.acts.evaluation import ask_test_questions, keep_answer
from ingestion.backup.repair import read_documents_again
from ingestion.dataset.comparison.ask_cells import CellsRequest, ask_cells
from ingestion.dataset.comparison.store import ComparisonStore
from rag_engine.conversations.record_kinds import KINDS
from rag_engine.conversations.reply import reply_of
from rag_engine.conversations.store import begin_turn, end_turn, new_id
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.notebook.notebook import answer_entry, with_entry
from rag_engine.notebook.store import DEFAULT, change_notebook
from rag_engine.storage import schema
from rag_engine.storage.records import TABLES as RECORD_TABLES
from rag_engine.storage.records import log
from rag_engine.types.answer import Answer
from tests.ingestion.test_erasing import context_of, make, open_engine
from tests.raw_records import raw_records

QUESTION = "Who keeps the zoning rules?"
# Fields by which records name documents: by id, by file, and as an answer to a test question cites it.
NAMES = ("document_id", "document", "cited")
KEEPING = ("conversation", "notebook", "test question", "run", "comparison", "comparison cell")


def test_no_new_version_and_no_other_reading_of_a_document_empties_what_people_keep_of_it(tmp_path: Path) -> None:
    workspace = make(tmp_path) / "workspace"
    with closing(open_engine(workspace)) as engine:
        context = context_of(engine)
        answer = list(engine.ask(QUESTION))[-1]
        assert isinstance(answer, Answer)
        ended = end_turn(workspace, begin_turn(workspace, new_id(), QUESTION), reply_of(answer))
        assert ended is not None
        change_notebook(workspace, DEFAULT.id, lambda one: with_entry(one, answer_entry(ended.id, ended.turns[0])))
        keep_answer(context, ended.id, ended.turns[0].asked, [0])
        ask_test_questions(context, AnswersRequest())
        begun = begin_comparison(context, [QUESTION], "document", {})
        columns = tuple(column.key for column in begun.columns)
        ask_cells(engine, ComparisonStore(engine.catalog), CellsRequest(begun.id, begun.questions, columns))
        kept = {kind: raw_records(workspace, kind) for kind in KEEPING}
        assert all(kept.values())
        own = engine.catalog.find_document("own.md")
        assert read_documents_again(engine, [own.key]).read == ("own.md",)
        (tmp_path / "own.md").write_text("# The new statute\n\n" + "Nobody keeps any rules. " * 20, encoding="utf-8")
        add_files(context, [tmp_path / "own.md"])
        assert len(engine.collection.documents()) == 3
        engine.writer.erase(next(one for one in engine.collection.documents() if one.is_former))
        assert {kind: raw_records(workspace, kind) for kind in KEEPING} == kept
        assert len(ComparisonStore(engine.catalog).require(begun.id).cells) == 2


def test_an_erasure_visits_every_table_and_every_kind_of_record_that_names_documents() -> None:
    names = {kind: json.dumps(codec.json_schema()) for kind, codec in KINDS.items()}
    kinds = {kind for kind, schema in names.items() if any(f'"{name}"' in schema for name in NAMES)}
    assert kinds - {kind for visited in FORGETTING for kind in visited} == set()
    visited = {schema.documents, *schema.OF_DOCUMENT, schema.grounded_documents, log}
    tables = {table for known in (*CATALOG_TABLES, RECORD_TABLES) for table in known.tables.values()}
    assert {table.name for table in tables - visited if {"document_id", "document_key"} & {*table.c.keys()}} == set()
    # No row goes with another one.
    assert [table.name for table in tables if table.foreign_keys] == []
