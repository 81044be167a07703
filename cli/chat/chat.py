"""The verb that holds a conversation in the terminal, and the reading of its lines."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from cli.options import Filters, Workspace
from cli.terminal import err, errors_end, out
from rag_engine.config import read_config
from rag_engine.errors import SextantError
from rag_engine.filters import AS_OF, DATED, FACETS, ONLY, VERSIONS, Facets
from rag_engine.text.folding import fold

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer

    from cli.chat.session import ChatSession

app = typer.Typer()
_PROMPT = "› "
_VALUE = re.compile(r"(?:^|\s)([\w-]+)=([^=]*)$")
_LAST_WORD = re.compile(r"\S*$")
# Filters of one value.
_FIXED = {DATED: [ONLY], VERSIONS: ["all"]}


@app.command()
def chat(filters: Filters = None, workspace: Workspace = None) -> None:
    """Hold a conversation with the documents: questions, follow-ups, and commands that begin with a slash.

    Where the input is no terminal its lines are taken one after another.
    """
    from cli.chat.session import open_session
    from rag_engine.filters import parse_filters

    typed = sys.stdin.isatty()
    with errors_end(False), closing(open_session(read_config(workspace))) as session:
        session.filter_by(parse_filters(filters or []))
        session.shows_pages = typed
        if typed:
            out.print("Ask a question. /help lists the commands, /exit ends the session.")
        hold(session, typed_lines(session, _prompt(session)) if typed else piped_lines())


def hold(session: ChatSession, lines: Iterator[str]) -> None:
    """Take lines until one ends the session; an error or Ctrl-C ends what a line asked for, and no more."""
    from cli.chat.commands import take

    for line in lines:
        try:
            if not take(session, line):
                return
        except SextantError as error:
            err.print(str(error), style="red", markup=False)
        except (KeyboardInterrupt, typer.Abort):
            err.print("\nCancelled.")


def piped_lines() -> Iterator[str]:
    """Yield the lines of the standard input; what asks for a confirmation reads on from there."""
    while line := sys.stdin.readline():
        yield line


def typed_lines(session: ChatSession, prompt: PromptSession[str]) -> Iterator[str]:
    """Yield what a person types, until Ctrl-D; Ctrl-C clears the line."""
    while True:
        try:
            yield prompt.prompt(_PROMPT, bottom_toolbar=session.describe_filter() or None)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _prompt(session: ChatSession) -> PromptSession[str]:
    from prompt_toolkit import PromptSession

    return PromptSession(completer=chat_completer(session), complete_while_typing=False)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that takes the place of the last `replaces` characters of a line."""

    text: str
    replaces: int


def suggestions(line: str, commands: Iterable[str], facets: Facets, numbers: Sequence[int]) -> Iterator[Suggestion]:
    """Yield the completions of a line in front of the cursor; questions are not completed.

    >>> list(suggestions("/o", ["/open", "/quit"], {}, [1, 2]))
    [Suggestion(text='/open', replaces=2)]
    """
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
        known = _FIXED.get(value[1]) or sorted(facets.get(value[1], ()))
        written = fold(value[2])
        found = [one for one in known if fold(one).startswith(written)]
        if found:
            yield from (Suggestion(one, len(value[2])) for one in found)
            return
    last = _LAST_WORD.search(text)
    word = last.group() if last else ""
    keys = [f"{name}=" for name in (*(facet for facet in FACETS if facets.get(facet)), AS_OF, *_FIXED)]
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
            for suggestion in suggestions(document.text_before_cursor, (*COMMANDS, EXIT), facets, numbers):
                yield Completion(suggestion.text, start_position=-suggestion.replaces)

    return _ChatCompleter()
