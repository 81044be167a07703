"""Licence check of a source before anything of it is stored: a status with the evidence it rests on.

The cascade of Buriasco (2026, section 4.1): hosts whose works are free, then what a page tells machines and people,
then a language model for what is still open. What contradicts itself is for a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ingestion.file_names import safe_name
from ingestion.licence.html_marks import MOST_BYTES, mark_of, marks_of, read_xmp
from ingestion.licence.model import ask_model
from ingestion.licence.page_sections import FOOT, HEAD, PageText, terms_link, text_of
from ingestion.licence.patterns import read_statements
from ingestion.licence.table import score_of
from ingestion.licence.verdict import decide
from ingestion.types import (
    Fetched,
    LicenceMark,
    LicenceVerdict,
    Light,
    Outcome,
    OutcomeReason,
    OutcomeStatus,
    Refusal,
    SeedSource,
)
from ingestion.web.html import parse
from ingestion.web.trusted_domains import domain_mark
from rag_engine.types import ExtractedText

if TYPE_CHECKING:
    from ingestion.protocols import Extractor, LanguageModel

_ENDS: dict[Light, tuple[OutcomeStatus, OutcomeReason]] = {
    "GREEN": ("done", "licence_green"),
    "YELLOW": ("skipped", "licence_unclear"),
    "RED": ("rejected", "licence_reserved"),
}
_SUBJECTS = {"part": "a part of it such as a picture", "data": "data", "quoted": "material from elsewhere"}
# Gets what an address gives into a file, or in memory.
Fetch = Callable[[str, Path], Fetched]

_READ_BYTES = 200_000_000
_HTML = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class _Reading:
    """Licence evidence of a file or page, the texts for the model, its terms page, and errors."""

    marks: tuple[LicenceMark, ...] = ()
    texts: tuple[str, ...] = ()
    terms: str = ""
    warnings: tuple[str, ...] = ()
    refused: Refusal | None = None


def judge_licence(
    source: SeedSource,
    fetch: Fetch,
    extractor: Extractor | None,
    language_model: LanguageModel | None,
    *,
    folder: Path,
    seconds: float,
) -> Outcome:
    """Return the light of a source as the outcome of its phase; the evidence is always a LicenceVerdict.

    GREEN passes; YELLOW waits for a person; RED is rejected. A local file of the analyst passes with
    whatever light. `folder` takes downloads, which are removed again; `seconds` is the model's time.
    """
    listed = _listed(source)
    if source.path:
        reading = _read_file(Path(source.path), extractor)
        verdict, messages = _weigh((*listed, *reading.marks), reading.texts, language_model, seconds)
        return _outcome(verdict, (*reading.warnings, *messages), local=True)
    domain = domain_mark(source.url)
    marks = (*([domain] if domain else []), *listed)
    verdict = decide(marks)
    if domain is not None and domain.light == "GREEN":
        return _outcome(verdict)
    try:
        reading = _read_address(source.url, fetch, extractor, folder)
    except Refusal as refusal:
        return refusal.outcome(verdict)
    marks, texts, warnings = (*marks, *reading.marks), reading.texts, list(reading.warnings)
    if reading.terms:
        try:
            terms = _read_address(reading.terms, fetch, extractor, folder)
            marks += tuple(replace(mark, place=f"{mark.place} of {reading.terms}") for mark in terms.marks)
            texts += terms.texts
        except Refusal as refusal:
            warnings.append(f"The terms at {reading.terms} could not be read: {refusal}")
    if reading.refused is not None and not any(mark.light == "GREEN" for mark in marks):
        # Whatever its licence, nothing can be done with a file that cannot be read.
        refused = reading.refused
        return Outcome(refused.status, refused.reason, str(refused), decide(marks), refused.retryable)
    verdict, messages = _weigh(marks, texts, language_model, seconds)
    return _outcome(verdict, (*warnings, *messages))


def _listed(source: SeedSource) -> tuple[LicenceMark, ...]:
    """Return what the list of sources says of the licence: it counts, but does not free a document alone."""
    mark = mark_of(source.licence, "list of sources", score_of("listed"))
    if mark is None:
        return ()
    return (replace(mark, score=score_of("plain") if mark.light == "RED" else min(mark.score, score_of("listed"))),)


def _read_address(url: str, fetch: Fetch, extractor: Extractor | None, folder: Path) -> _Reading:
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix="licence_") as temporary:
        into = Path(temporary) / "page"
        fetched = fetch(url, into)
        path = Path(fetched.path) if fetched.path else into
        if not fetched.path:
            path.write_bytes(fetched.body)
        return _read_fetched(fetched, path, extractor)


def _read_fetched(fetched: Fetched, path: Path, extractor: Extractor | None) -> _Reading:
    with path.open("rb") as file:
        start = file.read(1024)
    looks_html = re.search(rb"<(?:!doctype html|html|head|body)", start, re.IGNORECASE)
    if not start.startswith(b"%PDF-") and (fetched.media_type in _HTML or looks_html):
        return _read_page(path.read_bytes(), fetched.url, fetched.charset)
    # The extractor tells a file by its bytes and, where these say nothing, by its name, which a refusal bears too.
    name = safe_name(fetched.file_name or unquote(urlsplit(fetched.url).path) or "document")
    return _read_file(path.rename(path.with_name(name)), extractor)


def _read_page(page: bytes, url: str, charset: str = "") -> _Reading:
    root = parse(page[:MOST_BYTES], charset)
    if root is None:
        return _Reading(warnings=("The page is empty.",))
    text = text_of(root)
    statements = _page_statements(text)
    marks = (*marks_of(root, url), *statements)
    # Terms are for a page that decides nothing itself.
    terms = terms_link(root, url) if all(mark.light == "YELLOW" for mark in marks) else ""
    return _Reading(marks, _snippets(text, statements), terms)


def _page_statements(text: PageText) -> list[LicenceMark]:
    footer = read_statements(text.footer or text.whole[-FOOT:], "footer")
    quoted = {(mark.light, mark.quote) for mark in footer}
    rest = [mark for mark in read_statements(text.whole, "page") if (mark.light, mark.quote) not in quoted]
    return [*footer, *rest]


def _snippets(text: PageText, statements: Sequence[LicenceMark]) -> tuple[str, ...]:
    """Return what the model reads: the sentences that name rights first, then the beginning and the end."""
    quotes = list(dict.fromkeys(mark.quote for mark in statements))[:12]
    return (*quotes, text.whole[:HEAD], text.footer[-FOOT:] or text.whole[-FOOT:])


def _read_file(path: Path, extractor: Extractor | None) -> _Reading:
    """Return a file by its own words and metadata; a page saved as HTML by its marks as well."""
    if not path.is_file():
        return _Reading(warnings=(f"{path.name} is not there.",))
    marks: list[LicenceMark] = []
    if path.stat().st_size <= _READ_BYTES:
        raw = path.read_bytes()
        if raw.startswith(b"%PDF-") or b"%PDF-" in raw[:1024]:
            marks += read_xmp(raw)
        elif path.suffix.lower() in (".html", ".htm", ".xhtml"):
            return replace(_read_page(raw, ""), terms="")
    if extractor is None:
        return _Reading(tuple(marks), warnings=(f"The text of {path.name} was not read: there is no extractor.",))
    try:
        extracted = extractor.read(path).extracted
    except Refusal as refusal:
        return _Reading(tuple(marks), warnings=(f"The text of {path.name} was not read: {refusal}",), refused=refusal)
    pages = _front_and_back(extracted)
    for name, text in pages:
        marks += read_statements(text, name)
    return _Reading(tuple(marks), tuple(text[: HEAD * 2] for _, text in pages))


def _front_and_back(extracted: ExtractedText) -> Sequence[tuple[str, str]]:
    """Return the first two pages and the last with their names; of a file without pages its beginning and end."""
    if extracted.pages <= 1 or not extracted.blocks:
        text = extracted.text
        return [("text", text)] if len(text) <= 30_000 else [("beginning", text[:15_000]), ("end", text[-15_000:])]
    texts: dict[str, list[str]] = {f"page {page}": [] for page in (1, 2, extracted.pages)}
    for block in extracted.blocks:
        texts.get(f"page {block.page}", []).append(extracted.text[block.start : block.end])
    return [(page, "\n\n".join(blocks)) for page, blocks in texts.items() if any(blocks)]


def _weigh(
    marks: Sequence[LicenceMark], texts: Sequence[str], language_model: LanguageModel | None, seconds: float
) -> tuple[LicenceVerdict, tuple[str, ...]]:
    """Return the verdict of all marks, with the model's where they decide nothing."""
    verdict = _with_language(decide(marks))
    if verdict.light != "YELLOW" or verdict.conflict:
        return verdict, ()
    if language_model is None:
        return verdict, ("No language model was asked: none is connected.",)
    mark, language, message = ask_model(language_model, texts, seconds=seconds)
    if mark is not None:
        verdict = replace(decide((*marks, mark)), language=language)
    return verdict, (message,) if message else ()


def _with_language(verdict: LicenceVerdict) -> LicenceVerdict:
    """Return the verdict with the language of the statement that decided."""
    decided = [mark for mark in verdict.marks if mark.light == verdict.light and mark.layer == "pattern"]
    if not decided or " " not in decided[0].quote:
        return verdict
    from rag_engine.backends.language_identification import identify_language

    return replace(verdict, language=identify_language(decided[0].quote))


def _sentence(verdict: LicenceVerdict, notes: Sequence[str]) -> str:
    telling = [mark for mark in verdict.marks if mark.score > 0 or mark.layer == "model"] or list(verdict.marks)
    quoted = "; ".join(f"{mark.place}: “{mark.quote[:120]}”" for mark in telling[:3])
    limits = f" Restrictions: {', '.join(verdict.restrictions)}." if verdict.restrictions else ""
    opening = {
        "GREEN": f"Free to use under {verdict.licence}.",
        "RED": f"Rights are reserved ({verdict.licence}).",
        "YELLOW": "What it says of its licence contradicts itself." if verdict.conflict else _open(verdict),
    }[verdict.light]
    return " ".join(filter(None, (opening + limits, quoted and f"Evidence: {quoted}.", *notes)))


def _open(verdict: LicenceVerdict) -> str:
    """Return why nothing is decided: nothing is said, nothing clear, or something about another thing."""
    subjects = [_SUBJECTS[mark.subject] for mark in verdict.marks if mark.subject in _SUBJECTS and mark.licence]
    if subjects:
        return f"Its licence statement is about {subjects[0]}, not about the document."
    return "No licence statement found."


def _outcome(verdict: LicenceVerdict, notes: Sequence[str] = (), *, local: bool = False) -> Outcome:
    """Return the end of the check; a file that the analyst has goes on with whatever light, which is recorded."""
    status, reason = _ENDS[verdict.light]
    message = _sentence(verdict, notes)
    if local:
        status = "done"
        message += " The file is local and is used whatever its licence; the licence status is recorded."
    return Outcome(status, "licence_conflict" if verdict.conflict else reason, message, verdict)
