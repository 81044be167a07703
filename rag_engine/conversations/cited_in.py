"""Places where the answers of the workspace's conversations cite a document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag_engine.conversations.person import LOCAL, Person
from rag_engine.conversations.store import CONVERSATIONS, read_conversation
from rag_engine.errors import WorkspaceError
from rag_engine.types.answer import Citation


@dataclass(frozen=True, slots=True)
class CitingTurn:
    """A question whose answer cites a document.

    `asked` is its time in ISO format, `conversation` the id of its conversation.
    """

    conversation: str
    question: str
    asked: str
    citations: tuple[Citation, ...]


def citing_turns(workspace: Path, document_id: str, person: Person = LOCAL) -> tuple[CitingTurn, ...]:
    """Return the questions whose answers cite the document, the latest first.

    Only conversations that are open to the person count. A conversation that cannot be read is left out.
    """
    found: list[CitingTurn] = []
    # A conversation is parsed only where the id is in it at all: a long one takes half a second.
    for id, _ in CONVERSATIONS.versions(workspace, person, naming=document_id):
        try:
            conversation = read_conversation(workspace, id, person)
        except WorkspaceError:
            continue
        for turn in conversation.turns if conversation else ():
            citations = turn.reply.citations if turn.reply else ()
            if cited := tuple(citation for citation in citations if citation.document_id == document_id):
                found.append(CitingTurn(id, turn.question, turn.asked, cited))
    return tuple(sorted(found, key=lambda turn: turn.asked, reverse=True))
