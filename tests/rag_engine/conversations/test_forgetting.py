"""Conversations after a document was erased: what they keep of it, and what they do not."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.conversations import store
from rag_engine.conversations.reply import Reply, ShownLink
from rag_engine.conversations.store import forget_in_conversations
from rag_engine.messages import Message
from rag_engine.types.answer import CitedRecord
from rag_engine.types.evidence import ControllerStep
from tests.present import present
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE
from tests.raw_records import overwrite, raw_records, record_bytes

ID, FILE, OTHER = CITATION.document_id, CITATION.file, "ffffffffffff"
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
    """Return the reply of a conversation after the document was erased, and the bytes kept."""
    begun = store.begin_turn(workspace, store.new_id(), "How long?")
    store.end_turn(workspace, begun, reply)
    forget_in_conversations(workspace, ID, FILE, redact=redact)
    read = present(store.read_conversation(workspace, begun.id))
    assert read.turns[0].reply is not None
    overwrite(workspace, "erased", f"{ID} {redact} {FILE}", "")
    return read.turns[0].reply, record_bytes(workspace)


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
    assert not [word for word in (b"six years", b"Six years", b"Flood Act") if word in content]


@pytest.mark.parametrize("redact", [True, False])
def test_no_warning_names_a_document_that_is_not_quoted(tmp_path: Path, redact: bool) -> None:
    named = [packed(one) for one in ("Flood Act", "Heat")]
    steps = (ControllerStep("retrieve", 1, "How many years are six years?"),)
    reply = replace(CITED, citations=(BESIDE,), warnings=(*named, Message("It was planned by rules.")), steps=steps)
    kept, content = after(tmp_path, reply, redact=redact)
    assert kept.warnings == (named[1], "It was planned by rules.")
    assert b"Flood Act" not in content
    # A model asks on by what it has read.
    assert kept.steps == (() if redact else steps)


def packed(title: str) -> Message:
    return Message("{source} was shortened to fit into the model's context window.", source=f"“{title}”, page 1")


@pytest.mark.parametrize("redact", [True, False])
def test_a_conversation_that_is_restored_lacks_what_was_erased_meanwhile(tmp_path: Path, *, redact: bool) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "How long?")
    store.end_turn(tmp_path, begun, CITED)
    deleted = present(store.delete_conversation(tmp_path, begun.id))
    forget_in_conversations(tmp_path, ID, FILE, redact=redact)
    store.restore_conversation(tmp_path, deleted)
    gone = (b"never cited", b"xxxxxxxx", b"referred to") + ((b"six years",) if redact else ())
    assert not [word for word in gone if word in record_bytes(tmp_path)]


def test_what_another_process_is_writing_is_forgotten_after_it(tmp_path: Path) -> None:
    begun = store.begin_turn(tmp_path, store.new_id(), "How long?")
    store.end_turn(tmp_path, begun, CITED)
    changing = (
        "import sys; from pathlib import Path; from rag_engine.conversations import store\n"
        "from rag_engine.conversations.person import LOCAL\n"
        "def change(now):\n    print('read', flush=True)\n    sys.stdin.read()\n    return now\n"
        "store.change_conversation(Path(sys.argv[1]), sys.argv[2], LOCAL, change)\n"
    )
    command = [sys.executable, "-c", changing, str(tmp_path), begun.id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"read\n"
        erasing = threading.Thread(target=forget_in_conversations, args=(tmp_path, ID, FILE), kwargs={"redact": True})
        erasing.start()
        erasing.join(0.3)
        other.communicate()
    erasing.join()
    assert ID not in raw_records(tmp_path, "conversation")[begun.id]


def test_an_answer_of_the_document_that_came_back_keeps_it(tmp_path: Path) -> None:
    forget_in_conversations(tmp_path, ID, FILE, redact=True)
    begun = store.begin_turn(tmp_path, store.new_id(), "How long?")
    ended = present(store.end_turn(tmp_path, begun, CITED))
    assert ended.turns[0].reply == CITED


def test_what_a_model_wrote_without_a_mark_goes_with_a_document_that_it_was_given(tmp_path: Path) -> None:
    uncited = replace(CITED, citations=(), withheld="Plans last six years, it seems.")
    assert after(tmp_path, uncited, redact=True)[0].withheld == ""


@pytest.mark.parametrize("redact", [True, False])
def test_an_answer_that_only_found_it_keeps_its_text(tmp_path: Path, redact: bool) -> None:
    reply, content = after(tmp_path, replace(CITED, citations=CITED.citations[1:]), redact=redact)
    assert reply.text == CITED.text
    assert [one.document_id for one in reply.sources] == [OTHER]
    assert not [word for word in (b"never cited", b"six years") if word in content]
