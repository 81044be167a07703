"""Official identifiers of documents, such as CELEX numbers and document symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from rag_engine.text.tables import read_table

# The letters by which a CELEX number names the kinds of acts that an ELI of the European Union names.
_CELEX_TYPES = {"reg": "R", "dir": "L", "dec": "D", "reco": "H"}
# Of a work of the European Union the number of its consolidated text begins with 0.
_CONSOLIDATED, _ACT = "0", "3"
_BLANKS = re.compile(r"\s+")
_AROUND_SIGNS = re.compile(r"\s*([/.])\s*")
# As the head of a consolidated act of the European Union goes on.
_CONSOLIDATED_ON = re.compile(r"\s*[—–]\s*[A-Z]{2}\s*[—–]\s*(\d\d)\.(\d\d)\.(\d{4})")
_DAY = re.compile(r"((?:19|20)\d\d)-?(\d\d)-?(\d\d)")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_ARTICLES = ("legiarti", "jorfarti")
# Parts of the path of a work, such as ukpga/2018/12.
_SHORTEST_WORK = 3
_QUESTION_MARKS = " \t?？.!;:«»“”„\"'"
# Behind it the head of a consolidated act has a dash and its language, that of a United Nations document "Distr.".
_NOTHING_BEHIND = re.compile(r"\s*(?:[)\].;]?\s*$|[—–]\s|Distr\b)")
# Characters before which an identifier may not be cut off.
_BEGINS, _ENDS = r"(?<![^\W_])", r"(?![^\W_]|-\d)"


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier as it is written without blanks, with the key of its work.

    Versions of one work share the key. `date` is the ISO date of the version, `revision` its number. One that
    `corrects` names a corrigendum, whose key is that of what it corrects.
    """

    kind: str
    value: str
    work: str
    date: str = ""
    revision: int = 0
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class PlacedIdentifier:
    """An identifier at characters [start, end) of a text."""

    start: int
    end: int
    identifier: Identifier


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    label: str
    pattern: re.Pattern[str]
    table: Mapping[str, Any]


def read_identifier(text: str) -> Identifier | None:
    """Return the identifier that a text consists of, with or without its label; None for another text.

    >>> read_identifier("A / RES / 70 / 1").value, read_identifier("CELEX: 02016R0679-20160504").date
    ('A/RES/70/1', '2016-05-04')
    """
    text = text.strip(_QUESTION_MARKS)
    for kind in _kinds():
        found = kind.pattern.fullmatch(text) or _labelled(kind.name).fullmatch(text)
        if found and _has_digit(found.group()):
            return _identifier(kind, found)
    return None


def find_identifiers(text: str) -> list[PlacedIdentifier]:
    """Return the identifiers in a text in reading order; of those that overlap the longest.

    >>> [one.identifier.value for one in find_identifiers("See 32016R0679 and FCCC/CP/2015/10/Add.1.")]
    ['32016R0679', 'FCCC/CP/2015/10/Add.1']
    """
    found = [
        PlacedIdentifier(match.start(), match.end(), _identifier(kind, match))
        for kind in _kinds()
        for match in kind.pattern.finditer(text)
        if _has_digit(match.group())
    ]
    chosen: list[PlacedIdentifier] = []
    for one in sorted(found, key=lambda placed: (placed.start - placed.end, placed.start)):
        if all(one.end <= other.start or other.end <= one.start for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda placed: placed.start)


def stated_identifiers(lines: Iterable[str]) -> list[str]:
    """Return the identifiers that lines of a document's head state as its own, each once.

    Such a line begins with the identifier, or with its label, and says nothing behind it.

    >>> stated_identifiers(["United Nations FCCC/CP/2015/10", "Having regard to A/RES/70/1,"])
    ['FCCC/CP/2015/10']
    """
    return list(dict.fromkeys(identifier.value for line in lines for identifier in _stated(line.strip())))


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """The works that a document is of by its identifiers, and its place among their versions.

    A corrigendum `corrects` them and is a version of none.
    """

    works: frozenset[str] = frozenset()
    date: str = ""
    revision: int = 0
    corrects: bool = False

    def is_version_with(self, other: WorkPlace) -> bool:
        """Return whether two documents are versions of one work, or the same version twice."""
        return not (self.corrects or other.corrects or self.works.isdisjoint(other.works))

    def is_corrigendum_of(self, other: WorkPlace) -> bool:
        """Return whether this document corrects the other."""
        return self.corrects and not other.corrects and not self.works.isdisjoint(other.works)


def work_place(values: Iterable[str]) -> WorkPlace:
    """Return the place of a document with these identifiers.

    >>> act, corrigendum = work_place(["32016R0679"]), work_place(["32016R0679R(02)"])
    >>> act.is_version_with(corrigendum), corrigendum.is_corrigendum_of(act)
    (False, True)
    """
    read = [one for one in map(read_identifier, values) if one]
    works = frozenset(one.work for one in read)
    # The identifiers of a text are no identifiers of each of its articles.
    articles = frozenset(work for work in works if work.startswith(_ARTICLES))
    return WorkPlace(
        articles or works,
        max((one.date for one in read), default=""),
        max((one.revision for one in read), default=0),
        any(one.corrects for one in read),
    )


def _stated(line: str) -> Iterator[Identifier]:
    for kind in _kinds():
        for pattern in (_labelled(kind.name), *([] if kind.table.get("labelled") else [kind.pattern])):
            found = pattern.match(line)
            if found and _has_digit(found.group()) and _NOTHING_BEHIND.match(line, found.end()):
                stated, day = _identifier(kind, found), _CONSOLIDATED_ON.match(line, found.end())
                dated = f"{stated.value}-{day[3]}{day[2]}{day[1]}" if day and not stated.date else ""
                yield read_identifier(dated) or stated
                return


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


@cache
def _kinds() -> tuple[_Kind, ...]:
    return tuple(
        _Kind(name, table["label"], re.compile(_bounded(table), re.IGNORECASE), table)
        for name, table in read_table("identifiers").items()
    )


def _bounded(table: Mapping[str, Any]) -> str:
    pattern = str(table["pattern"])
    if table.get("spaced"):
        pattern = pattern.replace("/", r"\s?/\s?").replace(r"\.\d", r"\s?\.\s?\d")
    return f"{_BEGINS}(?:{pattern}){_ENDS}"


@cache
def _labelled(name: str) -> re.Pattern[str]:
    """Return the pattern of an identifier behind its label."""
    kind = next(one for one in _kinds() if one.name == name)
    labels = [*kind.table.get("labels", ()), kind.label]
    words = "|".join(re.escape(label) for label in sorted(set(labels), key=len, reverse=True))
    return re.compile(
        rf"(?:{words})(?:\s*(?:No|Nr|n°|nº)\.?)?\s*[:：#]?\s*(?P<value>{_bounded(kind.table)})", re.IGNORECASE
    )


def _identifier(kind: _Kind, found: re.Match[str]) -> Identifier:
    groups = {name: value or "" for name, value in found.groupdict().items()}
    written = groups.get("value") or found.group()
    value = _AROUND_SIGNS.sub(r"\1", _BLANKS.sub(" ", written)) if kind.table.get("spaced") else written
    day = _DAY.fullmatch(groups.get("date") or groups.get("date_") or "")
    work, tail_date = _work(kind, groups)
    corrects = bool(groups.get("corrected"))
    date = "" if corrects else "-".join(day.groups()) if day else tail_date
    return Identifier(kind.label, value, work, date, int(groups.get("revision") or 0), corrects)


def _work(kind: _Kind, groups: Mapping[str, str]) -> tuple[str, str]:
    """Return the key of a work, and the day of the version if its tail names one."""
    if "tail" in groups:
        parts, day = _without_version(groups["tail"].strip("/").split("/"), frozenset(kind.table["versions"]))
        return f"{kind.name} {'/'.join(parts).lower()}", day
    if "work" not in kind.table:
        return _BLANKS.sub("", groups["work"]).lower().strip("/"), ""
    sector = groups.get("sector", "")
    made = {
        **groups,
        "type": _CELEX_TYPES.get(groups["type"].lower(), groups["type"].upper()),
        "number": groups["number"].zfill(4),
        "sector": _ACT if sector == _CONSOLIDATED else sector,
    }
    return kind.table["work"].format(**made), ""


def _without_version(parts: list[str], versions: frozenset[str]) -> tuple[list[str], str]:
    """Return the parts of a path up to its version or its language, and the day of the version."""
    day = ""
    for place, part in enumerate(parts[_SHORTEST_WORK:], _SHORTEST_WORK):
        if dated := _DAY.fullmatch(part):
            day, parts = "-".join(dated.groups()), parts[:place]
            break
    while len(parts) > _SHORTEST_WORK and (parts[-1].lower() in versions or _LANGUAGE.fullmatch(parts[-1])):
        parts = parts[:-1]
    return parts, day
