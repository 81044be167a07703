"""What data/licences.toml knows, ready to use: hosts, names of licences, and how languages grant and reserve rights."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ingestion.types import Light
from rag_engine.config import DATA

_TABLE = DATA / "licences.toml"
_GAP = r"[^.;|\n]{0,100}?"
# What patterns may ask for; every language gives those it has.
KINDS = (
    "reserved", "some", "forbidden", "consent", "request", "granted", "public_domain", "licensed", "work", "part",
    "credit", "commercial", "noncommercial", "unmodified", "purpose", "negation", "neutral", "beyond", "third",
    "hypothetical", "terms",
)  # fmt: skip
# Words of these kinds end where the pattern ends: "no" must not be found in "notice".
_WHOLE = frozenset({"negation"})
_SPACES = re.compile(r"[^\S\n]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_HYPHENATED = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class TrustedDomain:
    """A host whose name alone says something of the licence; GREEN frees all it publishes."""

    suffix: str
    licence: str
    light: Light
    exceptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A licence's names and address; `licence` has NUMBER where its version goes."""

    licence: str
    restrictions: tuple[str, ...]
    pattern: re.Pattern[str]
    address: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class LicenceTable:
    """The whole table. `phrases` maps a kind to one pattern for all languages, `spoken` to one for each language."""

    domains: tuple[TrustedDomain, ...]
    names: tuple[NamePattern, ...]
    around: frozenset[str]
    phrases: Mapping[str, re.Pattern[str]]
    spoken: Mapping[str, Mapping[str, re.Pattern[str]]]


@cache
def load_licences() -> LicenceTable:
    """The table, read once."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    domains = tuple(
        TrustedDomain(row["suffix"], row["licence"], row.get("light", "GREEN"), tuple(row.get("except", ())))
        for row in table.pop("domains")
    )
    around = frozenset(table.pop("around").split())
    names = tuple(
        NamePattern(
            row["licence"], tuple(row.get("restrictions", ())), _compile([row["pattern"]]), re.compile(row["address"])
        )
        for row in table.pop("names")
    )
    return LicenceTable(
        domains,
        names,
        around,
        {
            kind: _compile([p for entry in table.values() for p in entry.get(kind, [])], whole=kind in _WHOLE)
            for kind in KINDS
        },
        {
            language: {kind: _compile(listed, whole=kind in _WHOLE) for kind, listed in entry.items()}
            for language, entry in table.items()
        },
    )


def tidy_text(text: str) -> str:
    """The text as it is quoted: no invisible characters, hyphenated words joined, one space, paragraphs kept."""
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
