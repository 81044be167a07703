"""Doctor: what works, what is missing and how to get it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cli.options import AsJson, Workspace
from cli.terminal import bar, end_as_json, errors_end, print_table
from rag_engine.config import Config, read_config
from rag_engine.errors import InputError
from rag_engine.messages import without_passwords
from rag_engine.types.finding import Finding

if TYPE_CHECKING:
    from rag_engine.engine import Engine

app = typer.Typer()

_DISK_WANTED = 2 * 2**30
_CATALOG, _RECORDS, _REPAIRED = "Catalog", "Records", "Repaired"
_MARKS = {"good": Text("ok", "green"), "note": Text("--", "yellow"), "bad": Text("!!", "red")}
# Of a damaged catalog, as many as help to see how far it goes.
_FINDINGS = 3


@app.command()
def doctor(
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Make anew what is damaged or incomplete: catalog, texts, vectors, indexes."),
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Check models, servers, OCR, catalog, indexes and disk; say what is missing and how to get it.

    With --repair, what is damaged is made again first. A destroyed catalog comes back from the log and the originals,
    which are read again, and only what has no whole vector is encoded.
    """
    from rag_engine.engine import open_engine

    with errors_end(as_json):
        config, settings = _read_settings(workspace)
        checks = [settings, *_databases(config)]
        done: list[Finding] = []
        if repair and (destroyed := _destroyed(checks)):
            done = _repair_database(config, destroyed)
            checks = [settings, *_databases(config)]
        if not _destroyed(checks):
            # A damaged database is not opened: its next reader might write to it.
            with closing(open_engine(config)) as engine:
                checks += examine(engine)
                if repair and (repaired := _repair(engine, checks)):
                    done += repaired
                    checks = [settings, *_databases(config), *examine(engine)]
        checks = [*done, *checks]
    code = 1 if any(check.state == "bad" for check in checks) else 0
    end_as_json(as_json, {"checks": [asdict(check) for check in checks]}, code)
    said = (
        (_MARKS[finding.state], f"{finding.name}: {finding.found}", Text(finding.remedy, "dim")) for finding in checks
    )
    print_table((), (row for mark, found, remedy in said for row in ((mark, found), ("", remedy)) if row[1]))
    raise typer.Exit(code)


def _read_settings(workspace: Path | None) -> tuple[Config, Finding]:
    """Return the configuration and how the workspace's settings are; a damaged file is left out."""
    from ingestion.acts.register import ClosedContext
    from ingestion.acts.settings import list_settings
    from rag_engine.conversations.person import LOCAL

    try:
        config = read_config(workspace)
    except InputError as error:
        return read_config(workspace, kept=False), Finding("Settings", "bad", str(error))
    origins = [(state.origin, state.setting) for state in list_settings(ClosedContext(config.workspace, LOCAL))]
    kept = ", ".join(setting.name for origin, setting in origins if origin == "workspace") or "none"
    given = ", ".join(setting.variable for origin, setting in origins if origin == "environment") or "none"
    return config, Finding("Settings", "good", f"kept with the workspace: {kept}; from the environment: {given}")


def _destroyed(checks: Sequence[Finding]) -> str:
    """Return which database is destroyed, "" for none; of both the catalog."""
    bad = [check.name for check in checks if check.state == "bad"]
    return next((name for name in (_CATALOG, _RECORDS) if name in bad), "")


def _repair_database(config: Config, destroyed: str) -> list[Finding]:
    """Repair a destroyed database, and return what was done and what is lost."""
    from ingestion.acts.backups import repair_catalog, repair_records
    from ingestion.acts.context import local_person
    from ingestion.acts.register import ClosedContext

    place, unknown = ClosedContext(config.workspace, local_person()), None
    if destroyed == _CATALOG:
        renewed = repair_catalog(place)
        aside, unknown = renewed.aside, renewed.unknown
        found = f"the catalog was rebuilt from the log: {renewed.documents} documents, with what people decided and "
        found += "corrected; lost are applied tables of terms, and what runs found out of sources"
        done = [Finding(_REPAIRED, "note", found, "`sextant run` finds it out again.")]
    else:
        begun = repair_records(place)
        aside = begun.aside
        found = f"new records hold the {begun.decisions} decisions that the catalog tells of; lost are "
        found += "conversations, notebooks, comparisons, test questions, saved searches, people with their roles, "
        found += "corrections and the audit log"
        done = [Finding(_REPAIRED, "note", found, "Documents stay as they were described. A backup has the rest.")]
    if aside is not None:
        found = f"the damaged file is kept as {aside.relative_to(config.workspace)}; what is erased from now on may "
        remedy = "Remove that file when nobody needs it any more."
        done.append(Finding(_REPAIRED, "note", f"{found}still be in it", remedy))
    if unknown is not None:
        found = f"originals that the log does not know were moved to {unknown}"
        done.append(Finding(_REPAIRED, "note", found, f"Run `sextant add {unknown}`, and remove the folder."))
    return done


def _repair(engine: Engine, checks: Sequence[Finding]) -> list[Finding]:
    """Repair the texts, indexes and vectors that were found bad; return what was done."""
    from ingestion.acts.backups import read_again
    from ingestion.acts.context import local_person, open_context
    from ingestion.acts.indexes import rebuild
    from rag_engine.storage.collection import CONTENTS, DENSE, KEYWORDS, VECTORS
    from rag_engine.storage.manifest import check_encoder

    context, done = open_context(engine, local_person()), []
    bad = {check.name for check in checks if check.state == "bad"}
    if bad & {CONTENTS, VECTORS}:
        # Another encoder would encode everything, and answer otherwise.
        check_encoder(engine.collection.manifest(), engine.embedder(), engine.config.workspace)
    if CONTENTS in bad:
        with bar("Reading again") as advance:
            again = read_again(context, progress=advance)
        done.append(Finding(_REPAIRED, "good", f"{len(again.read)} documents were read again from their originals"))
        done += [Finding(_REPAIRED, "bad", f"{file} was not read again: {why}") for file, why in again.unread]
        bad = {check.name for check in engine.collection.check() if check.state == "bad"}
    if bad & {DENSE, KEYWORDS, VECTORS}:
        with bar("Repairing") as advance:
            rebuild(context, encode=VECTORS in bad, progress=advance)
        done.append(Finding(_REPAIRED, "good", "the indexes were made anew"))
    return done


def _databases(config: Config) -> Iterator[Finding]:
    """Yield whether the files of catalog and records are there and whole; nothing for a catalog elsewhere."""
    from rag_engine.backends.sqlite_damage import damaged_database, find_damage
    from rag_engine.storage.catalog import is_lost
    from rag_engine.workspace import catalog_file, records_file

    files = {_CATALOG: catalog_file(config.workspace), _RECORDS: records_file(config.workspace)}
    for name, path in files.items():
        if name == _CATALOG and config.catalog_url:
            continue
        if is_lost(config.workspace, path):
            lost = "is missing or empty, and the workspace holds documents"
            yield Finding(name, "bad", f"{path} {lost}", damaged_database(path, lost).help)
        elif path.is_file():
            found = find_damage(path, most=_FINDINGS)
            if found:
                yield Finding(name, "bad", "; ".join(found), damaged_database(path, found[0]).help)
            else:
                yield Finding(name, "good", f"{path.stat().st_size / 2**20:,.0f} MiB, no damage found")


def examine(engine: Engine) -> list[Finding]:
    """Everything that Sextant needs or can use, looked at one by one."""
    from ingestion.extraction.ocr import choose
    from ingestion.records import erasures, originals
    from ingestion.web import browser
    from rag_engine.backends.office import program
    from rag_engine.confinement import probe

    models = *engine.models.check(engine.embedder), *choose.check(engine.config.ocr)
    programs = *browser.check(), program.check(), probe.check()
    collection = engine.collection
    kept = *erasures.check(collection), *_workspace(engine), *collection.check(), *originals.check(collection)
    return [*models, *programs, _servers(engine), *kept, _disk(engine)]


def _workspace(engine: Engine) -> Iterator[Finding]:
    from rag_engine.atomic_write import open_to_others

    if open_to_others(engine.config.workspace):
        found = f"other users of this machine can read {engine.config.workspace}"
        remedy = f"Run `chmod 700 {engine.config.workspace}`, unless they shall."
        yield Finding("Workspace", "note", found, remedy)


def _servers(engine: Engine) -> Finding:
    from rag_engine.backends.chroma import chroma_answers
    from rag_engine.processes.serving import find_serving

    url, serving = engine.config.chroma_url, find_serving(engine.config.workspace)
    if url and not chroma_answers(url):
        remedy = "Start that Chroma server, or unset SEXTANT_CHROMA_URL."
        return Finding("Servers", "bad", f"no Chroma answers at SEXTANT_CHROMA_URL={without_passwords(url)}", remedy)
    if serving is not None:
        found = f"`sextant serve` runs at {serving.address} (process {serving.process}, since {serving.since})"
        return Finding("Servers", "good", found)
    if url:
        found = f"Chroma answers at SEXTANT_CHROMA_URL={without_passwords(url)}; `sextant serve` does not run here"
        return Finding("Servers", "good", found)
    found = "`sextant serve` does not run on this workspace; a command opens the indexes itself"
    return Finding("Servers", "note", found, "Run `sextant serve` for the page in the browser.")


def _disk(engine: Engine) -> Finding:
    free = shutil.disk_usage(engine.config.workspace).free
    short = free < _DISK_WANTED
    found = f"{free / 2**30:.1f} GiB free at {engine.config.workspace}"
    return Finding(
        "Disk", "bad" if short else "good", found, "Free some space, or name another --workspace." if short else ""
    )
