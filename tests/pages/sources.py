"""A list of sources in every state, for the tests of the admin page."""

from pathlib import Path

from ingestion.jobs.queue import JobQueue
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore
from ingestion.types.description import Description, FieldName, FieldValue
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome, OutcomeReason
from ingestion.types.run import Phase
from ingestion.types.source import Download, Extraction, Indexed, ListedSource, PortalFindings, Quality, Relation
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.messages import Message

HOSTILE = "<script>alert(1)</script> ![x](http://evil.example/x.png) $\\alpha$ :material/home:"
_TOPICS = (
    ("Flood risk management plan", "Flood", "Regione Esempio", "Italy", "it"),
    ("National heat health action plan", "Heatwaves", "Ministry of Health", "Ireland", "en"),
    ("Plan de protección ante incendios", "Wildfire", "Gobierno de España", "Spain", "es"),
    ("Erdbebenvorsorge in Gemeinden", "Earthquake", "Bundesamt für Bevölkerungsschutz", "Germany", "de"),
    ("Plan national canicule", "Heatwaves", "Santé publique France", "France", "fr"),
    ("Landslide hazard mapping guidelines", "Landslide", "Geological Survey", "Ireland", "en"),
)


def build_sources(workspace: Path) -> None:
    """Build a workspace of 26 sources, some of which await a decision, and leave nothing open."""
    engine = open_engine(read_config(workspace))
    store = SourceStore(engine.catalog)
    JobQueue(engine.catalog)
    for number in range(1, 7):
        add_indexed(store, workspace, f"ADM{number:03}", number - 1)
    add_indexed(store, workspace, "ADM007", 1, Relation("ADM002", "ADM002", how="meaning", similarity=0.93), "it")
    old = Relation("ADM001", version="2011", superseded="2016")
    add_indexed(store, workspace, "ADM008", 0, old)
    _reviews(store)
    _quarantined(store, workspace)
    _failed(store)
    _portal(store, workspace)
    store.add([_source(f"NEW{n:03}", f"https://new.example/{n}.pdf", f"New plan {n}") for n in (1, 2)])
    _green(store, "NEW002")
    engine.close()


def _source(code: str, url: str, title: str, parent: str = "", licence: str = "") -> ListedSource:
    number = int("".join(c for c in code if c.isdigit())[:3] or 1)
    return ListedSource(code, url, "", title, "", "", licence, parent, Message(f"seeds.xlsx, Sheet1, row {number + 1}"))


def _put(store: SourceStore, code: str, phase: Phase, outcome: Outcome) -> None:
    store.record(code, phase, outcome, fingerprint="f", seconds=0.4)


def _green(store: SourceStore, code: str) -> None:
    mark = LicenceMark("mark", "GREEN", "CC BY 4.0", 30, "Licensed under CC BY 4.0", "rel=license")
    verdict = LicenceVerdict("GREEN", "CC BY 4.0", (mark,), language="en")
    _put(store, code, "licence", Outcome("done", "licence_green", Message("CC BY 4.0, by rel=license."), verdict))


def _downloaded(store: SourceStore, workspace: Path, code: str, *, apart: bool = False) -> None:
    name = f"{code}_plan.pdf"
    folder = workspace / ("quarantine" if apart else "downloads")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(f"%PDF-1.4 {code}".encode())
    urls = (f"https://example.org/{code}", f"https://example.org/files/{name}")
    download = Download(
        f"downloads/{name}", urls, code.encode().hex() * 4, 48_213, "application/pdf", "file", "2026-01-01"
    )
    _put(store, code, "acquisition", Outcome("done", "", Message(), download))
    _put(store, code, "portals", Outcome("skipped", "not_a_portal"))


def _read(store: SourceStore, code: str, pages: int = 24, characters: int = 61_000, language: str = "en") -> None:
    extraction = Extraction(
        code.encode().hex() * 4, "application/pdf", pages, 0, 0, characters, characters, "", language, 48_213
    )
    _put(store, code, "extraction", Outcome("done", "", Message(), extraction))


def _scored(store: SourceStore, code: str, reason: OutcomeReason = "", message: str = "") -> None:
    quality = (
        Quality(73.5, 40, 15, 10, 8.5, 1.0, ("Introduction",), ("plan",)) if not reason else Quality(21, 6, 3, 5, 7)
    )
    status = "refused" if reason else "done"
    _put(store, code, "quality", Outcome(status, reason, message, quality))  # type: ignore[arg-type]


def add_indexed(
    store: SourceStore, workspace: Path, code: str, topic: int, relation: Relation | None = None, language: str = ""
) -> None:
    """Add a source that came through all phases, on one of the topics."""
    title, hazard, authority, country, own = _TOPICS[topic]
    store.add([_source(code, f"https://example.org/{code}.pdf", title)])
    _green(store, code)
    _downloaded(store, workspace, code)
    _read(store, code, language=language or own)
    _scored(store, code)
    standing = relation or Relation(code)
    reason: OutcomeReason = "superseded" if standing.superseded else "translation" if standing.translation_of else ""
    _put(store, code, "deduplication", Outcome("skipped" if reason else "done", reason, Message(), standing))
    values: list[tuple[FieldName, str, str, int | None, float]] = [
        ("title", title, title, 1, 0.95),
        ("authority", authority, f"Published by {authority}.", 1, 0.8),
        ("document_type", "Guidelines", "These guidelines are for municipalities.", 2, 0.42),
        ("hazards", hazard, f"The plan deals with {hazard.lower()}.", 3, 0.9),
        ("tags", "Vulnerable groups", "Older people who live alone are visited daily.", 7, 0.55),
        ("language", language or own, "", None, 0.99),
        ("geographical_level", "National", f"It applies in all of {country}.", 1, 0.7),
        ("countries", country, f"It applies in all of {country}.", 1, 0.7),
        ("description", f"{title}. It says who does what before, during and after the event.", "", None, 0.3),
    ]
    if topic % 2:
        values.append(("date", "2021-05-18", "Approved on 18 May 2021.", 1, 0.85))
    described = tuple(
        FieldValue(field, value, "rule", sentence, page, sure) for field, value, sentence, page, sure in values
    )
    _put(store, code, "metadata", Outcome("done", "", Message(), Description(described)))
    _put(store, code, "indexing", Outcome("done", "", Message(), Indexed(code.encode().hex()[:12], 40, "f")))


def _reviews(store: SourceStore) -> None:
    """Three of one host, a conflict, one without a statement, and one that was decided."""
    footer = LicenceMark("pattern", "YELLOW", "", 12, "Reproduction may be authorised on request.", "footer")
    for number in (1, 2, 3):
        code = f"REV{number:03}"
        store.add([_source(code, f"https://council.example/plans/{number}.pdf", f"Council plan {number}")])
        open_ = Outcome(
            "refused",
            "licence_unclear",
            Message("Its wording decides nothing."),
            LicenceVerdict("YELLOW", "", (footer,)),
        )
        _put(store, code, "licence", open_)
    marks = (
        LicenceMark(
            "mark", "GREEN", "CC BY-NC 4.0", 30, "https://creativecommons.org/licenses/by-nc/4.0/", "rel=license"
        ),
        LicenceMark("pattern", "RED", "All rights reserved", 25, "© 2020. All rights reserved.", "page 2"),
    )
    store.add([_source("REV004", "https://agency.example/report", HOSTILE, licence="CC BY-NC")])
    verdict = LicenceVerdict("YELLOW", "CC BY-NC 4.0", marks, ("NC",), "en", conflict=True)
    _put(
        store,
        "REV004",
        "licence",
        Outcome("refused", "licence_conflict", Message("Its statements contradict."), verdict),
    )
    store.add([_source("REV005", "https://silent.example/plan", "A plan that says nothing")])
    none = Outcome(
        "refused", "licence_unclear", Message("Nothing is said of a licence."), LicenceVerdict("YELLOW", "", ())
    )
    _put(store, "REV005", "licence", none)
    store.add([_source("RED001", "https://shop.example/book", "A book for sale")])
    red = LicenceMark("pattern", "RED", "All rights reserved", 25, "All rights reserved.", "footer")
    refused = LicenceVerdict("RED", "All rights reserved", (red,))
    _put(store, "RED001", "licence", Outcome("refused", "licence_reserved", Message("All rights reserved."), refused))
    store.add([_source("REV006", "https://decided.example/plan", "A plan that was decided")])
    _put(store, "REV006", "licence", none)
    store.decide(Decision("REV006", "licence", "GREEN", "Ada", "They wrote to us.", "2026-01-02T10:00:00+00:00"))


def _quarantined(store: SourceStore, workspace: Path) -> None:
    """Add a short law, a page that is none, and a copy of another source."""
    for code, title in (("QUA001", "Short flood law"), ("QUA002", "Privacy policy"), ("QUA003", "Flood plan, again")):
        store.add([_source(code, f"https://example.org/{code}.pdf", title)])
        _green(store, code)
        _downloaded(store, workspace, code, apart=True)
        _read(store, code, pages=2, characters=2_100)
    _scored(store, "QUA001", "too_few_pages", "It has 2 pages; the least is 4.")
    _scored(store, "QUA002", "title_refused", "Its title “Privacy policy” is that of a page, not of a document.")
    _scored(store, "QUA003")
    relation = Relation("ADM001", duplicate_of="ADM001", how="text", similarity=0.97)
    copy = Outcome("refused", "same_text", Message("It has nearly the same text as ADM001."), relation)
    _put(store, "QUA003", "deduplication", copy)


def _failed(store: SourceStore) -> None:
    ended: tuple[tuple[OutcomeReason, str], ...] = (
        ("timed_out", "slow.example gave nothing for 30 s."),
        ("http_error", "broken.example answered 500."),
    )
    for number, (reason, message) in enumerate(ended, 1):
        code = f"BAD{number:03}"
        store.add([_source(code, f"https://{message.split()[0]}/plan.pdf", f"Plan out of reach {number}")])
        _green(store, code)
        _put(store, code, "acquisition", Outcome("failed", reason, Message(message), None, True))


def _portal(store: SourceStore, workspace: Path) -> None:
    store.add([_source("POR001", "https://portal.example/plans", "Plans of the region")])
    _green(store, "POR001")
    page = Download("", ("https://portal.example/plans",), "", 0, "text/html", "directory", "2026-01-01")
    _put(store, "POR001", "acquisition", Outcome("skipped", "directory", Message("A page that lists documents."), page))
    left_out = (Message("Documents left out, in the list already: {n:,}.", n=3),)
    found = PortalFindings((), ("https://portal.example/plans",), left_out)
    _put(store, "POR001", "portals", Outcome("done", "", Message("2 documents found."), found))
    for number in (1, 2):
        code = f"POR001.{number}"
        store.add([_source(code, f"https://portal.example/{number}.pdf", f"Regional plan {number}", "POR001")])
        _green(store, code)
        _downloaded(store, workspace, code)
