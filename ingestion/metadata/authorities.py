"""Issuing bodies by any of their names, their Internet domains or their document symbols."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter
from rapidfuzz import fuzz

from ingestion.metadata.term_matching import TermTable, Word, build_table, cut_words, find_terms
from ingestion.web.links import host_of
from rag_engine.config import DATA
from rag_engine.geography import find_places, load_gazetteer

_ACRONYM = re.compile(r"\(\s*[^\W\d_]{2,10}\s*\)\s*$")
_TAIL = re.compile(r"\s*[,;–—|(].*$")
_ARTICLES = frozenset({"the", "il", "la", "lo", "l", "le", "les", "el", "der", "die", "das", "o", "a", "t", "c"})
# What a name may go on with to say whose it is: "(Österreich)", "of Ireland", "de Chile".
_ITS_COUNTRY = re.compile(
    r"\s*\([^()\n]{3,40}\)|,? (?:of|de|du|des|del|della|do|da|der|von) (?:the |la |los )?[^\W\d_a-zß-ÿ]\w{2,}"
)
_HOST = re.compile(r"(?<![\w.-])[\w-]++(?:\.[\w-]++)++")
# What is longer is no name; patterns that look for the end of one take time by its square.
_LONGEST_NAME = 1000
# Of a host name, by RFC 1035.
_LONGEST_HOST = 253
# A slip of the pen is allowed in names that are long enough to stay apart.
_FUZZY_LENGTH = 14
_FUZZY_WHOLE = 93.0
_FUZZY_WORD = 78.0


@dataclass(frozen=True, slots=True)
class Authority:
    """A body that issues documents; `country` is "" unless its level is National."""

    name: str
    level: str
    country: str
    aliases: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    weak: bool = False


_AUTHORITIES = TypeAdapter(tuple[Authority, ...])


@dataclass(frozen=True, slots=True)
class Naming:
    """A place in a text that names an authority; `kind` says by what."""

    authority: Authority
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class AuthorityTable:
    """All known authorities, ready for look-up."""

    by_name: Mapping[str, Authority]
    by_key: Mapping[str, Authority]
    by_domain: Mapping[str, Authority]
    names: TermTable
    marks: TermTable
    symbols: re.Pattern[str]
    by_symbol: Mapping[str, Authority]


@cache
def load_authorities() -> AuthorityTable:
    """Return the table of data/authorities.toml, read once."""
    table = tomllib.loads((DATA / "authorities.toml").read_text(encoding="utf-8"))
    authorities = _AUTHORITIES.validate_python(
        [{**group, **entry} for group in table["group"] for entry in group["authorities"]]
    )
    by_symbol = {symbol: authority for authority in authorities for symbol in authority.symbols}
    symbols = "|".join(re.escape(symbol) for symbol in sorted(by_symbol, key=len, reverse=True))
    return AuthorityTable(
        {authority.name: authority for authority in authorities},
        {_key(name): authority for authority in authorities for name in (authority.name, *authority.aliases)},
        {domain: authority for authority in authorities for domain in authority.domains},
        build_table((one.name, name) for one in authorities for name in (one.name, *one.aliases)),
        build_table((one.name, mark) for one in authorities for mark in one.marks),
        re.compile(rf"(?<![\w/])(?:{symbols})(?=\w)"),
        by_symbol,
    )


def canonical_authority(text: str) -> Authority | None:
    """Return the authority that a text names and nothing else.

    By name, alias, acronym, or a misspelt name.

    None for an unknown name and for a name of two authorities.

    >>> canonical_authority("who"), canonical_authority("WHO").name
    (None, 'World Health Organization')
    """
    if len(text) > _LONGEST_NAME:
        return None
    table = load_authorities()
    bare = _ACRONYM.sub("", text.strip())
    for candidate in (text, bare, _TAIL.sub("", bare)):
        key = _key(candidate)
        if not key:
            continue
        found = table.by_key.get(key)
        if found is None:
            continue
        names = (found.name, *found.aliases)
        # "who" and "sec" are words unless they are in capitals.
        is_acronym = any(name.isupper() and _key(name) == key for name in names)
        if " " in key or len(key) > 6 or candidate.strip(" .").isupper() or not is_acronym:
            return found
    return _nearly(_key(bare), table.by_key)


def authority_of_host(address: str) -> Authority | None:
    """Return the authority whose domain holds an address or a bare host name; the longest domain wins."""
    table, host = load_authorities(), host_of(address if "//" in address else f"//{address}")
    # Of a longer one there is none, and to look at each of its ends takes time by its square.
    labels = host.split(".") if len(host) <= _LONGEST_HOST else []
    for first in range(len(labels) - 1):
        found = table.by_domain.get(".".join(labels[first:]))
        if found is not None:
            return found
    return None


def named_authorities(text: str, words: Sequence[Word]) -> list[Naming]:
    """Return every place of a text that names an authority, in order.

    "symbol", "mark", "name", "acronym" or "address".
    """
    table = load_authorities()
    found = [
        Naming(table.by_symbol[match.group()], match.start(), match.end(), "symbol")
        for match in table.symbols.finditer(text)
    ]
    found += [
        Naming(table.by_name[term.label], term.start, term.end, "mark") for term in find_terms(words, table.marks)
    ]
    found += _longest(
        Naming(
            table.by_name[term.label],
            term.start,
            term.end,
            "acronym" if term.term.isupper() and " " not in term.term else "name",
        )
        for term in find_terms(words, table.names)
    )
    found = [one for one in found if one.kind == "symbol" or not _is_another(text, one)]
    for match in _HOST.finditer(text):
        if authority := authority_of_host(match.group().lower()):
            found.append(Naming(authority, match.start(), match.end(), "address"))
    return sorted(found, key=lambda one: one.start)


def _is_another(text: str, one: Naming) -> bool:
    """Return whether a naming is part of a longer name, or another country's body of the same name.

    "Muster-Bundestag" is not the Bundestag. "Ministry of Health (Ireland)" is not the ministry of the country in the
    table.
    """
    if text[one.start - 1 : one.start] in ("-", "‑") or text[one.end : one.end + 1] in ("-", "‑"):
        return True
    behind = _ITS_COUNTRY.match(text, one.end)
    if behind is None or not one.authority.country:
        return False
    countries = find_places(behind[0], load_gazetteer()).countries
    return bool(countries) and one.authority.country not in countries


def _longest(namings: Iterable[Naming]) -> list[Naming]:
    """Return the namings outside any longer one: "WHO Europe" is not "WHO"."""
    kept: list[Naming] = []
    for naming in sorted(namings, key=lambda one: (one.start, -one.end)):
        if not kept or naming.start >= kept[-1].end:
            kept.append(naming)
        elif naming.end > kept[-1].end:
            kept[-1] = naming
    return kept


def _nearly(key: str, by_key: Mapping[str, Authority]) -> Authority | None:
    """Return the one authority whose name differs by a slip in a word.

    None if there are two or the name is short.
    """
    if len(key) < _FUZZY_LENGTH:
        return None
    words = key.split()
    found: dict[str, Authority] = {}
    for known, authority in by_key.items():
        if abs(len(known) - len(key)) > 3 or len(known) < _FUZZY_LENGTH:
            continue
        others = known.split()
        if (
            len(others) == len(words)
            and fuzz.ratio(known, key) >= _FUZZY_WHOLE
            and all(fuzz.ratio(one, other) >= _FUZZY_WORD for one, other in zip(words, others, strict=True))
        ):
            found[authority.name] = authority
    return next(iter(found.values())) if len(found) == 1 else None


def _key(name: str) -> str:
    words = [word.folded for word in cut_words(name)]
    while len(words) > 2 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words)
