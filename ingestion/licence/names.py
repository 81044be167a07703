"""One name for each licence, whatever a text or an address calls it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from ingestion.licence.table import load_licences
from rag_engine.text.folding import fold_in_place

RESTRICTIONS = ("NC", "ND", "SA")
UNSTATED = "Creative Commons (variant not stated)"
ALL_RIGHTS = "All rights reserved"

# Most that an address or a name may be; longer ones are not read.
_LONGEST = 2000
_CC_ADDRESS = re.compile(
    r"creativecommons\.org/(?:licen[cs]es|licencias|lizenzen)/(by(?:-(?:nc|nd|sa)){0,2}|nc-sa|sa|nd|nc)(?![a-z-])"
    r"(?:/(\d\.\d))?(/igo)?"
)
_CC0_ADDRESS = re.compile(r"creativecommons\.org/(?:publicdomain|licenses)/zero(?:/(\d\.\d))?")
_PDM_ADDRESS = re.compile(r"creativecommons\.org/(?:publicdomain/mark|licenses/publicdomain)")
_CC_PLAIN = re.compile(r"creativecommons\.org/(?:licenses|$)")
_HOSTED = re.compile(r"^(?:https?:)?//(?:web\.archive\.org/web/\w{1,20}/)?(?:https?:/{1,2})?([^/?#]{1,200})(.*)$")

_JOIN = r"[\s_\-/,+–]{0,3}"
_CC_SHORT = re.compile(
    rf"(?<!\w)(?:\(?cc\)?{_JOIN}|creative commons[\s:,\"'(\[-]{{1,4}}(?:cc{_JOIN})?|(?:licen[cs]\w*|lizenz|lisans\w*|"
    rf"lisens\w*|licentie)[\s:\"'(\[]{{1,4}})by((?:{_JOIN}(?:nc|nd|sa)(?!\w)){{0,3}})(?!\w)"
)
_CC_TOKEN = re.compile(rf"(?<![\w-])by(?:{_JOIN}(?:nc|nd|sa)(?!\w)){{1,3}}(?!\w)")
_CC0 = re.compile(r"(?<!\w)(?:cc[\s-]?0|cc[\s-]zero|creative commons (?:zero|0|cc0))(?!\w)(?:[\s-]{0,2}(\d\.\d))?")
_PDM = re.compile(r"(?<!\w)(?:public domain mark|pdm[ -]1\.0)")
_CC_LONG = re.compile(r"(?<!\w)creative[ -]commons(?!\w)")
_REACH = 140
_ATTRIBUTION = re.compile(
    r"attribution|attribuzione|atribucion|atribuicao|reconocimiento|paternite|namensnennung|atif|atfi|navngivelse|"
    r"naamsvermelding|kreditering|(?<!\w)by(?!\w)|uznanie autorstwa"
)
_WORDS = {
    "NC": re.compile(
        r"(?:non|no|nao|not|nicht|ikke|niet)[\s-]{0,2}comm?er[czs]i\w+|(?:nicht|ikke)[\s-]{0,2}kommer[sz]iel\w*|"
        r"gayri? ?ticari|ticari olmayan|pas d'utilisation commerciale|uzycie niekomercyjne|(?<!\w)nc(?!\w)"
    ),
    "ND": re.compile(
        r"no[\s-]?deriv\w*|non[\s-]?opere[\s-]?derivate|"
        r"sin[\s-]?(?:obras?)?[\s-]?derivad\w*|pas de[\s-]modification\w*|keine[\s-]?bearbeitung\w*|"
        r"sem[\s-]?deriva\w*|turetilemez|ingen[\s-]?bearbeidel\w*|"
        r"geen[\s-]?afgeleide\w*|pas d'oeuvre[\s-]derivee|bez[\s-]utworow|(?<!\w)nd(?!\w)"
    ),
    "SA": re.compile(
        r"share[\s-]?alike|condividi allo stesso modo|compartir[\s-]?igual|partage (?:dans les memes|a l'identique)|"
        r"weitergabe[\s-]unter[\s-]gleichen|compartilha\w*[\s-]?igual|partilha\w* nos (?:mesmos )?termos|"
        r"ayni[\s-]?lisansla[\s-]?paylas|benzer[\s-]?paylas|lisansla(?:nma)?[\s-]?devam|del[\s-]?pa[\s-]?samme|"
        r"gelijk[\s-]?delen|na tych samych|(?<!\w)sa(?!\w)"
    ),
}
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
    """The licence whose own address this is ("CC BY-NC 4.0"), UNSTATED for Creative Commons at large, or ""."""
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
    if found := _CC0_ADDRESS.match(plain):
        return f"CC0 {found[1] or '1.0'}"
    if _PDM_ADDRESS.match(plain):
        return "Public domain"
    if found := _CC_ADDRESS.match(plain):
        return _creative_commons(found[1].upper().split("-"), found[2] or "", igo=bool(found[3]))
    if _CC_PLAIN.match(plain):
        return UNSTATED
    for named in load_licences().names:
        if found := named.address.match(plain):
            return _numbered(named.licence, found)
    return ""


def names_in(text: str) -> list[NamedLicence]:
    """The licences that a text names, in order; of names that overlap the fuller."""
    folded = fold_in_place(text)
    found = [NamedLicence(f"CC0 {match[1] or '1.0'}", *match.span()) for match in _CC0.finditer(folded)]
    found += [NamedLicence("Public domain", *match.span()) for match in _PDM.finditer(folded)]
    for match in _CC_SHORT.finditer(folded):
        end, version, igo = _tail(folded, match.end())
        # "Sent cc by mail", "licence by the ministry": without capitals, elements or a version it is English.
        if not (match[1] or version or "BY" in text[match.start() : match.end()] or "cc-by" in match.group()):
            continue
        found.append(NamedLicence(_creative_commons(_tokens(match[1]), version, igo=igo), match.start(), end))
    found += [_spelled_out(folded, match) for match in _CC_LONG.finditer(folded)]
    for match in _CC_TOKEN.finditer(folded):
        end, version, igo = _tail(folded, match.end())
        found.append(NamedLicence(_creative_commons(_tokens(match[0]), version, igo=igo), match.start(), end))
    for named in load_licences().names:
        for match in named.pattern.finditer(folded):
            name = _numbered(named.licence, match)
            found.append(NamedLicence(name, *match.span()))
    return _distinct(found)


def name_of_text(text: str) -> str:
    """The one licence that a short text names, or "" where it names none or several."""
    named = {one.name for one in names_in(text[:_LONGEST])}
    named = named - {UNSTATED} if len(named) > 1 else named
    return named.pop() if len(named) == 1 else ""


def restrictions_of(name: str) -> tuple[str, ...]:
    """NC, ND and SA as far as the licence has them."""
    if found := _WHOLE_NAME.match(name):
        return tuple(token for token in found[1].split("-") if token)
    if found := _STATED.search(name):
        return tuple(found[1].split(", "))
    plain = re.sub(r" \d.*", " NUMBER", name)
    return next((known.restrictions for known in load_licences().names if known.licence in (name, plain)), ())


def with_restrictions(name: str, restrictions: Iterable[str]) -> str:
    """The name of a permission that is not a licence with what limits it: "Reproduction authorised (NC)"."""
    kept = [token for token in RESTRICTIONS if token in set(restrictions)]
    return f"{name} ({', '.join(kept)})" if kept else name


def _creative_commons(tokens: Iterable[str], version: str, *, igo: bool = False) -> str:
    # The order of the licences themselves: BY-NC-SA, BY-NC-ND.
    kept = [token for token in ("NC", "SA", "ND") if token in set(tokens)]
    return " ".join(filter(None, ("CC " + "-".join(["BY", *kept]), version, "IGO" if igo else "")))


def _tokens(text: str) -> list[str]:
    return [token.upper() for token in re.findall("nc|nd|sa", text.lower())]


def _tail(folded: str, end: int) -> tuple[int, str, bool]:
    """Where the name ends with its version and IGO, the version, and whether it is an IGO licence."""
    tail = folded[end : end + 24]
    version = _VERSION.search(tail)
    igo = _IGO.search(tail)
    return end + max(version.end() if version else 0, igo.end() if igo else 0), version[1] if version else "", bool(igo)


def _spelled_out(folded: str, match: re.Match[str]) -> NamedLicence:
    """A licence written out after "Creative Commons"; before it, in languages that put the name last."""
    after = re.split(r"[.;|\n](?!\d)|(?<!\w)(?:all rights|alle rechte)", folded[match.end() : match.end() + _REACH])[0]
    before = folded[max(0, match.start() - 60) : match.start()]
    reading = after if _ATTRIBUTION.search(after) else ""
    if not reading and _ATTRIBUTION.search(before):
        reading = before
    if not reading:
        return NamedLicence(UNSTATED, *match.span())
    tokens = [token for token, words in _WORDS.items() if words.search(reading)]
    version = _VERSION.search(after)
    ends = [found.end() for pattern in (_ATTRIBUTION, _VERSION, *_WORDS.values()) for found in pattern.finditer(after)]
    end = match.end() + max(ends, default=0)
    name = _creative_commons(tokens, version[1] if version else "", igo=bool(_IGO.search(after)))
    return NamedLicence(name, match.start(), end)


def _numbered(licence: str, match: re.Match[str]) -> str:
    number = next((value for value in match.groupdict().values() if value), "")
    number = f"{number}.0" if number.isdigit() else number
    return licence.replace("NUMBER", number).strip()


def _distinct(found: list[NamedLicence]) -> list[NamedLicence]:
    kept: list[NamedLicence] = []
    for one in sorted(found, key=lambda named: (named.name == UNSTATED, named.start, named.start - named.end)):
        if not any(one.start < other.end and other.start < one.end for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda named: named.start)
