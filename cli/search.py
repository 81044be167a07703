"""The verb that searches the collection: the best passages with their scores, or all with the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cli.ask import Mmr, Recipe, TopK, retrieval_of
from cli.options import AsJson, Filters, Workspace
from cli.terminal import end_as_json, engine_of, errors_end, out, say, warn

if TYPE_CHECKING:
    from rag_engine.engine import Engine
    from rag_engine.passage_search.find import FoundPassages
    from rag_engine.passage_search.passage_query import PassageQuery, SortOrder
    from rag_engine.passage_search.passages import MarkedPassage
    from rag_engine.passage_search.struck import StruckMatch

app = typer.Typer()
Sort = Annotated[
    str, typer.Option("--sort", help="List all passages with the words as the Search page does: relevance or date.")
]
Export = Annotated[
    Path | None, typer.Option("--export", help="Write all passages with the words into this .csv or .xlsx.")
]
WordsOnly = Annotated[
    bool | None,
    typer.Option("--words-only/--near", help="List all passages with the words, and leave out or add those near them."),
]
Anywhere = Annotated[
    bool, typer.Option("--anywhere", help="List all passages of documents that have the words anywhere.")
]
Struck = Annotated[
    bool, typer.Option("--struck", help="List all passages, and words that documents show struck out: not in force.")
]
SHOWN = 10
_BLANKS = re.compile(r"\s+")


@app.command()
def search(  # noqa: PLR0913, PLR0917 - an argument for each option
    words: Annotated[str, typer.Argument(help="A question or key words; “a phrase”, OR, -word and resilien*.")],
    filters: Filters = None,
    sort: Sort = "",
    export: Export = None,
    words_only: WordsOnly = None,
    anywhere: Anywhere = False,
    struck: Struck = False,
    top_k: TopK = None,
    profile: Recipe = "",
    mmr: Mmr = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show passages on a question with every score; with --sort or --export, all that hold the words."""
    if sort or export or words_only is not None or anywhere or struck:
        given = tuple(filters or ())
        listing = Listing(words, given, sort, words_only, anywhere, struck, top_k or SHOWN, export, as_json)
        with errors_end(as_json):
            listing.check()
        with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
            list_passages(engine, listing)
        return
    from rag_engine.answer_sentences import absent_sections
    from rag_engine.answering.json_contract import search_json
    from rag_engine.answering.reference_list import year_text
    from rag_engine.filters import parse_filters
    from rag_engine.passage_search.evidence import search_evidence
    from rag_engine.text.file_kinds import pages_text

    with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
        engine.begin_loading_models()
        evidence = search_evidence(engine, words, parse_filters(filters or []), retrieval_of(engine, top_k))
    end_as_json(as_json, search_json(evidence))
    for rank, hit in enumerate(evidence.hits, start=1):
        metadata = hit.document.metadata
        place = pages_text(hit.document.file, hit.document.named_page(hit.page))
        known = filter(None, (metadata.title, year_text(metadata.year), place))
        out.print(f"\n{rank}. {', '.join(known)}", style="bold", markup=False)
        chance = "" if hit.chance is None else f", chance to answer {hit.chance:.0%}"
        out.print(f"   {hit.document.file}  {hit.tier} match{chance}", style="dim", markup=False)
        out.print(f"   {' '.join(hit.text.split())[:400]}", markup=False)
    warn((*filter(None, [absent_sections(evidence.absent, evidence.plan.language)]), *evidence.warnings))


@dataclass(frozen=True, slots=True)
class Listing:
    """A search that lists all passages, and where they go."""

    words: str
    filters: tuple[str, ...]
    sort: str
    words_only: bool | None
    anywhere: bool
    struck: bool
    shown: int
    export: Path | None
    as_json: bool

    def check(self) -> None:
        """Raise InputError for an order or a format that there is not."""
        from rag_engine.errors import InputError
        from rag_engine.passage_search.passage_query import SORT_ORDERS

        if self.sort and self.sort not in SORT_ORDERS:
            raise InputError(f"There is no order {self.sort!r}.", help=f"Use {' or '.join(SORT_ORDERS)}.")
        if self.export and self.export.suffix.lower() not in (".csv", ".xlsx"):
            raise InputError(f"{self.export.name} names no format.", help="End the name in .csv or .xlsx.")

    def query(self) -> PassageQuery:
        """Return what is searched for."""
        from rag_engine.errors import InputError
        from rag_engine.filters import parse_filters
        from rag_engine.passage_search.passage_query import PassageQuery

        words, wanted = " ".join(self.words.split()), parse_filters(self.filters)
        if not words and not wanted:
            raise InputError("There is nothing to search for.", help="Give words, or a filter to list its documents.")
        order: SortOrder = "date" if self.sort == "date" else "relevance"
        return PassageQuery(words, wanted, order, self.words_only, self.struck, self.anywhere)


def list_passages(engine: Engine, listing: Listing) -> None:
    """Print the first passages of a search, or write all of them into a file."""
    from rag_engine.answering_documents import answering_documents
    from rag_engine.passage_search.describe import (
        describe_found,
        describe_matching,
        describe_near,
        describe_refusal,
        describe_scattered,
    )
    from rag_engine.passage_search.facet_counts import excluding_facets
    from rag_engine.passage_search.find import find_passages
    from rag_engine.passage_search.passages import found_json, read_passages

    query, snapshot = listing.query(), engine.collection.snapshot()
    # A value that no document has is rather misspelled: the error lists those that there are.
    answering_documents(query.wanted, snapshot.facets, snapshot.documents)
    found = find_passages(engine, query)
    if listing.export:
        _write(engine, found, listing.export)
    passages = list(read_passages(engine, found, found.matches[: listing.shown]))
    end_as_json(listing.as_json, found_json(found, passages) | {"path": str(listing.export or "")})
    if not len(found) and found.held:
        out.print(describe_refusal(excluding_facets(engine, found.query), found), markup=False)
    elif found.held:
        out.print(f"{describe_found(found)} {describe_matching(found)}.", markup=False)
    else:
        out.print("The collection is empty: add documents first.", markup=False)
    if listing.export:
        say(f"Wrote {listing.export}: {len(found):,} passages.")
    else:
        if scattered := describe_scattered(found) if len(found) else "":
            out.print(scattered, markup=False)
        _print([one for one in passages if one.match.worded], by_words=True)
        _print([one for one in passages if not one.match.worded], heading=describe_near(found) if found.near else "")
    for match in found.struck:
        _print_struck(match)
    warn(found.warnings)


def _write(engine: Engine, found: FoundPassages, path: Path) -> None:
    from ingestion.dataset.export import write_file
    from ingestion.dataset.passage_export import export_passages
    from rag_engine.processes.serving import find_serving

    serving = find_serving(engine.config.workspace)
    base = f"{serving.address.rstrip('/')}/" if serving else ""
    write_file(path, export_passages(engine, found, path.suffix.lower(), base))


def _print(passages: Sequence[MarkedPassage], heading: str = "", *, by_words: bool = False) -> None:
    from rag_engine.answering.reference_list import year_text
    from rag_engine.text.file_kinds import pages_text

    if heading and passages:
        out.print(f"\n{heading}:", markup=False)
    for passage in passages:
        document = passage.hit.document
        metadata = document.metadata
        place = pages_text(document.file, document.named_page(passage.hit.page))
        known = filter(None, (metadata.title, year_text(metadata.year), place))
        found_by = ("all words" if passage.match.whole else "some of the words") if by_words else ""
        found_by = found_by or ("by meaning" if heading else "")
        out.print(f"\n{passage.match.rank}. {', '.join(known)}", style="bold", markup=False)
        out.print(f"   {document.file}  {found_by}".rstrip(), style="dim", markup=False)
        shown = Text("   ")
        for piece, marked, _ in passage.excerpt(400):
            shown.append(_BLANKS.sub(" ", piece), style="bold" if marked else "")
        out.print(shown)


def _print_struck(match: StruckMatch) -> None:
    from rag_engine.text.file_kinds import pages_text

    document = match.document
    known = filter(None, (document.metadata.title, pages_text(document.file, document.named_page(match.struck.page))))
    out.print(f"\n-  {', '.join(known)}", style="bold", markup=False)
    out.print(f"   {document.file}  words in brackets are struck out, not in force", style="dim", markup=False)
    around = [_BLANKS.sub(" ", one).strip() for one in (match.before[-200:], match.after[:200])]
    # In brackets, since not every terminal strikes words out.
    out.print(f"   {around[0]} [{match.struck.text}] {around[1]}", markup=False)
