"""A list of sources in every state, written as the phases would have left it; for the tests of the admin page."""

from __future__ import annotations

from pathlib import Path

from ingestion.jobs.queue import Ledger
from ingestion.records.source_record import Decision
from ingestion.records.source_store import Register
from ingestion.types import (
    Description,
    Download,
    Extraction,
    FieldName,
    FieldValue,
    Indexed,
    LicenceMark,
    LicenceVerdict,
    Outcome,
    OutcomeReason,
    Phase,
    PortalFindings,
    Quality,
    Relation,
    Source,
)
from rag_engine.config import read_config
from rag_engine.engine import open_engine

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
    """Nothing; the workspace has 26 sources, of which some wait for a person's word, and nothing is left open."""
    engine = open_engine(read_config(workspace))
    register = Register(engine.catalog)
    Ledger(engine.catalog)
    for number in range(1, 7):
        _indexed(register, workspace, f"ADM{number:03}", number - 1)
    _indexed(register, workspace, "ADM007", 1, Relation("ADM002", "ADM002", how="meaning", similarity=0.93), "it")
    old = Relation("ADM001", version="2011", superseded="2016")
    _indexed(register, workspace, "ADM008", 0, old)
    _reviews(register)
    _quarantined(register, workspace)
    _failed(register)
    _portal(register, workspace)
    register.add([_source(f"NEW{n:03}", f"https://new.example/{n}.pdf", f"New plan {n}") for n in (1, 2)])
    _green(register, "NEW002")
    engine.close()


def _source(code: str, url: str, title: str, parent: str = "", licence: str = "") -> Source:
    number = int("".join(c for c in code if c.isdigit())[:3] or 1)
    return Source(code, url, "", title, "", "", licence, parent, f"seeds.xlsx, Sheet1, row {number + 1}")


def _put(register: Register, code: str, phase: Phase, outcome: Outcome) -> None:
    register.record(code, phase, outcome, fingerprint="f", seconds=0.4)


def _green(register: Register, code: str) -> None:
    mark = LicenceMark("mark", "GREEN", "CC BY 4.0", 30, "Licensed under CC BY 4.0", "rel=license")
    verdict = LicenceVerdict("GREEN", "CC BY 4.0", (mark,), language="en")
    _put(register, code, "licence", Outcome("done", "licence_green", "CC BY 4.0, by rel=license.", verdict))


def _downloaded(register: Register, workspace: Path, code: str, *, apart: bool = False) -> None:
    name = f"{code}_plan.pdf"
    folder = workspace / ("quarantine" if apart else "downloads")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(f"%PDF-1.4 {code}".encode())
    urls = (f"https://example.org/{code}", f"https://example.org/files/{name}")
    download = Download(
        f"downloads/{name}", urls, code.encode().hex() * 4, 48_213, "application/pdf", "file", "2026-01-01"
    )
    _put(register, code, "acquisition", Outcome("done", "", "", download))
    _put(register, code, "portals", Outcome("skipped", "not_a_portal"))


def _read(register: Register, code: str, pages: int = 24, characters: int = 61_000, language: str = "en") -> None:
    extraction = Extraction(
        code.encode().hex() * 4, "application/pdf", pages, 0, 0, characters, characters, "", language, 48_213
    )
    _put(register, code, "extraction", Outcome("done", "", "", extraction))


def _scored(register: Register, code: str, reason: OutcomeReason = "", message: str = "") -> None:
    quality = (
        Quality(73.5, 40, 15, 10, 8.5, 1.0, ("Introduction",), ("plan",)) if not reason else Quality(21, 6, 3, 5, 7)
    )
    status = "rejected" if reason else "done"
    _put(register, code, "quality", Outcome(status, reason, message, quality))  # type: ignore[arg-type]


def _indexed(
    register: Register, workspace: Path, code: str, topic: int, relation: Relation | None = None, language: str = ""
) -> None:
    title, hazard, authority, country, own = _TOPICS[topic]
    register.add([_source(code, f"https://example.org/{code}.pdf", title)])
    _green(register, code)
    _downloaded(register, workspace, code)
    _read(register, code, language=language or own)
    _scored(register, code)
    standing = relation or Relation(code)
    reason: OutcomeReason = "superseded" if standing.superseded else "translation" if standing.translation_of else ""
    _put(register, code, "deduplication", Outcome("skipped" if reason else "done", reason, "", standing))
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
    _put(register, code, "metadata", Outcome("done", "", "", Description(described)))
    _put(register, code, "indexing", Outcome("done", "", "", Indexed(code.encode().hex()[:12], 40, "f")))


def _reviews(register: Register) -> None:
    """Three of one host with the same evidence, a conflict, one without any statement, and one that was decided."""
    footer = LicenceMark("pattern", "YELLOW", "", 12, "Reproduction may be authorised on request.", "footer")
    for number in (1, 2, 3):
        code = f"REV{number:03}"
        register.add([_source(code, f"https://council.example/plans/{number}.pdf", f"Council plan {number}")])
        open_ = Outcome(
            "rejected", "licence_unclear", "Its wording decides nothing.", LicenceVerdict("YELLOW", "", (footer,))
        )
        _put(register, code, "licence", open_)
    marks = (
        LicenceMark(
            "mark", "GREEN", "CC BY-NC 4.0", 30, "https://creativecommons.org/licenses/by-nc/4.0/", "rel=license"
        ),
        LicenceMark("pattern", "RED", "All rights reserved", 25, "© 2020. All rights reserved.", "page 2"),
    )
    register.add([_source("REV004", "https://agency.example/report", HOSTILE, licence="CC BY-NC")])
    verdict = LicenceVerdict("YELLOW", "CC BY-NC 4.0", marks, ("NC",), "en", conflict=True)
    _put(register, "REV004", "licence", Outcome("rejected", "licence_conflict", "Its statements contradict.", verdict))
    register.add([_source("REV005", "https://silent.example/plan", "A plan that says nothing")])
    none = Outcome("rejected", "licence_unclear", "Nothing is said of a licence.", LicenceVerdict("YELLOW", "", ()))
    _put(register, "REV005", "licence", none)
    register.add([_source("RED001", "https://shop.example/book", "A book for sale")])
    red = LicenceMark("pattern", "RED", "All rights reserved", 25, "All rights reserved.", "footer")
    refused = LicenceVerdict("RED", "All rights reserved", (red,))
    _put(register, "RED001", "licence", Outcome("rejected", "licence_reserved", "All rights reserved.", refused))
    register.add([_source("REV006", "https://decided.example/plan", "A plan that was decided")])
    _put(register, "REV006", "licence", none)
    register.decide(Decision("REV006", "licence", "GREEN", "Ada", "They wrote to us.", "2026-01-02T10:00:00+00:00"))


def _quarantined(register: Register, workspace: Path) -> None:
    """A short law, a page that is none, and a copy of another source."""
    for code, title in (("QUA001", "Short flood law"), ("QUA002", "Privacy policy"), ("QUA003", "Flood plan, again")):
        register.add([_source(code, f"https://example.org/{code}.pdf", title)])
        _green(register, code)
        _downloaded(register, workspace, code, apart=True)
        _read(register, code, pages=2, characters=2_100)
    _scored(register, "QUA001", "too_few_pages", "It has 2 pages; the least is 4.")
    _scored(register, "QUA002", "title_refused", "Its title “Privacy policy” is that of a page, not of a document.")
    _scored(register, "QUA003")
    relation = Relation("ADM001", duplicate_of="ADM001", how="text", similarity=0.97)
    copy = Outcome("rejected", "same_text", "It has nearly the same text as ADM001.", relation)
    _put(register, "QUA003", "deduplication", copy)


def _failed(register: Register) -> None:
    ended: tuple[tuple[OutcomeReason, str], ...] = (
        ("timed_out", "slow.example gave nothing for 30 s."),
        ("http_error", "broken.example answered 500."),
    )
    for number, (reason, message) in enumerate(ended, 1):
        code = f"BAD{number:03}"
        register.add([_source(code, f"https://{message.split()[0]}/plan.pdf", f"Plan out of reach {number}")])
        _green(register, code)
        _put(register, code, "acquisition", Outcome("failed", reason, message, None, True))


def _portal(register: Register, workspace: Path) -> None:
    register.add([_source("POR001", "https://portal.example/plans", "Plans of the region")])
    _green(register, "POR001")
    page = Download("", ("https://portal.example/plans",), "", 0, "text/html", "directory", "2026-01-01")
    _put(register, "POR001", "acquisition", Outcome("skipped", "directory", "A page that lists documents.", page))
    found = PortalFindings((), ("https://portal.example/plans",))
    _put(register, "POR001", "portals", Outcome("done", "", "2 documents found.", found))
    for number in (1, 2):
        code = f"POR001.{number}"
        register.add([_source(code, f"https://portal.example/{number}.pdf", f"Regional plan {number}", "POR001")])
        _green(register, code)
        _downloaded(register, workspace, code)
