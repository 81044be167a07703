"""The entries of an index to records.

Terms, locators and cross references, distinguished by how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.layout.page_numbers import value_of
from ingestion.patterns import load_words
from rag_engine.book_index.anchors import IndexRecord
from rag_engine.text.folding import fold

# From a printed page number to the page of the file.
PageLookup = Callable[[str], int | None]
_ROMAN = r"(?-i:[ivxlc]{1,8}|[IVXLC]{2,8})"
_FOLLOWING = r"\s?(?:ff|f|sqq|sq|sgg|sg|segg|seg|ss|et\s+seq|y\s+ss|e\s+ss|vd|passim)\b\.?"
_NOTE = r"(?:\s?n\.?\s?\d{0,3}|\s?(?:fig|tab|abb|t|b)\.?)"
_NUMBER = rf"(?:\d{{1,4}}|{_ROMAN})"
_PAGE_WORD = r"(?:pp?\.|pages?|pagg?\.|págs?\.|s\.|S\.|ss?\.|sf?\.)?\s?"
# Atomic and possessive: a line of nothing but numbers must not be tried in all its partitions.
_LOCATOR = rf"(?>{_PAGE_WORD}{_NUMBER}(?:\s?(?:-{{1,2}}|[‐‑–—−])\s?{_NUMBER})?(?:{_FOLLOWING}|{_NOTE}\b)?)"
_BETWEEN = r"(?>\s*[,;]\s*|\s+(?:and|und|et|e|y|ve|&)\s+|\s+)"
LOCATORS = re.compile(rf"{_LOCATOR}(?:{_BETWEEN}{_LOCATOR})*+\s*[.,;]?", re.IGNORECASE)
_SPLIT = re.compile(
    rf"(?P<term>.+?)(?:\s*[,:]\s+|\s*(?:\.\s?){{3,}}\s*|\s*…+\s*|\s*[.·]\s+|\s{{3,}})(?P<pages>{LOCATORS.pattern})",
    re.IGNORECASE,
)
_LOOSE = re.compile(rf"(?P<term>.*?[^\W\d].*?)\s+(?P<pages>{LOCATORS.pattern})", re.IGNORECASE)
_ONE = re.compile(
    rf"(?P<first>{_NUMBER})(?:\s?(?:-{{1,2}}|[‐‑–—−])\s?(?P<last>{_NUMBER}))?(?P<following>{_FOLLOWING}|{_NOTE}\b)?",
    re.IGNORECASE,
)
_LETTER_HEADING = re.compile(r"[^\W\d_]|[^\W\d_]\s?[-–]\s?[^\W\d_]|\d\s?[-–]\s?\d")
# "f." is the next page; "ff." has no end, by custom the next two are meant.
_ONE_MORE = frozenset({"f", "sq", "sg", "seg"})
_TWO_MORE = frozenset({"ff", "sqq", "sgg", "segg", "ss", "et seq", "y ss", "e ss", "vd"})
_LONGEST_RANGE = 500
# What is longer is no entry, whatever it looks like.
_LONGEST_ENTRY = 2_000
_WORDS = load_words("index_words")
INDEX_TITLES = frozenset(_WORDS["index_titles"].split("|"))
GLOSSARY_TITLES = frozenset(_WORDS["glossary_titles"].split("|"))
# The names of the columns of an index table.
COLUMNS = {
    key.removeprefix("column_"): frozenset(names.split("|"))
    for key, names in _WORDS.items()
    if key.startswith("column_")
}
CONTINUED = re.compile(_WORDS["continued"])
DEFINES = re.compile(_WORDS["defines"])
_CUES = f"{_WORDS['see_also']}|{_WORDS['see']}"
# References to another entry: behind a sign or in brackets, at the start, or between words.
SEE = re.compile(
    rf"(?P<before>^|[,.;:(\[–—]\s*|\s+)(?P<cue>{_CUES})\s*:?\s+(?P<targets>[^()\[\]]+?)\s*[)\]]?\s*\.?$",
    re.IGNORECASE,
)
SEE_IN_BRACKETS = re.compile(rf"[(\[](?:{_CUES})\s*:?\s+(?P<targets>[^()\[\]]+)[)\]]", re.IGNORECASE)
ENDS_IN_SEE = re.compile(rf"(?:^|[\s,.;(\[])(?:{_CUES})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One whole entry as it is printed, with its indentation in points."""

    text: str
    indent: float = 0.0


@dataclass(slots=True)
class _Open:
    """An entry under which others may be; `record` is the place of its record, -1 while it has none."""

    indent: float
    term: str
    record: int = -1


def is_locators(text: str) -> bool:
    """Return whether a text says nothing but page numbers."""
    return len(text) <= _LONGEST_ENTRY and LOCATORS.fullmatch(text.strip()) is not None


def has_locators(text: str) -> bool:
    """Return whether a text is a term with page numbers behind it, set off by a sign."""
    return len(text) <= _LONGEST_ENTRY and _SPLIT.fullmatch(text.strip()) is not None


def records_of(entries: Iterable[IndexEntry], page_of: PageLookup) -> list[IndexRecord]:
    """Return the records of an index in its order.

    An entry under another one is a subterm of that one's term.

    An entry that only heads others, or above the entries of a letter, gives no record.

    >>> records = records_of([IndexEntry("Dikes, 12-13"), IndexEntry("breaches of, 40", indent=9)], int)
    >>> [(record.term, record.subterm, record.pages) for record in records]
    [('Dikes', '', (12, 13)), ('Dikes', 'breaches of', (40,))]
    """
    listed = list(entries)
    loose = _is_loose(listed)
    records: list[IndexRecord] = []
    above: list[_Open] = []
    for entry in listed:
        text = CONTINUED.sub("", entry.text).strip()
        if not text or len(text) > _LONGEST_ENTRY or _LETTER_HEADING.fullmatch(text):
            continue
        while above and above[-1].indent >= entry.indent:
            above.pop()
        for place, (term, pages, see) in enumerate(_parts(text, loose)):
            opened = _Open(entry.indent, term)
            if not term and above:
                # Only page numbers or only a cross reference: they belong to what is above.
                _extend(records, above, pages, see, page_of)
            elif not term and not see and (numbers := _SPLIT.fullmatch(text)):
                # Where nothing is above, the first number is the term: "1990, 45".
                opened.term, locators = numbers["term"], numbers["pages"]
                _extend(records, [opened], locators, see, page_of)
            elif term and (pages or see):
                _extend(records, [*above, opened], pages, see, page_of)
            if place == 0 and opened.term:
                above.append(opened)
    return records


def _extend(
    records: list[IndexRecord], path: Sequence[_Open], pages: str, see: tuple[str, ...], page_of: PageLookup
) -> None:
    """Add locators and references to the record of the last entry of the path, made where it has none."""
    last = path[-1]
    if last.record < 0:
        last.record = len(records)
        records.append(IndexRecord(path[0].term, ", ".join(one.term for one in path[1:])))
    record = records[last.record]
    printed = tuple(dict.fromkeys((*record.printed, *printed_pages(pages))))
    found = tuple(dict.fromkeys(page for number in printed if (page := page_of(number)) is not None))
    records[last.record] = replace(record, printed=printed, pages=found, see=(*record.see, *see))


def printed_pages(locators: str) -> tuple[str, ...]:
    """Return the page numbers in a list of locators, each once.

    "12–5, 20f., xi" is 12 13 14 15 20 21 xi.

    >>> printed_pages("12-14, 203")
    ('12', '13', '14', '203')
    """
    return tuple(dict.fromkeys(number for found in _ONE.finditer(locators) for number in _expanded(found)))


def _expanded(found: re.Match[str]) -> Iterator[str]:
    first = value_of(found["first"])
    if first is None:
        return
    shown = roman if first[0] else str
    if found["last"]:
        last = value_of(found["last"])
        if last is None or last[0] != first[0]:
            yield found["first"]
            if last is not None:
                yield found["last"]
            return
        beyond = last[1]
        if not first[0] and beyond < first[1]:
            # 112-5 and 112-15: the digits that do not change are left out.
            digits = len(found["last"])
            beyond = first[1] - first[1] % 10**digits + beyond
        if first[1] <= beyond <= first[1] + _LONGEST_RANGE:
            yield from map(shown, range(first[1], beyond + 1))
        else:
            yield from (shown(first[1]), shown(last[1]))
        return
    following = (found["following"] or "").strip(" .").lower()
    more = 1 if following in _ONE_MORE else 2 if following in _TWO_MORE else 0
    yield from map(shown, range(first[1], first[1] + more + 1))


def _is_loose(entries: Sequence[IndexEntry]) -> bool:
    """Return whether in this index nothing but a space is before the page numbers."""
    strict = sum(has_locators(entry.text) for entry in entries)
    loose = sum(_LOOSE.fullmatch(entry.text.strip()) is not None for entry in entries)
    return strict < 0.3 * loose


def _parts(text: str, loose: bool) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (term, locators, cross references) of an entry and of each part behind a semicolon."""
    inner = SEE_IN_BRACKETS.search(text)
    if inner:
        term, pages, see = next(_parts(f"{text[: inner.start()].rstrip()}{text[inner.end() :]}", loose))
        yield term, pages, (*_targets(inner["targets"]), *see)
        return
    found = SEE.search(text)
    if found and not (found["before"].isspace() and (has_locators(text) or is_locators(found["targets"]))):
        rest = text[: found.start()].strip(" ,.;:([")
        see = _targets(found["targets"])
        if not rest:
            yield "", "", see
            return
        *others, last = _parts(rest, loose)
        yield from others
        yield last[0], last[1], (*last[2], *see)
        return
    whole = _SPLIT.fullmatch(text) or (_LOOSE.fullmatch(text) if loose else None)
    if is_locators(text):
        yield "", text, ()
    elif "; " in text and (run_in := _run_in(text, loose)):
        yield from run_in
    elif whole:
        yield whole["term"].strip(), whole["pages"], ()
    else:
        yield text.rstrip(" ,:;"), "", ()


def _run_in(text: str, loose: bool) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the parts of an entry whose sub-entries run on behind semicolons.

    None if these are no sub-entries.
    """
    pieces = [piece.strip() for piece in text.split("; ") if piece.strip()]
    parts = [next(_parts(piece, loose)) for piece in pieces]
    if not all(pages or see for _, pages, see in parts):
        return []
    term, pages, see = parts[0]
    head, colon, sub = term.partition(": ")
    if colon and sub:
        return [(head, "", ()), (sub, pages, see), *parts[1:]]
    return parts


def _targets(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(";") if (name := part.strip(" .,")))


def folded(text: str) -> str:
    """Return the words of a title without case, accents, numbers and signs."""
    return " ".join(re.sub(r"[\W\d]+", " ", fold(text)).split())


def is_index_title(text: str) -> bool:
    """Return whether a line is the title of an index, or its running head with a page number.

    >>> is_index_title("Sachverzeichnis 211"), is_index_title("Index of tables")
    (True, False)
    """
    return len(text) < 60 and folded(text) in INDEX_TITLES


def is_glossary_title(text: str) -> bool:
    """Return whether a line is the title of a glossary, a list of definitions or of abbreviations."""
    return len(text) < 60 and folded(text) in GLOSSARY_TITLES
