"""A conversation as Markdown: questions as headings, sources as footnotes, nothing that a document wrote acts."""

from __future__ import annotations

from dataclasses import replace

from cli.chat.export import conversation_markdown
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, Turn
from tests.rag_engine.conversations.test_store import CITATION, REPLY

ASKED = "2026-11-24T10:00:00.000000+00:00"


def exported(*turns: Turn) -> str:
    return conversation_markdown(Conversation("0" * 32, turns))


def replied(reply: Reply, question: str = "How long?", rewritten: str = "") -> Turn:
    return Turn(question, ASKED, reply, rewritten)


def test_each_answer_has_footnotes_of_its_own() -> None:
    text = exported(replied(REPLY), replied(REPLY, "And in Spain?", "How long in Spain?"))
    assert text == (
        "# How long?\n\n"
        "## How long?\n\n*2026-11-24 10:00 UTC*\n\nSix years [^1-1].\n\n"
        "[^1-1]: Flood Act, page 3 (act.pdf). “six years”\n\n"
        "## And in Spain?\n\n*2026-11-24 10:00 UTC. Asked as: How long in Spain?*\n\nSix years [^2-1].\n\n"
        "[^2-1]: Flood Act, page 3 (act.pdf). “six years”\n"
    )


def test_quotes_of_one_source_share_a_footnote() -> None:
    reply = replace(REPLY, citations=(CITATION, replace(CITATION, page=5, quote="each spring")))
    assert "[^1-1]: Flood Act, pages 3, 5 (act.pdf). “six years” “each spring”\n" in exported(replied(reply))


def test_a_mark_without_a_citation_stays_a_mark() -> None:
    assert "Six years \\[Source 1\\]." in exported(replied(replace(REPLY, citations=())))


def test_what_a_document_wrote_is_only_text() -> None:
    hostile = "<img src=x> ![x](http://evil.example) [link](http://evil.example)"
    citation = replace(CITATION, title=f"# {hostile}", quote=hostile)
    text = exported(replied(replace(REPLY, text=f"{hostile} [Source 1]", citations=(citation,)), hostile))
    for sign in "<[":
        unescaped = text.replace(f"\\{sign}", "").replace("[^1-1]", "")
        assert sign not in unescaped


def test_a_question_without_an_answer_is_marked_as_such() -> None:
    assert exported(Turn("Why?", ASKED, None)).endswith("## Why?\n\n*2026-11-24 10:00 UTC*\n\n*Not answered.*\n")
