"""Conversations after a document was erased: what they keep of it, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.conversations import store
from rag_engine.conversations.forgetting import forget_in_conversations
from rag_engine.conversations.reply import Reply, ShownLink
from rag_engine.types import CitedRecord
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE

ID, OTHER = CITATION.document_id, "ffffffffffff"
# The document's source is cited, a second one of it is not; another document cites and links to it.
REFERENCE = ShownLink("Article 2", ID, 1, 0, 9, "a passage that is referred to")
SOURCES = (
    SOURCE,
    replace(SOURCE, n=2, text="never cited"),
    replace(
        SOURCE, n=3, child_id="f", document_id=OTHER, title="Heat", text="of another document", linked=(REFERENCE,)
    ),
)
BESIDE = replace(CITATION, n=3, child_id="f", document_id=OTHER, title="Heat", quote="of")
CITED = replace(REPLY, sources=SOURCES, citations=(CITATION, BESIDE))


def after(workspace: Path, reply: Reply, *, redact: bool) -> tuple[Reply, bytes]:
    """Return the reply of a conversation after the document was erased, and the bytes of its file."""
    begun = store.begin_turn(workspace, store.new_id(), "How long?")
    store.end_turn(workspace, begun, reply)
    assert forget_in_conversations(workspace, ID, redact=redact) == 1
    read = store.read_conversation(workspace, begun.id)
    assert read is not None
    assert read.turns[0].reply is not None
    [file] = store.conversation_files(workspace)
    return read.turns[0].reply, file.read_bytes()


def test_what_was_quoted_stays_and_no_other_passage(tmp_path: Path) -> None:
    reply, content = after(tmp_path, CITED, redact=False)
    assert (reply.text, reply.citations) == (CITED.text, CITED.citations)
    assert [(one.n, one.text) for one in reply.sources] == [(1, "six years"), (3, "of another document")]
    assert (reply.sources[0].start, reply.sources[0].end) == (CITATION.start, CITATION.end)
    assert not [word for word in (b"never cited", b"xxxxxxxx", b"referred to") if word in content]


def test_an_answer_that_quotes_it_is_redacted_where_that_is_asked(tmp_path: Path) -> None:
    form = replace(CITED, records=(CitedRecord((), CITATION),), quotations="six years", withheld="six years")
    reply, content = after(tmp_path, form, redact=True)
    assert "was deleted" in reply.text
    assert not [word for word in (b"six years", b"Six years", b"Flood Act", ID.encode()) if word in content]


@pytest.mark.parametrize("redact", [True, False])
def test_an_answer_that_only_found_it_keeps_its_text(tmp_path: Path, redact: bool) -> None:
    reply, content = after(tmp_path, replace(CITED, citations=CITED.citations[1:]), redact=redact)
    assert reply.text == CITED.text
    assert [one.document_id for one in reply.sources] == [OTHER]
    assert ID.encode() not in content
