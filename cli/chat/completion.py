"""Completion of commands, filter keys and values, and source numbers in the terminal's conversation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_engine.filters import AS_OF, FACETS, VERSIONS, Facets
from rag_engine.text.folding import fold

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer

    from cli.chat.session import ChatSession

_VALUE = re.compile(r"(?:^|\s)([\w-]+)=([^=]*)$")
_LAST_WORD = re.compile(r"\S*$")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that takes the place of the last `replaces` characters of a line."""

    text: str
    replaces: int


def suggestions(line: str, commands: Iterable[str], facets: Facets, numbers: Sequence[int]) -> Iterator[Suggestion]:
    """Yield what a line may go on with, in front of the cursor; questions are not completed."""
    command, blank, rest = line.partition(" ")
    if not command.startswith("/"):
        return
    if not blank:
        yield from (Suggestion(one, len(line)) for one in commands if one.startswith(command))
    elif command == "/filter":
        yield from _filter(rest, facets)
    elif command == "/open":
        yield from (Suggestion(str(number), len(rest)) for number in numbers if str(number).startswith(rest))


def _filter(text: str, facets: Facets) -> Iterator[Suggestion]:
    value = _VALUE.search(text)
    if value:
        known = ["all"] if value[1] == VERSIONS else sorted(facets.get(value[1], ()))
        written = fold(value[2])
        found = [one for one in known if fold(one).startswith(written)]
        if found:
            yield from (Suggestion(one, len(value[2])) for one in found)
            return
    last = _LAST_WORD.search(text)
    word = last.group() if last else ""
    keys = [f"{name}=" for name in (*(one for one in FACETS if facets.get(one)), AS_OF, VERSIONS)]
    yield from (Suggestion(one, len(word)) for one in (*keys, "clear") if one.startswith(word))


def chat_completer(session: ChatSession) -> Completer:
    """Return the completer of a session's prompt."""
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    from cli.chat.commands import COMMANDS, EXIT

    class _ChatCompleter(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            del complete_event
            facets, numbers = session.engine.collection.facets(), [source.n for source in session.sources]
            for one in suggestions(document.text_before_cursor, (*COMMANDS, EXIT), facets, numbers):
                yield Completion(one.text, start_position=-one.replaces)

    return _ChatCompleter()
