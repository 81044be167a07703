"""The table data/licences.toml without its hosts: licence names, phrases, and rules that weigh them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from ingestion.types.licence import Light
from rag_engine.config import DATA

_TABLE = DATA / "licences.toml"
_GAP = r"[^.;|\n]{0,100}?"
_JOIN = r"[\s_\-/,+–]{0,3}"
# Words of these kinds end where the pattern ends: "no" must not be found in "notice".
_WHOLE = frozenset({"negation"})
_SPACES = re.compile(r"[^\S\n]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A licence's names and address; `licence` has NUMBER where its version goes."""

    licence: str
    restrictions: tuple[str, ...]
    pattern: re.Pattern[str]
    address: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that decides if every one of `needs` holds and none of `unless`.

    "a|b" holds if either does. Without a `light` the words mean nothing in this context.
    """

    id: str
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    light: Light | None = None
    licence: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class HtmlWords:
    """Names of machine-readable licence fields, and of the elements that hold other people's works."""

    metas: frozenset[str]
    properties: frozenset[str]
    page_types: frozenset[str]
    json_keys: tuple[str, ...]
    xmp: Mapping[str, str]
    aside_elements: frozenset[str]
    aside_names: re.Pattern[str]
    aside_text: re.Pattern[str]
    box_elements: frozenset[str]
    box_names: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class LicenceTable:
    """The whole of data/licences.toml but its hosts.

    `phrases` maps a kind to one pattern for all languages, `rows` to the patterns of its rows by their ids
    ("it.granted.2"). `rules` maps a group to its rules in order.
    """

    names: tuple[NamePattern, ...]
    around: frozenset[str]
    phrases: Mapping[str, re.Pattern[str]]
    rows: Mapping[str, Mapping[str, str]]
    creative_commons: Mapping[str, re.Pattern[str]]
    html: HtmlWords
    scores: Mapping[str, float]
    rules: Mapping[str, tuple[Rule, ...]]


_RULES = TypeAdapter(dict[str, tuple[Rule, ...]])
_HTML = TypeAdapter(HtmlWords)


@cache
def load_licences() -> LicenceTable:
    """Return the table, read once."""
    table: dict[str, Any] = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    scores, shared, page = table.pop("scores"), table.pop("shared"), table.pop("html")
    # The hosts are read for themselves, by web/trusted_domains.py.
    del table["domains"]
    around = frozenset(table.pop("around").split())
    names = tuple(
        NamePattern(
            row["licence"], tuple(row.get("restrictions", ())), _compile([row["pattern"]]), re.compile(row["address"])
        )
        for row in table.pop("names")
    )
    commons = {name: "|".join(rows).replace("JOIN", _JOIN) for name, rows in table.pop("creative_commons").items()}
    scored = {
        group: [{**row, "score": scores[row.get("score", "none")]} for row in rows]
        for group, rows in table.pop("rules").items()
    }
    aside = {
        "box_names": rf"(?i)(?:^|[\s_-])(?:{'|'.join(page['box_names'])})(?:$|[\s_-])",
        "aside_names": rf"(?i)(?:^|[\s_-])(?:{'|'.join(page['aside_names'])})(?:$|[\s_-])",
        "aside_text": rf"(?i){'|'.join(page['aside_text'])}",
    }
    # What is left are the languages.
    kinds = dict.fromkeys(kind for entry in table.values() for kind in entry)
    rows = {
        kind: {
            f"{language}.{kind}.{number}": pattern
            for language, entry in table.items()
            for number, pattern in enumerate(entry.get(kind, ()), start=1)
        }
        for kind in kinds
    }
    phrases = {kind: _compile(list(patterns.values()), whole=kind in _WHOLE) for kind, patterns in rows.items()}
    return LicenceTable(
        names=names,
        around=around,
        phrases=phrases | {kind: re.compile("|".join(patterns)) for kind, patterns in shared.items()},
        rows=rows,
        creative_commons={name: re.compile(pattern) for name, pattern in commons.items()},
        html=_HTML.validate_python(page | aside),
        scores=scores,
        rules=_RULES.validate_python(scored),
    )


def score_of(name: str) -> float:
    """Return a weight by its name; on the paper's scale 20 decides."""
    return load_licences().scores[name]


def deciding_rule(group: str, holds: Callable[[str], bool]) -> Rule:
    """Return the first rule of the group whose conditions the facts that hold meet; the last has none."""

    def one_of(names: str) -> bool:
        return any(map(holds, names.split("|")))

    rules = load_licences().rules[group]
    return next(rule for rule in rules if all(map(one_of, rule.needs)) and not any(map(one_of, rule.unless)))


def row_of(kind: str, match: re.Match[str]) -> str:
    """Return the id of the row of a kind that gave this match: "it.granted.2"."""
    text, start, end = match.string, match.start(), match.end()
    ids = load_licences().rows[kind]
    same = (found for found in ids if (one := _row(kind, found).match(text, start)) and one.end() == end)
    return next(same, kind)


@cache
def _row(kind: str, row: str) -> re.Pattern[str]:
    return _compile([load_licences().rows[kind][row]], whole=kind in _WHOLE)


def tidy_text(text: str) -> str:
    """Return the text as it is quoted: words and lines joined by one space, paragraphs kept.

    Invisible characters vanish, and words that were hyphenated at a line's end are joined.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", text)).replace("\r\n", "\n").replace("\r", "\n")
    text = _SPACES.sub(" ", _HYPHENATED.sub("", text))
    # A line ends where the paper does, a statement where the paragraph does.
    return " ".join(re.sub(r" ?\n ?(?:\n ?)+", "\0", text).replace("\n", " ").split(" ")).replace("\0", "\n").strip()


def _compile(patterns: list[str], *, whole: bool = False) -> re.Pattern[str]:
    # A kind that no pattern describes matches nothing.
    joined = "|".join(f"(?:{pattern})" for pattern in patterns).replace("~", _GAP) or r"(?!)"
    # Named groups belong to one pattern each; a pattern of several keeps only its first.
    end = r"(?!\w)" if whole else ""
    return re.compile(rf"(?<!\w)(?:{joined}){end}")
