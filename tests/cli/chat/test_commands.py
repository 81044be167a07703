"""The lines of a session in the terminal, over a small collection and an encoder of counted words."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cli.chat.chat import hold
from cli.chat.commands import COMMANDS, take
from cli.chat.session import ChatSession
from rag_engine.answer_sentences import names_no_source
from rag_engine.answering.chances import chance_model
from rag_engine.config import Config, RetrievalConfig, changed, read_config
from rag_engine.conversations.recording import record_reply
from rag_engine.conversations.store import Conversation, begin_turn, new_id, read_conversation
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.filters import Filter
from rag_engine.messages import Message
from rag_engine.models import Models
from rag_engine.planning.follow_up import Exchange, FollowUp
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import Evidence
from tests.present import present
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.model_by_hand import ModelByHand
from tests.rag_engine.small_collection import indexed

QUESTION = "What does dyke mean in the Dyke Protection Act?"


class Interrupted(Engine):
    """An engine whose answers are broken off by Ctrl-C after their first words."""

    def ask_next(
        self,
        question: str,
        before: Sequence[Exchange],
        wanted: Filter | None = None,
        retrieval: RetrievalConfig | None = None,
    ) -> Iterator[FollowUp | Evidence | str | Answer]:
        yield self.search(question, wanted, retrieval)
        yield "A dyke is "
        raise KeyboardInterrupt


class ModelsThatSay(Models):
    """The models, with a language model by hand."""

    said = "A dyke is a wall.\n"

    def language_model(self) -> tuple[ModelByHand, Message]:
        return ModelByHand(tuple(self.said.splitlines(keepends=True))), Message()


def configured(workspace: Path) -> Config:
    """Return the configuration without the reranker, which takes seconds to load."""
    config = read_config(workspace)
    return replace(config, retrieval=changed(config.retrieval, rerank=False))


Say = Callable[[str], str]
TIERS = ("strong", "moderate", "weak")


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("chat") / "workspace"
    indexed(workspace, CountingEmbedder()).close()
    return workspace


@pytest.fixture
def session(counted: Path, tmp_path: Path) -> Iterator[ChatSession]:
    own = shutil.copytree(counted, tmp_path / "workspace")
    session = ChatSession(Engine(configured(own), embedder=CountingEmbedder()), Conversation(new_id(), ()), {})
    yield session
    session.close()


@pytest.fixture
def say(session: ChatSession, capsys: pytest.CaptureFixture[str]) -> Say:
    """Return what is printed for a line of the session."""

    def said(line: str) -> str:
        capsys.readouterr()
        take(session, line)
        return capsys.readouterr().out

    return said


def stored(session: ChatSession) -> Conversation:
    return present(read_conversation(session.workspace, session.conversation.id))


def test_a_question_is_answered_with_its_references_and_stored(session: ChatSession, say: Say) -> None:
    printed = say(QUESTION)
    assert "wall of earth" in printed
    assert "Dyke Protection Act, undated, “Article 1”, “Article 2” (Dyke Protection Act.txt)" in printed
    [turn] = stored(session).turns
    assert turn.reply is not None
    assert turn.reply.status == "answered"


def test_words_of_a_model_that_name_no_source_are_not_left_as_an_answer(
    session: ChatSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session.engine.models = ModelsThatSay(session.engine.config, CountingEmbedder())

    take(session, QUESTION)

    printed = capsys.readouterr()
    assert "A dyke is a wall." in printed.out
    assert names_no_source("en") in " ".join(printed.err.split())
    assert session.reply is not None
    assert session.reply.status == "insufficient_evidence"


def test_a_follow_up_is_shown_as_it_is_asked_and_can_be_asked_as_written(session: ChatSession, say: Say) -> None:
    take(session, "Who keeps grass on small dams short in Norway?")
    assert "Asked as: Who keeps grass on small dams short in Ireland?" in say("And in Ireland?")
    assert "Asked as" not in say("/as-written")
    assert [(turn.question, bool(turn.rewritten)) for turn in stored(session).turns[1:]] == [
        ("And in Ireland?", True),
        ("And in Ireland?", False),
    ]


def test_a_question_asked_as_written_can_be_asked_as_a_follow_up(session: ChatSession, say: Say) -> None:
    with pytest.raises(InputError, match="no other form"):
        take(session, "/in-full")
    in_full = "Who keeps grass on small dams short? Are there exceptions?"
    begun = begin_turn(session.workspace, session.conversation.id, "Are there exceptions?")
    list(record_reply(session.workspace, begun, iter([FollowUp(in_full, "rules", sure=False, asked=False)])))
    session.conversation = stored(session)
    assert "/in-full" in say("/help")
    say("/in-full")
    assert [turn.question for turn in stored(session).turns] == ["Are there exceptions?", in_full]


def test_a_new_conversation_knows_nothing_of_the_one_before(session: ChatSession, say: Say) -> None:
    take(session, "Who keeps grass on small dams short in Norway?")
    before = session.conversation.id
    take(session, "/clear")
    assert "Asked as" not in say("And in Ireland?")
    assert session.conversation.id != before
    assert len(session.conversation.turns) == 1


def test_a_filter_is_set_shown_and_cleared(session: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    take(session, "/filter language=de versions=all")
    assert session.wanted == {"language": ("de",), "versions": ("all",)}
    take(session, "/filter language=en language=de")
    take(session, "/filter")
    take(session, "/filter clear")

    assert session.wanted == {}
    assert capsys.readouterr().out.splitlines() == [
        "language=de versions=all",
        "language=en language=de versions=all",
        "language=en language=de versions=all",
        "No filter.",
    ]


def test_a_filter_keeps_other_documents_out(session: ChatSession) -> None:
    take(session, "/filter language=de")
    take(session, "Wo füllen Freiwillige Sandsäcke am Rathaus?")
    assert {source.language for source in session.sources} == {"de"}


def test_a_filter_that_no_document_has_leaves_the_one_before(session: ChatSession) -> None:
    take(session, "/filter language=de")
    with pytest.raises(InputError, match="No document has language 'tr'"):
        take(session, "/filter language=tr")
    assert session.wanted == {"language": ("de",)}


def test_sources_are_listed_with_their_place(say: Say) -> None:
    say(QUESTION)
    first, second, *_ = say("/sources").splitlines()
    assert first.startswith("1. Dyke Protection Act, ")
    assert first.endswith("Article 1 (Dyke Protection Act.txt)")
    cited, _, rated = second.strip().partition(", ")
    assert cited in ("cited", "not cited")
    [tier] = [tier for tier in TIERS if rated.startswith(f"{tier} match")]
    share = chance_model(True).measured["same"][tier]
    assert rated == f"{tier} match ({share:.0%} of such passages held the answer in our tests)"


def test_the_page_of_a_source_is_drawn(say: Say) -> None:
    say(QUESTION)
    printed = say("/open 1").strip()
    assert printed.startswith("Dyke Protection Act: ")
    assert Path(printed.partition("Act: ")[2]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("/sources", "There is no answer yet. Ask a question first."),
        ("/open 1", "There is no answer yet."),
        ("/as-written", "The latest question was asked as it is written."),
        ("/export notes.md", "There is nothing to export yet."),
        ("/dance", "There is no command /dance. /help lists the commands."),
        ("/do", "Nothing to do was named."),
        ("/filter hazard", "is not KEY=VALUE"),
        ("/filter colour=red", "There is no filter 'colour'"),
    ],
)
def test_what_cannot_be_done_is_reported_with_the_remedy(session: ChatSession, line: str, error: str) -> None:
    with pytest.raises(InputError) as raised:
        take(session, line)
    assert error in str(raised.value)


def test_a_source_that_is_not_there_is_named_with_those_that_are(session: ChatSession) -> None:
    take(session, QUESTION)
    with pytest.raises(InputError, match=r"has no source '99'\. Its sources are 1, "):
        take(session, "/open 99")


def test_the_history_lists_the_questions_as_typed_and_as_asked(say: Say) -> None:
    say("Who mends dykes in Norway?")
    say("And in Ireland?")
    assert say("/history").splitlines() == [
        "1. Who mends dykes in Norway?",
        "2. And in Ireland?",
        "   Asked as: Who mends dykes in Ireland?",
    ]


def test_a_conversation_is_exported_once(session: ChatSession, tmp_path: Path) -> None:
    take(session, QUESTION)
    take(session, f"/export {tmp_path / 'my notes.md'}")
    text = (tmp_path / "my notes.md").read_text(encoding="utf-8")
    assert "]: Dyke Protection Act, undated, “Article 1” (Dyke Protection Act.txt). “Dyke means a wall of earth" in text
    with pytest.raises(InputError, match="exists already"):
        take(session, f"/export {tmp_path / 'my notes.md'}")


@pytest.mark.parametrize(("suffix", "begins"), [(".docx", b"PK"), (".bib", b"@misc{"), (".ris", b"TY  - ")])
def test_a_conversation_is_exported_in_every_format(
    session: ChatSession, tmp_path: Path, suffix: str, begins: bytes
) -> None:
    take(session, QUESTION)
    take(session, f"/export {tmp_path / 'notes'}{suffix}")
    assert (tmp_path / f"notes{suffix}").read_bytes().startswith(begins)


def test_help_names_every_command(say: Say) -> None:
    printed = say("/help")
    assert [name for name in (*COMMANDS, "/exit") if f"\n{name} " not in f"\n{printed}"] == []


def test_ctrl_c_keeps_the_words_that_came_and_the_session(
    session: ChatSession, capsys: pytest.CaptureFixture[str]
) -> None:
    config = session.engine.config
    session.close()
    session.engine = Interrupted(config, embedder=CountingEmbedder())

    hold(session, iter([QUESTION, "/history", "/exit", "/never"]))

    printed = capsys.readouterr()
    assert printed.err == "\nCancelled.\n"
    assert printed.out == f"A dyke is 1. {QUESTION}\n"
    [turn] = stored(session).turns
    assert turn.reply is not None
    assert turn.reply.text.strip() == "A dyke is"


def test_an_error_ends_its_line_alone(session: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    hold(session, iter(["/dance", "?!", "/history"]))
    printed = capsys.readouterr()
    assert "There is no command /dance." in printed.err
    assert "has no word in it" in printed.err
    assert printed.out == "1. ?!\n"
