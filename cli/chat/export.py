"""A conversation as Markdown, with a footnote for each source that an answer cites."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_engine.answering.reference_list import references_of
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, Turn

_MARK = re.compile(r"\[Source (\d+)\]")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~])")
# What a model or a document wrote keeps its lists and bold words, but no HTML, link or picture.
_ACTIVE = re.compile(r"[<\[]")


def conversation_markdown(conversation: Conversation) -> str:
    """Return the conversation: each question as a heading, its answer, and the footnotes of the sources it cites."""
    blocks = [f"# {_escaped(conversation.title)}"]
    for number, turn in enumerate(conversation.turns, start=1):
        blocks += _turn(turn, number)
    return "\n\n".join(blocks) + "\n"


def _turn(turn: Turn, number: int) -> Iterator[str]:
    yield f"## {_escaped(turn.question)}"
    asked = turn.asked[:16].replace("T", " ")
    yield f"*{asked} UTC*" if not turn.rewritten else f"*{asked} UTC. Asked as: {_escaped(turn.rewritten)}*"
    if turn.reply is None:
        yield "*Not answered.*"
        return
    yield _answer(turn.reply, number)
    footnotes = "\n".join(_footnotes(turn.reply, number))
    if footnotes:
        yield footnotes


def _answer(reply: Reply, number: int) -> str:
    """Return an answer's text and quotations with each mark of a cited source as a footnote's."""
    cited = {citation.n for citation in reply.citations}
    pieces = _MARK.split("\n\n".join(filter(None, (reply.text, reply.quotations))))
    text = _ACTIVE.sub(r"\\\g<0>", pieces[0])
    for n, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        mark = f"[^{number}-{n}]" if int(n) in cited else f"\\[Source {n}\\]"
        text += mark + _ACTIVE.sub(r"\\\g<0>", piece)
    return text


def _footnotes(reply: Reply, number: int) -> Iterator[str]:
    for n in dict.fromkeys(citation.n for citation in reply.citations):
        citations = [citation for citation in reply.citations if citation.n == n]
        [reference] = references_of(citations)
        quotes = " ".join(f"“{_escaped(citation.quote)}”" for citation in citations)
        yield f"[^{number}-{n}]: {_escaped(reference.text)} ({_escaped(reference.file)}). {quotes}"


def _escaped(text: str) -> str:
    """Return the text on one line, with nothing in it that acts as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
