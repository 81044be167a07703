"""Recognition of the columns of an analyst's list, by headings in many languages and by their content."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from rapidfuzz import fuzz

from ingestion.spreadsheets.row import Row
from rag_engine.config import DATA
from rag_engine.text.folding import fold

Role = Literal["code", "url", "title", "authority", "notes", "licence"]

_HEADER_WITHIN = 30
_LONGEST_NAME = 60
_ADDRESS = re.compile(r"(?:https?://|www\.)\S", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """Columns by their role, from 0; None or empty if the sheet has none.

    `header` is the number of the row they were named in, 0 if no row names them. `names` are the headings as they
    stand.
    """

    urls: tuple[int, ...] = ()
    code: int | None = None
    title: int | None = None
    authority: int | None = None
    notes: int | None = None
    licence: int | None = None
    header: int = 0
    names: tuple[str, ...] = ()

    def unused(self) -> list[str]:
        """Return the headings of columns that nothing is taken from."""
        used = {*self.urls, self.code, self.title, self.authority, self.notes, self.licence}
        return [name for column, name in enumerate(self.names) if name and column not in used]


def find_columns(rows: Sequence[Row]) -> SourceColumns:
    """Return the columns of a sheet, judged by its first rows.

    A header may follow titles and remarks. Without a header every column that holds a web address counts as one of
    addresses.

    >>> columns = find_columns([Row("Sheet1", 1, ("Titolo", "Link", "Budget"))])
    >>> columns.title, columns.urls, columns.unused()
    (0, (1,), ['Budget'])
    """
    best, best_score = SourceColumns(), 0.0
    for position, row in enumerate(rows[:_HEADER_WITHIN]):
        columns, score = _read_header(row, rows[position + 1 :])
        if score > best_score:
            best, best_score = columns, score
    if best.urls or not rows:
        return best
    taken = {best.code, best.authority, best.notes, best.licence}
    below = [row for row in rows if row.number > best.header]
    width = max(len(row.cells) for row in rows)
    urls = tuple(column for column in range(width) if column not in taken and _holds_addresses(below, column))
    return replace(best, urls=urls)


def matched_roles(heading: str) -> tuple[tuple[Role, ...], float]:
    """Return the kinds that a heading may name, likeliest first, with confidence: 1 for the exact name.

    >>> matched_roles("Name der Behörde")
    (('authority', 'title'), 0.6)
    """
    text = " ".join(re.sub(r"[\W_]+", " ", fold(heading)).split())
    if not text or len(text) > _LONGEST_NAME:
        return (), 0.0
    known = _headings()
    if text in known.either:
        return ("authority", "url"), 1.0
    if text in known.roles:
        return (known.roles[text],), 1.0
    words = text.split()
    if known.properties & set(words):
        return (), 0.0
    phrases = [" ".join(words[i:j]) for i in range(len(words)) for j in range(len(words), i, -1)]
    if contained := tuple(dict.fromkeys(known.roles[phrase] for phrase in phrases if phrase in known.roles)):
        # "Name of the authority" and "document notes" are not the document's own name.
        return tuple(sorted(contained, key=lambda role: role == "title")), 0.6
    if len(text) >= 5:
        likeness, role = max((fuzz.ratio(text, name), role) for name, role in known.roles.items() if len(name) >= 4)
        if likeness >= 85:
            return (role,), 0.5
    return (), 0.0


@dataclass(frozen=True, slots=True)
class _Headings:
    """The headings of data/source_columns.toml.

    They are the role of each, the headings with either of two roles, and words of other properties.
    """

    roles: Mapping[str, Role]
    either: frozenset[str]
    properties: frozenset[str]


@cache
def _headings() -> _Headings:
    table = tomllib.loads((DATA / "source_columns.toml").read_text(encoding="utf-8"))
    roles: dict[Role, list[str]] = table["roles"]
    other = table["other"]
    by_name = {name: role for role, names in roles.items() for name in names}
    return _Headings(by_name, frozenset(other["either"]), frozenset(other["properties"]))


def _read_header(row: Row, below: Sequence[Row]) -> tuple[SourceColumns, float]:
    """Return the columns if this row were the header, and how many of them it names how surely."""
    found: dict[Role, tuple[float, int]] = {}
    urls: dict[int, tuple[float, bool]] = {}
    for column, heading in enumerate(row.cells):
        if _ADDRESS.match(heading.strip()) or column in row.links:
            return SourceColumns(), 0.0
        roles, sureness = matched_roles(heading)
        # "Licence link" is never an address to fetch; "document link" is one when addresses stand below it.
        if "licence" in roles:
            roles = ("licence",)
        if roles == ("url",) or ("url" in roles and _holds_addresses(below, column)):
            urls[column] = (sureness, roles == ("url",))
        elif role := next((role for role in roles if role != "url"), None):
            found[role] = max(found.get(role, (0.0, 0)), (sureness, column), key=lambda one: one[0])
    # "Authority website" beside "URL" is not what the list is about.
    pure = [column for column, (_, alone) in urls.items() if alone]
    place = {role: column for role, (_, column) in found.items()}
    total = sum(sureness for sureness, _ in found.values()) + max((one for one, _ in urls.values()), default=0.0)
    columns = SourceColumns(
        tuple(pure or urls), place.get("code"), place.get("title"), place.get("authority"), place.get("notes"),
        place.get("licence"), row.number, tuple(cell.strip() for cell in row.cells),
    )  # fmt: skip
    return (columns, total) if total else (SourceColumns(), 0.0)


def _holds_addresses(rows: Sequence[Row], column: int) -> bool:
    return any(_ADDRESS.match(row.cell(column)) or row.links.get(column, "").startswith("http") for row in rows)
