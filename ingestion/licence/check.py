"""Licence check of a source before anything of it is stored: a status with the evidence it rests on.

The cascade of Buriasco (2026, section 4.1) asks three things in turn. They are hosts whose works are free, the words of
a page to machines and people, and a language model for open cases. A person decides on contradictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingestion.licence.html_marks import mark_of
from ingestion.licence.names import RESTRICTIONS, name_of_text, names_in, restrictions_of
from ingestion.licence.patterns import RESERVED, UNCLEAR, read_statements, says_reserved
from ingestion.licence.reading import Fetch, ReadFile, Reading, read_address, read_html, read_local
from ingestion.licence.statement import statement_of
from ingestion.licence.table import load_licences, score_of, tidy_text
from ingestion.prompts import LICENCE_RULES, LICENCE_SCHEMA, licence_message
from ingestion.types.licence import LicenceMark, LicenceVerdict, Light
from ingestion.types.outcome import Outcome, OutcomeReason, OutcomeStatus, Refusal
from ingestion.types.source import Fetched, ListedSource
from ingestion.web.trusted_domains import domain_mark
from rag_engine.errors import BackendError
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.text.folding import fold_in_place

if TYPE_CHECKING:
    from ingestion.protocols import LanguageModel

_ENDS: dict[Light, tuple[OutcomeStatus, OutcomeReason]] = {
    "GREEN": ("done", "licence_green"),
    "YELLOW": ("skipped", "licence_unclear"),
    "RED": ("refused", "licence_reserved"),
}
_SUBJECTS = {
    "part": Message("a part of it such as a picture"),
    "data": "data",
    "quoted": Message("material from elsewhere"),
}
# Gives a page after its scripts ran; None where there is no browser.
Render = Callable[[str], Fetched | None]
# What a permission or a sentence beside a licence is limited by: "Commercial use reserved (NC)".
_LIMITED = tuple(f"{restriction})" for restriction in RESTRICTIONS)
# The rules for a licence that is named without being granted.
_NAMED = ("variant-not-stated", "name-alone", "named-in-passing")
_LICENCES = ("CC ", "CC0", "OGL", "Licence Ouverte", "dl-de", "IODL", "NLOD", "ODbL", "ODC-By", "PDDL", "GFDL", "GPL")
SNIPPET = 6_000
_FEWEST = 12
_MOST = 600


def judge_licence(
    source: ListedSource,
    fetch: Fetch,
    read: ReadFile,
    language_model: LanguageModel | None,
    *,
    folder: Path,
    seconds: float,
    render: Render,
) -> Outcome:
    """Return the light of a source as the outcome of its phase; the evidence is always a LicenceVerdict.

    GREEN passes; YELLOW waits for a person; RED is refused. A local file of the analyst passes with any light. So does
    a catalogue, since each of its records has one. `folder` takes downloads, which are removed again; `seconds` is the
    model's time. A page that decides nothing is read once more as `render` gives it.
    """
    listed = _listed(source)
    if source.path:
        reading = read_local(Path(source.path), read)
        verdict, messages = _weigh((*listed, *reading.marks), reading.texts, language_model, seconds)
        return _outcome(verdict, (*reading.warnings, *messages), local=True)
    domain = domain_mark(source.url)
    marks = (*([domain] if domain else []), *listed)
    verdict = decide(marks)
    if domain is not None and domain.light == "GREEN":
        return _outcome(verdict)
    try:
        reading = read_address(source.url, fetch, read, folder)
    except Refusal as refusal:
        return refusal.outcome(verdict)
    if reading.catalogue:
        message = Message(
            "A {kind} catalogue: each of its records has a separate licence status.", kind=reading.catalogue
        )
        return Outcome("done", "licence_unclear", message, decide((*marks, *reading.marks)))
    if reading.scripts and _is_open((*marks, *reading.marks)):
        reading = _with_scripts(reading, source.url, render)
    if reading.terms and _is_open((*marks, *reading.marks)):
        reading = _with_terms(reading, fetch, read, folder)
    marks = (*marks, *reading.marks)
    if reading.refused is not None and not any(mark.light == "GREEN" for mark in marks):
        # Whatever its licence, nothing can be done with a file that cannot be read.
        refused = reading.refused
        return Outcome(refused.status, refused.reason, refused.message, decide(marks), refused.retryable)
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
            warnings=(*reading.warnings, Message("A browser could not show the page: {error}", error=refusal)),
        )
    if fetched is None:
        return reading
    rendered = read_html(fetched.body, fetched.url, fetched.charset)
    return replace(rendered, warnings=(*reading.warnings, *rendered.warnings), terms=rendered.terms or reading.terms)


def _with_terms(reading: Reading, fetch: Fetch, read: ReadFile, folder: Path) -> Reading:
    """Return the page with what its site's terms say."""
    try:
        terms = read_address(reading.terms, fetch, read, folder)
    except Refusal as refusal:
        warning = Message("The terms at {url} could not be read: {error}", url=reading.terms, error=refusal)
        return replace(reading, warnings=(*reading.warnings, warning))
    marks = tuple(replace(mark, place=f"{mark.place} of {reading.terms}") for mark in terms.marks)
    return replace(reading, marks=(*reading.marks, *marks), texts=(*reading.texts, *terms.texts))


def _listed(source: ListedSource) -> tuple[LicenceMark, ...]:
    """Return the mark of the list of sources: it counts, but does not free a document alone.

    A catalogue's word on its record is the publisher's own.
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
) -> tuple[LicenceVerdict, tuple[Message, ...]]:
    """Return the verdict of all marks, with the model's where they decide nothing."""
    verdict = _with_language(decide(marks))
    if verdict.light != "YELLOW" or verdict.conflict:
        return verdict, ()
    if language_model is None:
        return verdict, (Message("No language model was asked."),)
    mark, language, message = ask_model(language_model, texts, seconds=seconds)
    if mark is not None:
        verdict = replace(decide((*marks, mark)), language=language)
    return verdict, (message,) if message else ()


def _with_language(verdict: LicenceVerdict) -> LicenceVerdict:
    """Return the verdict with the language of the statement that decided."""
    decided = [mark for mark in verdict.marks if mark.light == verdict.light and mark.layer == "pattern"]
    if not decided or " " not in decided[0].quote:
        return verdict
    from rag_engine.backends.identify_language import identify_language

    return replace(verdict, language=identify_language(decided[0].quote))


def _sentence(verdict: LicenceVerdict, notes: Sequence[Message]) -> Message:
    telling = [mark for mark in verdict.marks if mark.score > 0 or mark.layer == "model"] or list(verdict.marks)
    quoted = "; ".join(f"{mark.place}: “{mark.quote[:120]}”" for mark in telling[:3])
    limits = Message("Restrictions: {restrictions}.", restrictions=", ".join(verdict.restrictions))
    evidence = Message("Evidence: {quoted}.", quoted=quoted)
    match verdict.light:
        case "GREEN":
            opening = Message("Free to use under {licence}.", licence=verdict.licence)
        case "RED":
            opening = Message("Rights are reserved ({licence}).", licence=verdict.licence)
        case _ if verdict.conflict:
            opening = Message("Its licence statements contradict each other.")
        case _:
            opening = _open(verdict)
    return join_messages([opening, limits if verdict.restrictions else "", evidence if quoted else "", *notes])


def _open(verdict: LicenceVerdict) -> Message:
    """Return why nothing is decided: nothing is said, nothing clear, or something about another thing."""
    subjects = [_SUBJECTS[mark.subject] for mark in verdict.marks if mark.subject in _SUBJECTS and mark.licence]
    if subjects:
        return Message("Its licence statement is about {subject}, not about the document.", subject=subjects[0])
    if named := next((mark.licence for mark in verdict.marks if mark.rule == "name-alone"), ""):
        return Message("It names {licence} without saying for what.", licence=named)
    return Message("No licence statement found.")


def _outcome(verdict: LicenceVerdict, notes: Sequence[Message] = (), *, local: bool = False) -> Outcome:
    """Return the end of the check.

    A file of the analyst goes on with any light, which is recorded.
    """
    status, reason = _ENDS[verdict.light]
    message = _sentence(verdict, notes)
    if local:
        status = "done"
        local_note = Message("The file is local and is used under any licence; the licence status is recorded.")
        message = join_messages([message, local_note])
    return Outcome(status, "licence_conflict" if verdict.conflict else reason, message, verdict)


def decide(marks: Sequence[LicenceMark]) -> LicenceVerdict:
    """Return the traffic light with everything it rests on.

    A person's word wins. Otherwise any reservation of rights keeps a document from GREEN, and makes a conflict with a
    mark that frees it. Two licences with different permissions are a conflict too. Any Creative Commons licence is
    GREEN. A copy for reading, searching and citing inside the house is not commercial, not adapted and not passed on.
    The restrictions of the licence are recorded.

    >>> from ingestion.licence.patterns import read_statements
    >>> decide(read_statements("Licensed under CC BY 4.0. All rights reserved.", "page 2")).light
    'YELLOW'
    """
    kept = tuple(marks)
    if people := [mark for mark in kept if mark.layer == "person"]:
        last = people[-1]
        return LicenceVerdict(last.light, last.licence, kept, restrictions_of(last.licence))
    green = [mark for mark in kept if mark.light == "GREEN" and mark.score > 0]
    red = [mark for mark in kept if mark.light == "RED"]
    # A licence that is named without being granted beside reserved rights is a contradiction for a person as well.
    hinted = [mark for mark in kept if mark.light == "YELLOW" and mark.rule in _NAMED]
    if red and (green or hinted):
        return LicenceVerdict("YELLOW", (green or hinted)[0].licence, kept, _restrictions(green), conflict=True)
    if red:
        best = max(red, key=lambda mark: mark.score)
        light: Light = (
            "RED" if sum({mark.quote: mark.score for mark in red}.values()) >= score_of("decides") else "YELLOW"
        )
        return LicenceVerdict(light, best.licence if light == "RED" else "", kept)
    if not green:
        named = next((mark.licence for mark in kept if mark.licence), "")
        return LicenceVerdict("YELLOW", named, kept, restrictions_of(named))
    best = max(green, key=lambda mark: (mark.licence.startswith(_LICENCES), mark.score))
    limits = [mark for mark in kept if mark.light == "YELLOW" and mark.score == 0 and mark.licence.endswith(_LIMITED)]
    restrictions = _restrictions((*green, *limits))
    # Two licences that allow different things contradict each other; versions of one do not.
    if len({restrictions_of(mark.licence) for mark in green if mark.licence.startswith(_LICENCES)}) > 1:
        return LicenceVerdict("YELLOW", best.licence, kept, restrictions, conflict=True)
    enough = sum({(mark.layer, mark.quote): mark.score for mark in green}.values()) >= score_of("decides")
    return LicenceVerdict("GREEN" if enough else "YELLOW", best.licence, kept, restrictions)


def _restrictions(marks: Sequence[LicenceMark]) -> tuple[str, ...]:
    found = {token for mark in marks for token in restrictions_of(mark.licence)}
    return tuple(token for token in RESTRICTIONS if token in found)


def ask_model(
    language_model: LanguageModel, texts: Sequence[str], *, seconds: float
) -> tuple[LicenceMark | None, str, Message]:
    """Return the model's mark, the language of its quotation, and a message where it was not believed.

    No mark without a model that answers in time. A GREEN needs a quotation that is in the text and has words of
    licences. It must take nothing back, and the text must not merely talk about it. Otherwise the mark is YELLOW.
    """
    text = tidy_text("\n\n".join(texts))[:SNIPPET]
    if not text:
        return None, "", Message("There was no text for the language model to judge.")
    try:
        reply = language_model.complete_json(LICENCE_RULES, licence_message(text), LICENCE_SCHEMA, seconds=seconds)
    except BackendError as error:
        return None, "", Message("The language model did not judge the licence: {error}", error=error)
    decision, licence, language, quote = (reply.get(key) for key in ("decision", "licence", "language", "quote"))
    if decision not in ("GREEN", "YELLOW", "RED") or not isinstance(quote, str):
        message = Message("The language model {model} gave no usable answer on the licence.", model=language_model.name)
        return None, "", message
    language_code = language[:2].lower() if isinstance(language, str) else ""
    place = f"model {language_model.name}"
    if decision == "YELLOW":
        return LicenceMark("model", "YELLOW", "", 0.0, quote[:_MOST], place), language_code, NO_MESSAGE
    if reason := _disbelief(quote, text, decision == "GREEN"):
        message = Message(
            "The language model {model} said {decision}, which is not believed: {why}.",
            model=language_model.name,
            decision=decision,
            why=reason,
        )
        return LicenceMark("model", "YELLOW", "", 0.0, quote[:_MOST], place), language_code, message
    # The name is the quotation's, not the model's: it must not be talked into a freer one.
    name = name_of_text(quote) or (UNCLEAR if decision == "GREEN" else RESERVED)
    if decision == "GREEN" and isinstance(licence, str) and name == UNCLEAR:
        name = "Reuse granted"
    return LicenceMark("model", decision, name, score_of("strong"), quote[:_MOST], place), language_code, NO_MESSAGE


def _disbelief(quote: str, text: str, green: bool) -> str:
    """Return why an answer is not believed, or ""."""
    quoted = " ".join(fold_in_place(tidy_text(quote)).split())
    if not _FEWEST <= len(quoted) <= _MOST:
        return "its quotation is too short or too long"
    whole = " ".join(fold_in_place(text).split())
    at = whole.find(quoted)
    if at < 0:
        return "its quotation does not stand in the text"
    if not green:
        return ""
    words = load_licences().phrases
    if not (names_in(quote) or words["granted"].search(quoted) or words["public_domain"].search(quoted)):
        return "its quotation grants nothing"
    # What is around the quotation may take it back: "it is not true that ...".
    around = whole[max(0, at - 200) : at + len(quoted) + 200]
    if says_reserved(quote) or says_reserved(around):
        return "its quotation is beside words that reserve rights"
    before = whole[max(0, at - 60) : at]
    plain = words["neutral"].sub(" ", before.rpartition(". ")[2] + quoted)
    if words["negation"].search(plain) or words["consent"].search(plain) or words["hypothetical"].search(plain):
        return "its quotation is taken back, conditional, or about licences at large"
    if words["purpose"].search(quoted) or (words["part"].search(plain) and not words["work"].search(plain)):
        return "its quotation frees only a part or a purpose"
    if statement_of(quote).subject != "document":
        return "its quotation does not say that it is about the document"
    if any(mark.light == "YELLOW" and mark.score > 0 for mark in read_statements(quote, "")):
        return "its quotation does not say which licence"
    return ""
