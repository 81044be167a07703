"""The verb that shows how a document is cut into parents and children, outside the collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from cli.options import AsJson, Workspace
from cli.terminal import end_as_json, engine_of, out, print_line, spinner, warn
from rag_engine.config import Strategy
from rag_engine.errors import InputError

if TYPE_CHECKING:
    from rag_engine.chunking.chunk import Chunked
    from rag_engine.types.passage import Parent

app = typer.Typer()


@app.command()
def chunk(
    file: Annotated[Path, typer.Argument(help="The document; it is not added to the collection.")],
    strategy: Annotated[str, typer.Option("--strategy", "-s", help=f"One of {', '.join(get_args(Strategy))}.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show how a document is cut into passages, with their sections, headings and pages, and why so."""
    from ingestion.tools import open_reader
    from rag_engine.backends.identify_language import identify_language
    from rag_engine.chunking import chunk as strategies
    from rag_engine.storage.indexer import page_at
    from rag_engine.text.file_kinds import pages_text

    with engine_of(workspace, as_json) as engine, spinner(f"Reading {file.name}"):
        chosen = strategy or engine.config.chunking.strategy
        if chosen not in get_args(Strategy):
            raise InputError(f"There is no strategy {chosen!r}.", help=f"Use {', '.join(get_args(Strategy))}.")
        config = replace(engine.config.chunking, strategy=cast(Strategy, chosen))
        if not file.is_file():
            raise InputError(f"There is no file {file}.", help="Name one document; a folder is added with sextant add.")
        with open_reader(engine.config.ocr) as reader:
            extracted = reader.read(file).extracted
        language = identify_language(extracted.text)
        chunked = strategies.chunk(
            extracted.text,
            language,
            title=extracted.title,
            blocks=extracted.blocks,
            lines=extracted.lines,
            # Only one strategy needs it, and loading it takes seconds.
            encode=lambda texts: engine.embedder().encode_passages(texts),
            config=config,
        )
    page_of = partial(page_at, extracted.lines)
    parents = []
    for parent in chunked.parents:
        children = [asdict(child) | {"page": page_of(parent.start + child.start)} for child in parent.children]
        pages = {"page": page_of(parent.start), "last_page": page_of(parent.end - 1)}
        parents.append(asdict(parent) | pages | {"children": children})
    shown = {"file": file.name, "language": language, "strategy": chunked.strategy, "why": chunked.why}
    end_as_json(as_json, shown | {"parents": parents})
    labels = dict(enumerate(extracted.page_labels, 1))

    def pages_of(parent: Parent) -> str:
        pages = range(page_of(parent.start), page_of(parent.end - 1) + 1)
        return pages_text(file.name, {page: labels.get(page) for page in pages})

    _print(chunked, language, pages_of)
    warn(extracted.warnings)


def _print(chunked: Chunked, language: str, pages_of: Callable[[Parent], str]) -> None:
    children = sum(len(parent.children) for parent in chunked.parents)
    out.print(f"{chunked.strategy}: {chunked.why}", style="bold", markup=False)
    out.print(f"language {language or 'unknown'}, {len(chunked.parents)} parents, {children} children", markup=False)
    for parent in chunked.parents:
        place = " · ".join(
            filter(None, (parent.section, parent.act, pages_of(parent), f"{len(parent.text)} characters"))
        )
        out.print()
        print_line(f"{parent.index}. {place}", "bold")
        if parent.headings:
            print_line(" > ".join(parent.headings), "dim", indent="   ")
        for child in parent.children:
            print_line(" ".join(filter(None, (child.clause, child.text))), indent="   - ")
