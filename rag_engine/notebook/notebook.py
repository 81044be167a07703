"""Evidence notebook: its entries, and changes of their list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rag_engine.conversations import erased_documents
from rag_engine.conversations.record_kinds import LONGEST_NAME, Moment
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Turn, new_id
from rag_engine.errors import InputError
from rag_engine.types.answer import Citation

# Characters of the note at an entry.
_LONGEST_NOTE = 5000


@dataclass(frozen=True, slots=True)
class NotebookEntry:
    """Part of an answer that a person kept: the whole text without passages, or the quotes of one source.

    `conversation` and `asked` name its turn, which may be deleted by now. Without a conversation the entry is the quote
    of a passage that a search found, and `question` holds the words of the search.
    """

    id: str
    conversation: str
    asked: str
    question: str
    added: Moment
    answer: Reply | None = None
    quotes: tuple[Citation, ...] = ()
    note: str = ""
    tags: tuple[str, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The places that it quotes or cites."""
        return self.answer.citations if self.answer else self.quotes


@dataclass(frozen=True, slots=True)
class Notebook:
    """Entries in the order that a person gives them.

    `owner` is the key of its owner. `shared_by` is the name of the person who lets everybody read it, or empty.
    """

    id: str
    name: str
    entries: tuple[NotebookEntry, ...] = ()
    owner: str = ""
    shared_by: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """Every tag in use, in alphabetical order.

        >>> entry = NotebookEntry("1", "", "", "sea walls", "2026-11-24T10:00:00+00:00", tags=("sea", "Heat"))
        >>> Notebook("1", "Coast", (entry,)).tags
        ('Heat', 'sea')
        """
        return tuple(sorted({tag for entry in self.entries for tag in entry.tags}, key=str.casefold))


def answer_entry(conversation: str, turn: Turn) -> NotebookEntry:
    """Return the answer of a turn as an entry, without its passages."""
    answer = replace(turn.reply, sources=(), steps=(), seconds={}) if turn.reply else None
    return _entry(conversation, turn, answer=answer)


def quote_entry(conversation: str, turn: Turn, n: int) -> NotebookEntry:
    """Return the quotations of source `n` in the answer of a turn as an entry."""
    citations = turn.reply.citations if turn.reply else ()
    return _entry(conversation, turn, quotes=tuple(citation for citation in citations if citation.n == n))


def passage_entry(words: str, quote: Citation) -> NotebookEntry:
    """Return the quote of a passage that a search for these words has found as an entry."""
    added = datetime.now(UTC).isoformat(timespec="seconds")
    return NotebookEntry(new_id(), "", added, words or quote.title, added, quotes=(quote,))


def with_entry(notebook: Notebook, entry: NotebookEntry, position: int | None = None) -> Notebook:
    """Return the notebook with an entry at a position, or at its end.

    If the notebook already has the entry, it is returned as it is.

    >>> entry = NotebookEntry("1", "", "", "sea walls", "2026-11-24T10:00:00+00:00")
    >>> len(with_entry(with_entry(Notebook("1", "Coast"), entry), entry).entries)
    1
    """
    if any(_kept(one) == _kept(entry) for one in notebook.entries):
        return notebook
    at = len(notebook.entries) if position is None else position
    return replace(notebook, entries=(*notebook.entries[:at], entry, *notebook.entries[at:]))


def without_entry(notebook: Notebook, id: str) -> Notebook:
    """Return the notebook without an entry."""
    return replace(notebook, entries=tuple(entry for entry in notebook.entries if entry.id != id))


def with_note(notebook: Notebook, id: str, note: str, tags: tuple[str, ...]) -> Notebook:
    """Return the notebook with a new note and tags at an entry; InputError if one is too long."""
    if len(note) > _LONGEST_NOTE:
        raise InputError(
            "The note has {length:,} characters; {limit:,} are allowed.",
            help="Shorten it.",
            length=len(note),
            limit=_LONGEST_NOTE,
        )
    for tag in tags:
        if len(tag) > LONGEST_NAME:
            raise InputError(
                "The tag {tag!r} is longer than {limit:,} characters.",
                help="Separate tags by commas.",
                tag=tag[:LONGEST_NAME],
                limit=LONGEST_NAME,
            )
    noted = tuple(replace(entry, note=note, tags=tags) if entry.id == id else entry for entry in notebook.entries)
    return replace(notebook, entries=noted)


def with_entry_moved(notebook: Notebook, id: str, before: str) -> Notebook:
    """Return the notebook with an entry in the place of the entry `before`, which moves on by one.

    >>> entries = tuple(NotebookEntry(id, "", "", "sea walls", "2026-11-24T10:00:00+00:00") for id in "abc")
    >>> [entry.id for entry in with_entry_moved(Notebook("1", "Coast", entries), "c", before="a").entries]
    ['c', 'a', 'b']
    """
    moved = [entry for entry in notebook.entries if entry.id == id]
    rest = [entry for entry in notebook.entries if entry.id != id]
    at = next((i for i, entry in enumerate(notebook.entries) if entry.id == before), None)
    if not moved or at is None:
        return notebook
    return replace(notebook, entries=(*rest[:at], *moved, *rest[at:]))


def without_document(notebook: Notebook, document_id: str, asked_before: str = "") -> Notebook:
    """Return the notebook without quotes of a document.

    An entry that is left without answer, quotes and note is removed. With `asked_before`, only answers to questions
    before it are examined.
    """
    entries = (
        entry if asked_before and entry.asked > asked_before else _without_document(entry, document_id)
        for entry in notebook.entries
    )
    return replace(notebook, entries=tuple(entry for entry in entries if entry.answer or entry.quotes or entry.note))


def read_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a line, separated by commas; each once.

    >>> read_tags("sea, heat ,sea")
    ('sea', 'heat')
    """
    return tuple(dict.fromkeys(tag for tag in (" ".join(one.split()) for one in text.split(",")) if tag))


def _entry(
    conversation: str, turn: Turn, answer: Reply | None = None, quotes: tuple[Citation, ...] = ()
) -> NotebookEntry:
    added = datetime.now(UTC).isoformat(timespec="seconds")
    return NotebookEntry(new_id(), conversation, turn.asked, turn.question, added, answer, quotes)


def _without_document(entry: NotebookEntry, document_id: str) -> NotebookEntry:
    quotes = tuple(quote for quote in entry.quotes if quote.document_id != document_id)
    answer = erased_documents.without_document(entry.answer, document_id, redact=True) if entry.answer else None
    return replace(entry, quotes=quotes, answer=answer)


def _kept(entry: NotebookEntry) -> tuple[object, ...]:
    """Return which part of which answer an entry keeps, or which quote of a search."""
    return (entry.conversation, entry.asked, entry.answer is None, entry.quotes) if entry.conversation else entry.quotes
