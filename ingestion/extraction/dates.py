"""When a document was published or adopted.

From its first and last pages, its properties and its address.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from urllib.parse import unquote, urlsplit

from ingestion.extraction.date_patterns import WrittenDate, month_leads, numeric_order, written_dates
from ingestion.file_reading import FileProperties
from ingestion.patterns import load_patterns
from ingestion.types.description import FieldValue, surest
from ingestion.types.source import ListedSource
from rag_engine.types.document import Block, ExtractedText, Line

_EARLIEST = 1700
_FIRST_PAGES = 3
# Without pages, a title block ends somewhere in here; with them, this bounds what is looked at of each.
_OPENING = 6_000
_CLOSING = 3_000
_BEFORE = 70
_LONG_LINE = 160
_LONGEST_QUOTE = 400
_LONGEST_LEAD = 8
_MOST = 8
# Below this a date is more likely another's; none is better than that.
_LEAST = 0.3
# Top-level domains that say nothing about a country's custom; any other two-letter one puts the day first.
_ANYWHERE = frozenset({"", "com", "org", "net", "edu", "int", "info", "ca", "ph", "io", "co"})
_PAGED = frozenset({"application/pdf"})

_PATTERNS = load_patterns("dates")
_RIGHTS = re.compile(r"©|\(c\)\s|copyright", re.IGNORECASE)
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b")
_SYMBOL = re.compile(r"(?<![\w/])[A-Z]{1,8}(?:[/.][A-Z0-9]{1,12}){0,4}/((?:19|20)\d\d)(?:/[\w.]{1,12}){0,4}")
_ADDRESS = re.compile(r"(?<!\d)((?:1[89]|20)\d\d)(?:([-_/.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?)?(?!\d)")


def find_dates(
    extracted: ExtractedText, source: ListedSource, declared: FileProperties, language: str, *, today: date
) -> list[FieldValue]:
    """Return the dates that may be the document's own, the likeliest first, with the lines that say them.

    The dates of today and yesterday are those of printing or of the visit, never of publication.
    """
    month_first = _month_leads(extracted.text, source, declared, language)
    guesses = [
        *_written(extracted, today, month_first),
        *_closing(extracted),
        *_running(declared, month_first),
        *_symbols(extracted),
        *_declared(declared, extracted.media_type),
        *_addressed(source),
    ]
    possible = [guess for guess in guesses if _possible(guess.value, today)]
    # A date that is given twice is the surer for it: a letterhead and the file's properties agree.
    ranked = sorted((_borne_out(guess, guesses) for guess in surest(possible)), key=lambda value: -value.confidence)
    likely = [value for value in ranked[:_MOST] if value.confidence >= _LEAST]
    return [replace(value, confidence=round(min(0.97, value.confidence), 2)) for value in likely]


def _month_leads(text: str, source: ListedSource, declared: FileProperties, language: str) -> bool | None:
    """Return whether 2/3/2022 is the third of February.

    By the page's locale, its address, its words, other dates.
    """
    if language not in ("", "en"):
        return False
    opening = text[:_OPENING]
    signs = (
        month_leads(declared.language),
        _by_host(source.url),
        True if _PATTERNS["american"].search(opening) else None,
        False if _PATTERNS["day_first"].search(opening) else None,
        numeric_order(text[: 3 * _OPENING]),
    )
    return next((sign for sign in signs if sign is not None), None)


def _by_host(url: str) -> bool | None:
    try:
        end = (urlsplit(url).hostname or "").rpartition(".")[2]
    except ValueError:
        return None
    return True if end in ("gov", "mil", "us") else None if end in _ANYWHERE else False


def _guess(value: str, sentence: str, page: int | None, confidence: float) -> FieldValue:
    return FieldValue("date", value, "rule", sentence, page, confidence)


def _possible(value: str, today: date) -> bool:
    if not _EARLIEST <= int(value[:4]) <= today.year:
        return False
    if len(value) < 10:
        return value <= today.isoformat()[: len(value)]
    return value < (today - timedelta(days=1)).isoformat()


def _borne_out(guess: FieldValue, guesses: Sequence[FieldValue]) -> FieldValue:
    others = [other for other in guesses if other is not guess and other.sentence != guess.sentence]
    same = any(other.value.startswith(guess.value) or guess.value.startswith(other.value) for other in others)
    bonus = 0.04 if same and guess.confidence >= 0.3 else 0.0
    return replace(guess, confidence=guess.confidence + bonus)


def _written(extracted: ExtractedText, today: date, month_first: bool | None) -> Iterator[FieldValue]:
    """Yield the dates of the first pages and of the last."""
    last = max((block.page for block in extracted.blocks[-50:]), default=1)
    starts = [line.start for line in extracted.lines]
    for number, (block, cut) in enumerate(_looked_at(extracted.blocks, last)):
        text = extracted.text[block.start : min(block.end, block.start + cut)]
        if not any(letter.isdigit() for letter in text) and "M" not in text:
            continue
        for found in written_dates(text, month_first=month_first, century=today.year):
            at = block.start + found.start
            index = bisect_right(starts, at) - 1
            line = extracted.lines[index] if index >= 0 and extracted.lines[index].end > at else None
            closing = block.page == last and block.page > _FIRST_PAGES
            sure = _confidence(extracted, block, line, found, number, closing)
            if sure > 0:
                page = block.page if line is None else line.page
                yield _guess(found.value, _quote(extracted.text, block, line, found), page, sure)


def _looked_at(blocks: Sequence[Block], last: int) -> Iterator[tuple[Block, int]]:
    """Yield the blocks of the first pages, then of the last, with the number of characters to read."""
    left = 3 * _OPENING
    for block in blocks:
        if block.page > _FIRST_PAGES or left <= 0:
            break
        yield block, min(left, _OPENING)
        left -= block.end - block.start
    left = _CLOSING
    for block in reversed(blocks):
        if block.page <= _FIRST_PAGES or block.page < last or left <= 0:
            break
        yield block, min(left, _CLOSING)
        left -= block.end - block.start


def _confidence(
    extracted: ExtractedText, block: Block, line: Line | None, found: WrittenDate, number: int, closing: bool
) -> float:
    text = extracted.text
    start, end = block.start + found.start, block.start + found.end
    before = text[max(block.start, start - _BEFORE) : start]
    above = text[max(0, block.start - 30) : block.start] if start - block.start < 40 else ""
    length = block.end - block.start
    line_start, line_end = (block.start, block.end) if line is None else (line.start, line.end)
    # A line may be a megabyte long and full of dates; what is near one is enough.
    here = text[max(line_start, start - _LONGEST_QUOTE) : min(line_end, end + _LONGEST_QUOTE)]
    beside = 60 if found.precision != "year" else 25
    alone = (line_end - line_start) - (end - start) <= beside and (length <= 250 or block.kind == "table")
    sure = {"day": 0.55, "month": 0.5, "year": 0.16}[found.precision]
    sure += _place(block, number, closing)
    sure += 0.12 if alone else -0.3 if length > _LONG_LINE and line_end - line_start > 60 else -0.05
    clause = re.split(r"[;.]\s|\n", before)[-1]
    if _PATTERNS["range"].search(before):
        return sure - 0.45
    inside = len(text[block.start : start].split()) > _LONGEST_LEAD and block.kind != "table" and block.page > 1
    if inside:
        sure -= 0.15
    issued = bool(_PATTERNS["issued"].search(clause)) and not inside
    if issued or (_PATTERNS["issued"].search(above) and not clause.strip()):
        sure += 0.3 if length <= 250 or block.kind == "table" else 0.0
    elif _PATTERNS["law_line"].match(here) and length <= 250 and number < 40:
        sure += 0.25
    elif _PATTERNS["cited"].search(clause) and (length > 120 or found.precision != "day"):
        sure -= 0.3
    if block.kind == "note" or (block.kind == "table" and found.precision == "year" and not issued):
        sure -= 0.3
    # What the words before a date and those of its line add to the confidence in it.
    added = -0.5 if _PATTERNS["first"].search(clause) else 0.0
    added += -0.28 if _PATTERNS["later"].search(clause) else -0.3 if _PATTERNS["others"].search(clause) else 0.0
    if found.precision == "year" and any(letter.isdigit() for letter in here.replace(found.value, "", 1)):
        # Several numbers in a line are data, or the years that were looked at.
        added -= 0.15
    added += 0.2 if _RIGHTS.search(here) else 0.0
    return sure + (added + (0.15 if found.precision != "day" and _PATTERNS["issue"].search(here) else 0.0))


def _place(block: Block, number: int, closing: bool) -> float:
    if closing:
        return -0.25
    if block.page == 1:
        return 0.1 if number < 25 else 0.0
    return -0.12 if block.page == 2 else -0.2


def _quote(text: str, block: Block, line: Line | None, found: WrittenDate) -> str:
    """Return the block if it is short, else the line, else the text around the date."""
    start, end = block.start + found.start, block.start + found.end
    if block.end - block.start <= _LONGEST_QUOTE:
        return text[block.start : block.end]
    if line is not None and line.end - line.start <= _LONGEST_QUOTE:
        return text[line.start : line.end]
    return text[max(block.start, start - 150) : min(block.end, end + 150)].strip()


def _closing(extracted: ExtractedText) -> Iterator[FieldValue]:
    """Yield the dates in formulas of signature; in the text of a treaty or constitution nothing is surer."""
    for block in extracted.blocks:
        if _PATTERNS["signed"].match(extracted.text, block.start):
            line = extracted.text[block.start : min(block.end, block.start + _LONGEST_QUOTE)]
            for found in written_dates(line)[:1]:
                if found.precision == "day":
                    yield _guess(found.value, line, block.page, 0.72)


def _running(declared: FileProperties, month_first: bool | None) -> Iterator[FieldValue]:
    """Yield the dates in running heads.

    A date with the time of day is the day of printing, and so is the file's date.
    """
    for line in declared.margins:
        if _CLOCK.search(line) or "://" in line or _PATTERNS["later"].search(line):
            continue
        for found in written_dates(line, month_first=month_first):
            sure = {"day": 0.6, "month": 0.55, "year": 0.2}[found.precision]
            if found.value != declared.created:
                issue = _PATTERNS["issue"].search(line) or _PATTERNS["journal"].search(line)
                yield _guess(found.value, line, 1, sure + (0.15 if issue else 0.0))


def _symbols(extracted: ExtractedText) -> Iterator[FieldValue]:
    """Yield the years inside document symbols such as FCCC/CP/2015/10.

    They are the years of the session, not of the issue.
    """
    for block in extracted.blocks[:40]:
        if block.page == 1:
            for match in _SYMBOL.finditer(extracted.text[block.start : min(block.end, block.start + 200)]):
                yield _guess(match[1], match[0], block.page, 0.26)


def _declared(declared: FileProperties, media_type: str) -> Iterator[FieldValue]:
    if declared.date:
        sure = 0.72 if media_type not in _PAGED else 0.6
        yield _guess(declared.date, f"The file declares {declared.date} as its date.", None, sure)
    for keyword in declared.keywords:
        if keyword.lower().startswith(("date", "datum", "fecha", "data")):
            for found in written_dates(keyword):
                yield _guess(found.value, keyword, None, 0.7)
    if declared.created:
        yield _guess(declared.created, f"The file was made on {declared.created}.", None, 0.22)


def _addressed(source: ListedSource) -> Iterator[FieldValue]:
    """Yield the dates in an address or a file's name, /2021/07/report.pdf or plan_2021-07.pdf."""
    for where, name in (("address", unquote(urlsplit(source.url).path)), ("file name", source.path)):
        for match in _ADDRESS.finditer(name[-300:]):
            value = "-".join(filter(None, match.group(1, 3, 4)))
            yield _guess(value, f"The {where} holds {match[0]}.", None, 0.2 + 0.05 * len(value.split("-")))
