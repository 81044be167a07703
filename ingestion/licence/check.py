"""Licence check of a source before anything of it is stored: a status with the evidence it rests on.

The cascade of Buriasco (2026, section 4.1): hosts whose works are free, then what a page tells machines and people,
then a language model for what is still open. What contradicts itself is for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingestion.licence.html_marks import mark_of
from ingestion.licence.model import ask_model
from ingestion.licence.reading import Fetch, Reading, read_address, read_html, read_local
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
from ingestion.web.trusted_domains import domain_mark
from rag_engine.text.templates import kept_sentence

if TYPE_CHECKING:
    from ingestion.protocols import Extractor, LanguageModel

_ENDS: dict[Light, tuple[OutcomeStatus, OutcomeReason]] = {
    "GREEN": ("done", "licence_green"),
    "YELLOW": ("skipped", "licence_unclear"),
    "RED": ("rejected", "licence_reserved"),
}
_SUBJECTS = {
    "part": kept_sentence("a part of it such as a picture"),
    "data": "data",
    "quoted": kept_sentence("material from elsewhere"),
}
# Gives a page after its scripts ran; None where there is no browser.
Render = Callable[[str], Fetched | None]


def judge_licence(
    source: SeedSource,
    fetch: Fetch,
    extractor: Extractor | None,
    language_model: LanguageModel | None,
    *,
    folder: Path,
    seconds: float,
    render: Render = lambda _: None,
) -> Outcome:
    """Return the light of a source as the outcome of its phase; the evidence is always a LicenceVerdict.

    GREEN passes; YELLOW waits for a person; RED is rejected. A local file of the analyst passes with whatever light,
    and so does a catalogue, since each of its records has one. `folder` takes downloads, which are removed again;
    `seconds` is the model's time. A page that decides nothing is read once more as `render` gives it.
    """
    listed = _listed(source)
    if source.path:
        reading = read_local(Path(source.path), extractor)
        verdict, messages = _weigh((*listed, *reading.marks), reading.texts, language_model, seconds)
        return _outcome(verdict, (*reading.warnings, *messages), local=True)
    domain = domain_mark(source.url)
    marks = (*([domain] if domain else []), *listed)
    verdict = decide(marks)
    if domain is not None and domain.light == "GREEN":
        return _outcome(verdict)
    try:
        reading = read_address(source.url, fetch, extractor, folder)
    except Refusal as refusal:
        return refusal.outcome(verdict)
    if reading.catalogue:
        message = kept_sentence(
            "A {kind} catalogue: each of its records has a separate licence status.", kind=reading.catalogue
        )
        return Outcome("done", "licence_unclear", message, decide((*marks, *reading.marks)))
    if reading.scripts and _is_open((*marks, *reading.marks)):
        reading = _with_scripts(reading, source.url, render)
    if reading.terms and _is_open((*marks, *reading.marks)):
        reading = _with_terms(reading, fetch, extractor, folder)
    marks = (*marks, *reading.marks)
    if reading.refused is not None and not any(mark.light == "GREEN" for mark in marks):
        # Whatever its licence, nothing can be done with a file that cannot be read.
        refused = reading.refused
        return Outcome(refused.status, refused.reason, str(refused), decide(marks), refused.retryable)
    verdict, messages = _weigh(marks, reading.texts, language_model, seconds)
    return _outcome(verdict, (*reading.warnings, *messages))


def _is_open(marks: Sequence[LicenceMark]) -> bool:
    verdict = decide(marks)
    return verdict.light == "YELLOW" and not verdict.conflict


def _with_scripts(reading: Reading, url: str, render: Render) -> Reading:
    """Return the page as its scripts leave it; as it was where there is no browser or the browser fails."""
    try:
        fetched = render(url)
    except Refusal as refusal:
        return replace(
            reading,
            warnings=(*reading.warnings, kept_sentence("A browser could not show the page: {error}", error=refusal)),
        )
    if fetched is None:
        return reading
    rendered = read_html(fetched.body, fetched.url, fetched.charset)
    return replace(rendered, warnings=(*reading.warnings, *rendered.warnings), terms=rendered.terms or reading.terms)


def _with_terms(reading: Reading, fetch: Fetch, extractor: Extractor | None, folder: Path) -> Reading:
    """Return the page with what its site's terms say."""
    try:
        terms = read_address(reading.terms, fetch, extractor, folder)
    except Refusal as refusal:
        warning = kept_sentence("The terms at {url} could not be read: {error}", url=reading.terms, error=refusal)
        return replace(reading, warnings=(*reading.warnings, warning))
    marks = tuple(replace(mark, place=f"{mark.place} of {reading.terms}") for mark in terms.marks)
    return replace(reading, marks=(*reading.marks, *marks), texts=(*reading.texts, *terms.texts))


def _listed(source: SeedSource) -> tuple[LicenceMark, ...]:
    """Return what the list of sources says of the licence: it counts, but does not free a document alone.

    What a catalogue says of its record is the publisher's own word.
    """
    if source.parent:
        recorded = mark_of(source.licence, "catalogue record", score_of("meta"))
        return (recorded,) if recorded else ()
    mark = mark_of(source.licence, "list of sources", score_of("listed"))
    if mark is None:
        return ()
    return (replace(mark, score=score_of("plain") if mark.light == "RED" else min(mark.score, score_of("listed"))),)


def _weigh(
    marks: Sequence[LicenceMark], texts: Sequence[str], language_model: LanguageModel | None, seconds: float
) -> tuple[LicenceVerdict, tuple[str, ...]]:
    """Return the verdict of all marks, with the model's where they decide nothing."""
    verdict = _with_language(decide(marks))
    if verdict.light != "YELLOW" or verdict.conflict:
        return verdict, ()
    if language_model is None:
        return verdict, (kept_sentence("No language model was asked: none is connected."),)
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
    limits = kept_sentence("Restrictions: {restrictions}.", restrictions=", ".join(verdict.restrictions))
    evidence = kept_sentence("Evidence: {quoted}.", quoted=quoted)
    match verdict.light:
        case "GREEN":
            opening = kept_sentence("Free to use under {licence}.", licence=verdict.licence)
        case "RED":
            opening = kept_sentence("Rights are reserved ({licence}).", licence=verdict.licence)
        case _ if verdict.conflict:
            opening = kept_sentence("Its licence statements contradict each other.")
        case _:
            opening = _open(verdict)
    return " ".join(filter(None, (opening, limits if verdict.restrictions else "", evidence if quoted else "", *notes)))


def _open(verdict: LicenceVerdict) -> str:
    """Return why nothing is decided: nothing is said, nothing clear, or something about another thing."""
    subjects = [_SUBJECTS[mark.subject] for mark in verdict.marks if mark.subject in _SUBJECTS and mark.licence]
    if subjects:
        return kept_sentence("Its licence statement is about {subject}, not about the document.", subject=subjects[0])
    if named := next((mark.licence for mark in verdict.marks if mark.rule == "name-alone"), ""):
        return kept_sentence("It names {licence} without saying for what.", licence=named)
    return kept_sentence("No licence statement found.")


def _outcome(verdict: LicenceVerdict, notes: Sequence[str] = (), *, local: bool = False) -> Outcome:
    """Return the end of the check; a file that the analyst has goes on with whatever light, which is recorded."""
    status, reason = _ENDS[verdict.light]
    message = _sentence(verdict, notes)
    if local:
        status = "done"
        message += " " + kept_sentence(
            "The file is local and is used under any licence; the licence status is recorded."
        )
    return Outcome(status, "licence_conflict" if verdict.conflict else reason, message, verdict)
