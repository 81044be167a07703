"""Terminal of every command: the opened workspace and its errors, progress bars, printed results."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from rag_engine.config import default_workspace, read_config
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.text.control_characters import escaped_controls, without_controls
from rag_engine.waiting import while_waiting

if TYPE_CHECKING:
    from ingestion.acts.context import ActContext
    from ingestion.acts.register import ClosedContext
    from rag_engine.conversations.reply import Reply
    from rag_engine.engine import Engine

WatchedPart = TypeVar("WatchedPart")

_DISK = "See that the disk has room and that its folder can be written; nothing was left half done."
_BOLD = re.compile(r"(?<!\\)\*\*(?=\S)(.+?)(?<=[^\s\\])\*\*")


class PlainConsole(Console):
    """A console that leaves out control characters, so that no title or text can act on the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments of what is printed; those that rich itself moves the cursor with stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=without_controls(segment.text))


out, err = PlainConsole(highlight=False), PlainConsole(stderr=True, highlight=False)


@contextmanager
def engine_of(
    workspace: Path | None,
    as_json: bool,
    shape: Callable[[str], dict[str, Any]] | None = None,
    *,
    profile: str = "",
    mmr: float | None = None,
) -> Iterator[Engine]:
    """Open the engine, for a recipe where one is named; errors end the command with exit code 2."""
    from rag_engine.engine import open_engine
    from rag_engine.workspace import is_writable

    with errors_end(as_json, shape), closing(open_engine(read_config(workspace, profile, mmr))) as engine:
        if not is_writable(engine.config.workspace):
            warn((f"{engine.config.workspace} cannot be written: it is read, and nothing of this is kept.",))
        yield engine


@contextmanager
def errors_end(as_json: bool, shape: Callable[[str], dict[str, Any]] | None = None) -> Iterator[None]:
    """End the command at an error of the block, with its message and remedy, and exit code 2."""
    try:
        yield
    except SextantError as error:
        ended = error
    except Exception as error:
        failure = _of_the_machine(error)
        if failure is None:
            raise
        ended = failure
    else:
        return
    if as_json:
        print_json(shape(str(ended)) if shape else {"error": str(ended), "retryable": ended.retryable})
    else:
        err.print(str(ended), style="red", markup=False)
    raise typer.Exit(2)


def _of_the_machine(error: Exception) -> SextantError | None:
    """Return what to say of a disk that is full, cannot be written or fails; None for other errors."""
    from sqlalchemy.exc import OperationalError

    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        place = f"{error.filename}: " if error.filename else ""
        return WorkspaceError(f"{place}{error.strerror or error}.", help=_DISK, retryable=True)
    if isinstance(error, OperationalError | sqlite3.OperationalError):
        cause = error.orig if isinstance(error, OperationalError) else error
        return WorkspaceError(f"The catalog cannot be used: {cause}.", help=_DISK, retryable=True)
    return None


@contextmanager
def context_of(workspace: Path | None, as_json: bool, *, erases: bool = True) -> Iterator[ActContext]:
    """Open the workspace for the local person's acts; errors end the command as those of `engine_of` do.

    An erasure that was broken off is finished first, unless the command does so itself. A damaged index keeps it from
    being finished, and could then not be rebuilt.
    """
    from ingestion.acts.context import local_person, open_context
    from ingestion.acts.documents import finish_erasures

    with engine_of(workspace, as_json) as engine:
        context = open_context(engine, local_person())
        if erases:
            finish_erasures(context)
        yield context


def closed_context(workspace: Path | None, by: str = "") -> ClosedContext:
    """Return the workspace for acts of the local person that need no opened collection."""
    from ingestion.acts.context import local_person
    from ingestion.acts.register import ClosedContext

    folder = workspace.expanduser().absolute() if workspace else default_workspace()
    return ClosedContext(folder, local_person(by))


def author_of(by: str) -> str:
    """Return who decides: the name given, else the system's user."""
    from ingestion.acts.context import system_user

    return by or system_user()


@contextmanager
def bar(verb: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function that moves a progress bar with the remaining time; it draws only on a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    with Progress(*columns, console=err, disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task(verb, now="")
        yield lambda done, total, now: progress.update(task, completed=done, total=total, now=now[:70])


@contextmanager
def phase_bar() -> Iterator[Callable[[str, int, int, str], None]]:
    """Yield a function that shows how far a phase is (done, of how many, what it is at).

    On a terminal a bar with the sources per minute and the remaining time; elsewhere a line for each phase when the
    next one begins.
    """
    terminal = sys.stderr.isatty()
    columns = (
        TextColumn("{task.description:13}"), BarColumn(12), MofNCompleteColumn(), _PerMinute(""),
        TimeRemainingColumn(), TextColumn("{task.fields[now]}", markup=False),
    )  # fmt: skip
    at, of, started = "", 0, time.monotonic()

    with Progress(*columns, console=err, disable=not terminal, transient=True) as progress:
        task = progress.add_task("waiting", total=None, now="")

        def show(phase: str, done: int, total: int, now: str) -> None:
            nonlocal at, of, started
            if phase != at:
                if at and not terminal:
                    print_phase(at, of, time.monotonic() - started)
                progress.reset(task, description=phase)
                at, started = phase, time.monotonic()
            of = total
            progress.update(task, completed=done, total=total, now=now[:30])

        yield show


def print_phase(phase: str, sources: int, seconds: float) -> None:
    """Print the line of a phase that has ended."""
    say(f"{phase}: {sources} sources, {seconds:.1f} s", console=err)


class _PerMinute(TextColumn):
    """Column of a progress bar: how many of a task's pieces are done in a minute."""

    def render(self, task: Task) -> Any:
        speed = task.finished_speed or task.speed
        self.text_format = f"{speed * 60:.0f}/min" if speed else ""
        return super().render(task)


@contextmanager
def spinner(words: str) -> Iterator[None]:
    """Show on a terminal that work goes on, and for how long a model is being waited for."""
    if not err.is_terminal:
        yield
        return
    with err.status(words) as status, while_waiting(lambda seconds: status.update(f"{words} ({seconds:.0f} s)")):
        yield


def watched(parts: Iterator[WatchedPart]) -> Iterator[WatchedPart]:
    """Yield the parts of an answer; until its first words come, a sign shows what is being done."""
    from rag_engine.types.evidence import Evidence

    words, writing = "Searching your documents", False
    while True:
        with nullcontext() if writing else spinner(words):
            part = next(parts, None)
        if part is None:
            return
        words = "Writing the answer" if isinstance(part, Evidence) else words
        writing = writing or isinstance(part, str)
        yield part


def print_table(columns: Sequence[Column | str] | Table, rows: Iterable[Iterable[object]] = ()) -> None:
    """Print a table fitted to the terminal; into a pipe, each row as whole cells with tabs between.

    Without names of columns there is no line of them. Columns with a ratio share what the others leave.
    """
    if isinstance(columns, Table):
        table = columns
    else:
        shared = any(isinstance(one, Column) and one.ratio for one in columns)
        table = Table(*columns, box=None, expand=shared)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    table.show_header = any(column.header for column in table.columns)
    if out.is_terminal:
        out.print(table, markup=False)
        return
    names = [[column.header for column in table.columns]] if table.show_header else []
    for line in (*names, *zip(*(column.cells for column in table.columns), strict=True)):
        out.file.write("\t".join(" ".join(without_controls(str(cell)).split()) for cell in line) + "\n")


def emphasised(text: str) -> Text:
    """Return a text whose words between double asterisks are bold.

    >>> emphasised("Close **the gate** first.").markup
    'Close [bold]the gate[/bold] first.'
    """
    shown = Text()
    for place, piece in enumerate(_BOLD.split(text)):
        shown.append(piece.replace("\\*", "*"), style="bold" if place % 2 else "")
    return shown


def print_end(reply: Reply) -> None:
    """Print what follows an answer's words, which are on the terminal already, or why there is none.

    Its references, how far it is supported and how often such labels are right; what was withheld; and
    warnings. Where a model failed or found no answer, the quotations that there are without it come first.
    """
    from rag_engine.answering.reference_list import references_of
    from rag_engine.answering.support import support_summary, unsupported_sentences

    if reply.status == "error":
        err.print(reply.text, style="red", markup=False)
    if reply.quotations:
        out.print(emphasised(("" if reply.status == "error" else "\n\n") + reply.quotations), end="", soft_wrap=True)
    if reply.status != "error" or reply.quotations:
        out.print("\n")
    for reference in references_of(reply.citations):
        shown = f"{reference.marks} {reference.text} ({reference.file})"
        say(shown, "dim")
    if summary := support_summary(reply.support, reply.judge):
        say(summary, "dim")
    warn(tuple(unsupported_sentences(reply.text, reply.support)))
    if reply.withheld:
        # The words are on the terminal already, as they came.
        warn((reply.text,))
    warn(tuple(warning for warning in reply.warnings if warning != reply.text))


def say(text: str, style: str = "", console: Console = out) -> None:
    """Print a text on a line that the terminal folds; whole into a pipe."""
    console.print(text, style=style, markup=False, soft_wrap=True)


def print_line(text: str, style: str = "", *, indent: str = "") -> None:
    """Print a text as one line, shortened to the terminal's width; whole into a pipe."""
    line = indent + " ".join(text.split())
    if out.is_terminal:
        out.print(line, style=style, markup=False, no_wrap=True, overflow="ellipsis")
    else:
        say(line, style)


def warn(warnings: tuple[str, ...]) -> None:
    """Print warnings on stderr."""
    for warning in warnings:
        err.print(warning, style="yellow", markup=False)


def end_as_json(as_json: bool, value: object, code: int = 0) -> None:
    """End the command with a value as JSON, if that is asked for; else what follows prints it."""
    if as_json:
        print_json(value)
        raise typer.Exit(code)


def print_json(value: object) -> None:
    """Print a value as JSON on stdout, with control characters as escapes."""
    sys.stdout.write(escaped_controls(json.dumps(value, ensure_ascii=False, indent=1)) + "\n")
    sys.stdout.flush()
