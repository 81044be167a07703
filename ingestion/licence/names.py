"""One name for each licence, from the many of texts and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from ingestion.licence.table import load_licences
from rag_engine.answering.reference_list import limits_of
from rag_engine.text.folding import fold_in_place

RESTRICTIONS = ("NC", "ND", "SA")
UNSTATED = "Creative Commons (variant not stated)"

# Most that an address or a name may be; longer ones are not read.
_LONGEST = 2000
_HOSTED = re.compile(r"^(?:https?:)?//(?:web\.archive\.org/web/\w{1,20}/)?(?:https?:/{1,2})?([^/?#]{1,200})(.*)$")

_REACH = 140
_VERSION = re.compile(r"(?<![\d.])([1-4]\.\d)(?![\d.]\d)")
_IGO = re.compile(r"(?<!\w)igo(?!\w)")
_WHOLE_NAME = re.compile(r"^CC BY((?:-(?:NC|ND|SA))*)")
_STATED = re.compile(r"\(((?:NC|ND|SA)(?:, (?:NC|ND|SA))*)\)$")


@dataclass(frozen=True, slots=True)
class NamedLicence:
    """A licence by its one name and the characters [start, end) of the text that name it."""

    name: str
    start: int = 0
    end: int = 0


def name_of_address(url: str) -> str:
    """Return the licence whose address this is ("CC BY-NC 4.0"), UNSTATED for CC at large, or "".

    >>> name_of_address("https://creativecommons.org/licenses/by-nc/4.0/deed.it")
    'CC BY-NC 4.0'
    """
    if len(url) > _LONGEST:
        return ""
    address = unquote(url.strip()).lower()
    hosted = _HOSTED.match(address if "//" in address[:8] else f"//{address}")
    if not hosted:
        return ""
    host = hosted[1].rpartition("@")[2].partition(":")[0].removeprefix("www.")
    plain = host + hosted[2]
    # A page about a licence may have its address in its own query.
    plain = plain.partition("?")[0].partition("#")[0]
    commons = load_licences().creative_commons
    if found := commons["zero_address"].match(plain):
        return f"CC0 {found[1] or '1.0'}"
    if commons["mark_address"].match(plain):
        return "Public domain"
    if found := commons["address"].match(plain):
        return _creative_commons(found[1].upper().split("-"), found[2] or "", igo=bool(found[3]))
    if commons["any_address"].match(plain):
        return UNSTATED
    for named in load_licences().names:
        if found := named.address.match(plain):
            return _numbered(named.licence, found)
    return ""


def names_in(text: str) -> list[NamedLicence]:
    """Return the licences that a text names, in order; of names that overlap the fuller."""
    folded = fold_in_place(text)
    commons = load_licences().creative_commons
    found = [NamedLicence(f"CC0 {match[1] or '1.0'}", *match.span()) for match in commons["zero"].finditer(folded)]
    found += [NamedLicence("Public domain", *match.span()) for match in commons["mark"].finditer(folded)]
    for match in commons["short"].finditer(folded):
        end, version, igo = _tail(folded, match.end())
        # "Sent cc by mail", "licence by the ministry": without capitals, elements or a version it is English.
        if not (match[1] or version or "BY" in text[match.start() : match.end()] or "cc-by" in match.group()):
            continue
        found.append(NamedLicence(_creative_commons(_tokens(match[1]), version, igo=igo), match.start(), end))
    for match in commons["address"].finditer(folded):
        name = _creative_commons(match[1].upper().split("-"), match[2] or "", igo=bool(match[3]))
        found.append(NamedLicence(name, *match.span()))
    found += [_spelled_out(folded, match) for match in commons["long"].finditer(folded)]
    for match in commons["elements"].finditer(folded):
        end, version, igo = _tail(folded, match.end())
        found.append(NamedLicence(_creative_commons(_tokens(match[0]), version, igo=igo), match.start(), end))
    for named in load_licences().names:
        for match in named.pattern.finditer(folded):
            name = _numbered(named.licence, match)
            found.append(NamedLicence(name, *match.span()))
    kept: list[NamedLicence] = []
    # Of names that overlap the fuller.
    for licence in sorted(found, key=lambda named: (named.name == UNSTATED, named.start, named.start - named.end)):
        if not any(licence.start < other.end and other.start < licence.end for other in kept):
            kept.append(licence)
    return sorted(kept, key=lambda named: named.start)


def name_of_text(text: str) -> str:
    """Return the one licence that a short text names, or "" if it names none or several.

    >>> name_of_text("Open Government Licence v3.0")
    'OGL 3.0'
    """
    named = {name.name for name in names_in(text[:_LONGEST])}
    named = named - {UNSTATED} if len(named) > 1 else named
    return named.pop() if len(named) == 1 else ""


def stated_licence(text: str) -> str:
    """Return a licence as a person states it.

    By the one name where that is all it says, else in the person's words.

    If the words name a licence without its restrictions, these are added behind, as in the names of the catalog.
    """
    words = " ".join(text.split())
    if name := name_of_address(words):
        return words if name == UNSTATED else name
    named, name = names_in(words[:_LONGEST]), name_of_text(words)
    if not name or name == UNSTATED:
        return words
    if [(licence.start, licence.end) for licence in named] == [(0, len(words))]:
        return name
    said = limits_of(words)
    return with_restrictions(words, [limit for limit in limits_of(name) if limit not in said])


def restrictions_of(name: str) -> tuple[str, ...]:
    """Return NC, ND and SA as far as the licence has them.

    >>> restrictions_of("CC BY-NC-ND 4.0")
    ('NC', 'ND')
    """
    if found := _WHOLE_NAME.match(name):
        return tuple(token for token in found[1].split("-") if token)
    if found := _STATED.search(name):
        return tuple(found[1].split(", "))
    plain = re.sub(r" \d.*", " NUMBER", name)
    return next((known.restrictions for known in load_licences().names if known.licence in (name, plain)), ())


def with_restrictions(name: str, restrictions: Iterable[str]) -> str:
    """Return the name of a permission that is not a licence with what limits it.

    "Reproduction authorised (NC)".
    """
    kept = [token for token in RESTRICTIONS if token in set(restrictions)]
    return f"{name} ({', '.join(kept)})" if kept else name


def _creative_commons(tokens: Iterable[str], version: str, *, igo: bool = False) -> str:
    # The order of the licences themselves: BY-NC-SA, BY-NC-ND.
    kept = [token for token in ("NC", "SA", "ND") if token in set(tokens)]
    return " ".join(filter(None, ("CC " + "-".join(["BY", *kept]), version, "IGO" if igo else "")))


def _tokens(text: str) -> list[str]:
    return [token.upper() for token in re.findall("nc|nd|sa", text.lower())]


def _tail(folded: str, end: int) -> tuple[int, str, bool]:
    """Return where the name ends with its version and IGO, the version, and whether it is an IGO licence."""
    tail = folded[end : end + 24]
    version = _VERSION.search(tail)
    igo = _IGO.search(tail)
    return end + max(version.end() if version else 0, igo.end() if igo else 0), version[1] if version else "", bool(igo)


def _spelled_out(folded: str, match: re.Match[str]) -> NamedLicence:
    """Return a licence written out after "Creative Commons".

    Before it, in languages that put the name last.
    """
    commons = load_licences().creative_commons
    elements = {token: commons[token] for token in RESTRICTIONS}
    attribution = commons["attribution"]
    after = re.split(r"[.;|\n](?!\d)|(?<!\w)(?:all rights|alle rechte)", folded[match.end() : match.end() + _REACH])[0]
    before = folded[max(0, match.start() - 60) : match.start()]
    reading = after if attribution.search(after) else ""
    if not reading and attribution.search(before):
        reading = before
    if not reading:
        return NamedLicence(UNSTATED, *match.span())
    tokens = [token for token, words in elements.items() if words.search(reading)]
    version = _VERSION.search(after)
    ends = [found.end() for pattern in (attribution, _VERSION, *elements.values()) for found in pattern.finditer(after)]
    end = match.end() + max(ends, default=0)
    name = _creative_commons(tokens, version[1] if version else "", igo=bool(_IGO.search(after)))
    start = match.start()
    if reading is before:
        start -= len(before) - next(found.start() for found in attribution.finditer(before))
    return NamedLicence(name, start, end)


def _numbered(licence: str, match: re.Match[str]) -> str:
    number = next((value for value in match.groupdict().values() if value), "")
    number = f"{number}.0" if number.isdigit() else number
    return licence.replace("NUMBER", number).strip()
