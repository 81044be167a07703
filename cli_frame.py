"""What every verb of the terminal shares: the engine and its errors, the progress bar, how results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from rag_engine.config import read_config
from rag_engine.errors import SextantError

if TYPE_CHECKING:
    from rag_engine.engine import Engine

Workspace = Annotated[Path | None, typer.Option("--workspace", "-w", help="Folder of the collection.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (data/contract.schema.json).")]

out, err = Console(highlight=False), Console(stderr=True, highlight=False)


@contextmanager
def engine_of(
    workspace: Path | None, as_json: bool, shape: Callable[[str], dict[str, Any]] | None = None
) -> Iterator[Engine]:
    """The engine; an error ends the command with its message and cure, and exit code 2."""

    from rag_engine.engine import open_engine

    try:
        engine = open_engine(read_config(workspace))
        try:
            yield engine
        finally:
            engine.close()
    except SextantError as error:
        if as_json:
            print_json(shape(str(error)) if shape else {"error": str(error), "retryable": error.retryable})
        else:
            err.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None


@contextmanager
def bar(verb: str) -> Iterator[Callable[[int, int, str], None]]:
    """A function that moves a progress bar with the remaining time; it draws only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[now]}"))
    with Progress(*columns, console=err, disable=not sys.stderr.isatty(), transient=True) as progress:
        task = progress.add_task(verb, now="")
        yield lambda done, total, now: progress.update(task, completed=done, total=total, now=now[:50])


def warn(warnings: tuple[str, ...]) -> None:
    for warning in warnings:
        err.print(warning, style="yellow", markup=False)


def print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")
    sys.stdout.flush()
