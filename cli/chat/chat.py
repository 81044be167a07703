"""The verb that holds a conversation in the terminal, and the reading of its lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from cli.terminal import Filters, Workspace, err, errors_end, out
from rag_engine.config import read_config
from rag_engine.errors import SextantError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from cli.chat.session import ChatSession

app = typer.Typer()

_PROMPT = "› "


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

    from cli.chat.completion import chat_completer

    return PromptSession(completer=chat_completer(session), complete_while_typing=False)
