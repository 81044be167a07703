"""Phase "portals": the documents that a portal offers become sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from ingestion.phases.definition import SourcePhase
from ingestion.portals.explore import explore
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import SourceStore
from ingestion.tools import Tools
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource, PortalFindings
from ingestion.web.urls import normal_url
from rag_engine.messages import Message


def inputs(record: SourceRecord, tools: Tools) -> Mapping[str, object]:
    """Return the portal's page and the bounds of its exploration."""
    download = record.download
    page = (download.urls, download.sha256, download.kind) if download else None
    return {"page": page, "bounds": asdict(tools.config.portals)}


def run(record: SourceRecord, tools: Tools) -> Outcome:
    """Explore the portal; a portal that was found under another is not explored."""
    download = record.download
    if download is None or download.kind != "directory":
        return Outcome("skipped", "not_a_portal")
    if record.source.parent:
        message = Message(
            "It lists documents itself. Portals are explored {depth} levels deep. Put its address on the list.",
            depth=tools.config.portals.depth,
        )
        return Outcome("refused", "nothing_found", message)
    # Its own documents are found again; those of other rows are not its.
    own = normal_url(record.source.url)
    known = frozenset(url for url, above in tools.listed.items() if above != record.source.code and url != own)
    explored = explore(record.source, download, tools, known=known)
    findings = explored.evidence
    for url in findings.visited if isinstance(findings, PortalFindings) else ():
        tools.forget(url)
    return explored


def _adopt(record: SourceRecord, outcome: Outcome, store: SourceStore) -> None:
    """Put a document of a portal on the list, unless its address is there already.

    Its code is {parent}.{n}, where n always belongs to this address.
    """
    if not isinstance(outcome.evidence, PortalFindings):
        return
    portal, present = record.source, store.sources()
    own = [source for source in present if source.parent == portal.code]
    known = {source.url for source in own}
    elsewhere = {normal_url(source.url) for source in present if source.parent != portal.code}
    last = max([store.last_child(portal.code), *(int(source.code.rpartition(".")[2]) for source in own)])
    found = outcome.evidence.found
    new = [document for document in found if document.url not in known and normal_url(document.url) not in elsewhere]
    store.add(
        ListedSource(
            code=f"{portal.code}.{number}",
            url=document.url,
            title=document.title,
            authority=document.authority or portal.authority,
            licence=document.licence,
            parent=portal.code,
            origin=Message(
                "found under {code} ({via})" if document.via else "found under {code}",
                code=portal.code,
                via=document.via,
            ),
        )
        for number, document in enumerate(new, start=last + 1)
    )


PHASE = SourcePhase(
    run=run,
    inputs=inputs,
    tables=("pages.toml",),
    on_the_web=True,
    parallel=lambda config: config.web.parallel,
    follow_up=_adopt,
)
