"""The `sextant` command: its verbs and its entry point.

A verb imports the engine when it is called, so that help and mistakes answer at once.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from cli import (
    ask,
    backup,
    chunk,
    collection,
    compare,
    dataset,
    doctor,
    evaluate,
    jobs,
    knowledge,
    people,
    review,
    search,
    settings,
    sources,
)
from cli.chat import chat
from cli.serve import serve
from rag_engine.installation import sextant_version

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Ask questions of your own documents; every claim links to the page it comes from.",
)

for verbs in (
    collection.app, search.app, ask.app, compare.app, chat.app, doctor.app, serve.app, backup.app, knowledge.tables,
    chunk.app, sources.app, jobs.app, review.app, dataset.app, people.audits,
):  # fmt: skip
    app.add_typer(verbs)
app.add_typer(sources.source_list, name="sources")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(settings.app, name="settings")
app.add_typer(people.app, name="people")
app.add_typer(evaluate.app, name="eval")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sextant {sextant_version()}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command line; what it and the processes that it starts write is their owner's alone."""
    os.umask(0o077)
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    app()


if __name__ == "__main__":
    main()
