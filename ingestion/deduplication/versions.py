"""Versions of a work by their titles, in nine languages, and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from ingestion.extraction.date_patterns import written_dates
from ingestion.patterns import load_words
from rag_engine.text.folding import fold_in_place, fold_title

_WORDS = load_words("versions")
_ORDINAL_OF = {
    word: number for number, words in enumerate(_WORDS["ordinals"].split("|"), start=1) for word in words.split()
}
# 2015-2030 and 2019/20 are periods; the years in 2021/1119, CP/2015/10 and n. 2016-138 are parts of a number.
_PERIOD = re.compile(r"(?<![\d./-])((?:19|20)\d\d) ?[-/] ?((?:19|20)?\d\d)(?![\d./-])")
_YEAR = re.compile(r"(?<![\d./-])(?:19|20)\d\d(?![\d./-])")
_NUMBERED = re.compile(
    rf"\b({_WORDS['revision_words']}|{_WORDS['version_words']}) ?(\d{{1,3}}(?: ?\. ?\d{{1,3}}){{0,2}})\b"
)
_EDITION = re.compile(
    rf"\b(?:(\d{{1,2}}) ?(?:st|nd|rd|th|a|e|eme|o)?|({'|'.join(_ORDINAL_OF)})) "
    rf"(?:(?:{_WORDS['edition_adjectives']}) ){{0,3}}(?:{_WORDS['edition_words']})\b"
    rf"|\b(?:{_WORDS['edition_words']}) (\d{{1,2}})\b"
)
# In this order: what is final or revised may have been a draft, but a draft of a revision is a draft.
_MARKERS = tuple(
    (label, addition, re.compile(rf"\b(?:{_WORDS[label]})(?: (\d{{1,2}})(?! ?[./]?\d))?\b"))
    for label, addition in (("draft", -0.5), ("consolidated", 1.0), ("revised", 1.0), ("updated", 1.0), ("final", 0.25))
)
_AS_OF = re.compile(rf"\b(?:{_WORDS['as_of']})\b")
_PERIODICAL = re.compile(rf"\b(?:{_WORDS['periodical']})\b")
# How far behind such words their date begins: "last amended by Article 3 of the Act of 8 October 2022".
_REACH = 90
# 02016R0679-20230101.pdf, ukpga/2004/36/2023-01-01.
_ADDRESS_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_SPACES = re.compile(r"\s+")
_EMPTY_WORDS = re.compile(r"\b(?:version|versione|versao|fassung|edition|del|of|vom|du|de)\b\s*$")


@dataclass(frozen=True, slots=True)
class Version:
    """The version that a title names: "draft", "rev. 2", "edition 3", or only its year, or none.

    `rank` orders versions of one year: draft < unmarked < final < rev. 1 < rev. 2. `work_title` is the title in lower
    case without accents, signs, years and the marker. `marked` tells an explicit marker from a mere year.
    """

    label: str
    rank: float
    work_title: str
    year: str = ""
    marked: bool = False


def version_of(title: str, file_name: str = "", url: str = "") -> Version:
    """Return the version that a title names.

    If it names none, the version in the file's name or in the address counts.

    A year in an address is not taken but in its last segment, since folders tell when a file was put there.

    >>> version_of("Flood Guidelines, 2nd edition (2019)").label
    'edition 2'
    """
    named = _read(fold_title(title))
    if named.marked:
        return named
    others = [file_name, unquote(PurePosixPath(urlsplit(url).path).name) if _is_address(url) else ""]
    stems = [_read(fold_title(re.sub(r"\.\w{2,5}$", "", other))) for other in others if other]
    marked = next((stem for stem in stems if stem.marked), None)
    year = named.year or next((stem.year for stem in stems if stem.year), "")
    if marked is None:
        return Version(year, 0.0, named.work_title, year)
    return Version(marked.label, marked.rank, named.work_title, year, marked=True)


def consolidation_date(head: str, addresses: Iterable[str]) -> str:
    """Return the latest date on which a text says, or its addresses say, that it stood as it does.

    "" for none.

    A law keeps the date of its adoption through all its consolidations; this one tells them apart.

    >>> consolidation_date("Water Act. Consolidated version as of 1 March 2024", [])
    '2024-03-01'
    """
    found = ["-".join(match.group(1, 3, 4)) for address in addresses for match in _ADDRESS_DATE.finditer(address)]
    for words in _AS_OF.finditer(fold_in_place(head)):
        behind = written_dates(head[words.end() : words.end() + _REACH])
        found += [date.value for date in behind[:1]]
    return max(found, default="")


def is_periodical(work_title: str) -> bool:
    """Return whether a title names a work for each period, such as an annual report."""
    return _PERIODICAL.search(work_title) is not None


def order_versions(members: Iterable[tuple[str, Version, str]]) -> list[str]:
    """Return codes from the oldest version to the newest, of (code, version, ISO date, prefix or "").

    By date or the year of the title, as far as every date is known, then by rank, then by code. Where one has no date
    the rank decides first.

    >>> titles = {"A1": "Flood Guide, version 1.10", "A2": "Flood Guide, version 1.9", "A3": "Flood Guide (draft)"}
    >>> order_versions((code, version_of(title), "") for code, title in titles.items())
    ['A3', 'A2', 'A1']
    """
    listed = [(code, version, date or version.year) for code, version, date in members]
    known = min((len(date) for _, _, date in listed), default=0)

    def place(member: tuple[str, Version, str]) -> tuple[str, float, str, str]:
        code, version, date = member
        return date[:known], version.rank, date, code

    return [code for code, _, _ in sorted(listed, key=place)]


def _is_address(url: str) -> bool:
    try:
        return bool(urlsplit(url).path)
    except ValueError:
        return False


def _read(plain: str) -> Version:
    """Return version of a plain title."""
    rest, labels, number, addition = plain, list[str](), 0.0, 0.0
    if match := _NUMBERED.search(rest):
        kind = "rev." if match[1].startswith("rev") else "version"
        labels.append(f"{kind} {match[2].replace(' ', '')}")
        parts = enumerate(match[2].replace(" ", "").split("."))
        # 1.2 is 1.002, so that 1.10 comes after 1.9.
        number = sum(float(int(part)) / 1000.0**place for place, part in parts)
        rest = _cut(rest, match)
    if match := _EDITION.search(rest):
        count = int(match[1] or match[3] or _ORDINAL_OF[match[2]])
        labels.append(f"edition {count}")
        # The first edition ranks as an unmarked text does.
        number = max(number, count - 1.0)
        rest = _cut(rest, match)
    for label, added, pattern in _MARKERS:
        if match := pattern.search(rest):
            labels.append(f"{label} {match[1]}" if match[1] else label)
            # A second draft comes after the first, and both before the text itself.
            addition += added + (int(match[1]) / 1000 if match[1] else 0.0) if label == "draft" or not number else 0.0
            rest = _cut(rest, match)
            break
    rest = _PERIOD.sub(_first_year, rest)
    years = _YEAR.findall(rest)
    year = years[0] if years else ""
    rest = _YEAR.sub(" ", rest)
    rest = _EMPTY_WORDS.sub("", _SPACES.sub(" ", rest).strip()) or rest
    work_title = _SPACES.sub(" ", rest).strip()
    label = " ".join(labels) or year
    return Version(label, number + addition, work_title, year, marked=bool(labels))


def _first_year(match: re.Match[str]) -> str:
    """Return the year in which a period begins; other text is returned unchanged."""
    is_period = len(match[2]) == 4 or int(match[2]) == (int(match[1]) + 1) % 100
    return match[1] if is_period else match[0]


def _cut(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"
