"""Commands for a person's decisions: licences, rejections, corrections of fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from cli.jobs import watch
from cli.options import AsJson, By, Note, Workspace
from cli.terminal import author_of, context_of, end_as_json, err, out, print_table, say

if TYPE_CHECKING:
    from ingestion.acts.context import ActContext
    from ingestion.jobs.queue import Job
    from ingestion.records.document_corrections import Correction
    from ingestion.status.views import UndecidedSource
    from ingestion.types.description import FieldName

app = typer.Typer()


@app.command()
def review(
    code: Annotated[str, typer.Argument(help="The source to decide on; none lists those to decide.")] = "",
    choice: Annotated[str, typer.Argument(help="GREEN or RED for its licence, restore for a rejection, undo.")] = "",
    status: Annotated[str, typer.Option("--status", help="Only sources with this licence status, all at once.")] = "",
    host: Annotated[str, typer.Option("--host", help="Only sources of this host, all at once.")] = "",
    note: Note = "",
    by: By = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the licences that a person must decide, with the evidence; or decide one, or many at once.

    With --status or --host the choice alone decides all that are listed so: `review --host example.org GREEN`.
    """
    from ingestion.status.views import review_report

    with context_of(workspace, as_json) as context:
        if code and not (status or host):
            _decide(context, [code], choice, author_of(by), note, as_json)
        report = review_report(list(context.store.records().values()), context.store.decisions())
        waiting = [source for source in report.waiting if _is_meant(source, status, host)]
        if code:
            # The codes of the sources decided at once; with a code before the choice, only that one.
            from rag_engine.errors import InputError

            found = [source.code for source in waiting if not choice or source.code == code]
            if not found:
                raise InputError("No source to decide matches.", help="`sextant review` lists those to decide.")
            _decide(context, found, choice or code, author_of(by), note, as_json)
        report = replace(report, waiting=waiting)
    end_as_json(as_json, asdict(report))
    for source in report.waiting:
        out.print(f"{source.code}  {source.title}".rstrip(), style="bold", markup=False)
        say(f"  {source.url}")
        out.print(f"  {source.light} {source.reason}: {source.message}", markup=False)
        for mark in source.marks:
            out.print(f"  {mark.light:6} {mark.place}: {mark.quote[:160]}", style="dim", markup=False)
    out.print(f"{len(report.waiting)} to decide. Decide with `sextant review CODE GREEN|RED --note WHY`.")
    if report.local_files:
        out.print(f"\n{len(report.local_files)} local files, which pass whatever their licence.")
    print_table((), ((file.code, f"{file.light} {file.reason}", file.title) for file in report.local_files))


@app.command()
def correct(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT... [FIELD=VALUE]...",
            help="Documents by id, file, title or code of the source, then values of fields: title, hazards, date ... "
            "and, of a document that is not on the list of sources, licence and source_url. "
            "Several values are separated by a semicolon; FIELD= empties a field.",
        ),
    ],
    agree: Annotated[
        bool, typer.Option("--agree", help="Confirm extracted values: of the fields named, or all.")
    ] = False,
    history: Annotated[bool, typer.Option("--history", help="List what people corrected and confirmed.")] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Undo what was last done, to the field named or at all.")
    ] = False,
    note: Note = "",
    by: By = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Correct fields of documents, or confirm what was extracted; your value wins over every extractor."""
    from ingestion.acts import corrections
    from rag_engine.errors import InputError

    with context_of(workspace, as_json) as context:
        names, fields, values = _asked(documents)
        if agree + history + undo + bool(values) > 1 or (fields and not (agree or undo)):
            raise InputError("One thing at a time.", help="Give FIELD=VALUE, --agree, --history or --undo alone.")
        if history:
            done = [correction for name in names for correction in corrections.correction_history(context, name)]
        elif agree:
            done = list(corrections.agree(context, names, author_of(by), fields))
        elif undo:
            chosen: list[FieldName | None] = [*fields] or [None]
            done = [
                correction for field in chosen for correction in corrections.undo(context, names, author_of(by), field)
            ]
        elif values:
            done = list(corrections.correct(context, dict.fromkeys(names, values), author_of(by), note))
        else:
            raise InputError("There is nothing to correct.", help="Give FIELD=VALUE, --agree, --history or --undo.")
    end_as_json(as_json, {"corrections": [asdict(correction) for correction in done]})
    print_table((), (_correction_row(correction, dated=history) for correction in done))
    if not done:
        out.print("Nothing was corrected." if history else "Nothing changed.")


def _asked(words: Sequence[str]) -> tuple[list[str], list[FieldName], dict[FieldName, list[str]]]:
    """Return documents, fields named alone, and values by field; the first word is always a document."""
    from ingestion.types.description import ALL_FIELDS, LIST_FIELDS, check_field

    names = list(words[:1])
    fields: list[FieldName] = []
    values: dict[FieldName, list[str]] = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        known = name.strip().lower().replace(" ", "_") in ALL_FIELDS
        if not equals and not known:
            names.append(word)
            continue
        field = check_field(name)
        if not equals:
            fields.append(field)
        else:
            given = value.split(";") if field in LIST_FIELDS else [value]
            values.setdefault(field, []).extend(one.strip() for one in given if one.strip())
    return names, fields, values


def _correction_row(correction: Correction, *, dated: bool) -> tuple[str, ...]:
    values = "; ".join(correction.values) or "(emptied)"
    what = {"correct": values, "agree": f"{values} (agreed)", "undo": "undone"}[correction.act]
    when = (correction.when[:16].replace("T", " "), correction.author) if dated else ()
    return (*when, correction.code, f"{correction.field}: {what}", f"({correction.note})" if correction.note else "")


def _is_meant(source: UndecidedSource, status: str, host: str) -> bool:
    """Return whether a source has the licence status and is of the host or below it, where given."""
    name = (urlsplit(source.url).hostname or "").lower()
    wanted = host.strip().lower().removeprefix("www.")
    return (not status or source.light == status.strip().upper()) and (not wanted or f".{name}".endswith(f".{wanted}"))


def _decide(context: ActContext, codes: Sequence[str], choice: str, author: str, note: str, as_json: bool) -> None:
    """Record the decision, wait until a refused document has left the index, and end the command."""
    from ingestion.acts.decisions import decide

    decided = decide(context, codes, choice, author, note)
    ended = watch(context, decided.job) if decided.job else None
    job, code = (asdict(ended), int(ended.status != "done")) if ended else (None, 0)
    end_as_json(as_json, {"codes": list(codes), "choice": choice, "author": author, "run": job}, code)
    _print_decision(f"{', '.join(codes)}: {choice} by {author}", ended)
    raise typer.Exit(code)


def _print_decision(decided: str, ended: Job | None) -> None:
    if ended is None:
        out.print(f"{decided}; run `sextant run` to continue.", markup=False)
    elif ended.status == "done":
        out.print(f"{decided}; it was taken out of the index.", markup=False)
    else:
        failed = f"{decided}, but the index was not changed: {ended.status} {ended.message}".strip()
        err.print(f"{failed} Run `sextant run indexing`.", style="red", markup=False)
