"""The verb that searches the collection: the best passages with their scores, or all with the words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.ask import Mmr, Recipe, TopK, retrieval_of
from cli.search.listing import SHOWN, Listing, list_passages
from cli.terminal import AsJson, Filters, Workspace, engine_of, errors_end, out, print_json, warn

if TYPE_CHECKING:
    pass

app = typer.Typer()
Sort = Annotated[
    str, typer.Option("--sort", help="List all passages with the words as the Search page does: relevance or date.")
]
Export = Annotated[
    Path | None, typer.Option("--export", help="Write all passages with the words into this .csv or .xlsx.")
]
WordsOnly = Annotated[
    bool, typer.Option("--words-only", help="With --sort or --export: leave out what is only near in meaning.")
]


@app.command()
def search(
    words: Annotated[str, typer.Argument(help="A question or key words; “several words” in quotes are a phrase.")],
    filters: Filters = None,
    sort: Sort = "",
    export: Export = None,
    words_only: WordsOnly = False,
    top_k: TopK = None,
    profile: Recipe = "",
    mmr: Mmr = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show passages on a question with every score; with --sort or --export, all that hold the words."""
    if sort or export or words_only:
        listing = Listing(words, tuple(filters or ()), sort, words_only, top_k or SHOWN, export, as_json)
        with errors_end(as_json):
            listing.check()
        with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
            list_passages(engine, listing)
        return
    from rag_engine.answering.json_contract import search_json
    from rag_engine.filters import parse_filters
    from rag_engine.prompts import absent_sections
    from rag_engine.text.file_kinds import pages_text

    with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
        engine.begin_loading_models(words)
        evidence = engine.search(words, parse_filters(filters or []), retrieval_of(engine, top_k))
    if as_json:
        print_json(search_json(evidence))
        return
    for rank, hit in enumerate(evidence.hits, start=1):
        known = filter(None, (hit.document.metadata.title, pages_text(hit.document.file, [hit.page])))
        out.print(f"\n{rank}. {', '.join(known)}", style="bold", markup=False)
        chance = "" if hit.chance is None else f", chance to answer {hit.chance:.0%}"
        out.print(f"   {hit.document.file}  {hit.tier} match{chance}", style="dim", markup=False)
        out.print(f"   {' '.join(hit.text.split())[:400]}", markup=False)
    warn((*filter(None, [absent_sections(evidence.absent, evidence.plan.language)]), *evidence.warnings))
