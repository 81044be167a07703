"""Geography of a document: its level in the taxonomy and its countries.

A document that mentions a country is not about it. The issuing body comes first, then the title. The countries of the
whole text follow, counted in paragraphs, then names of regions and laws that belong to one country.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from ingestion.metadata.authorities import Authority
from ingestion.metadata.quotes import DocumentText, Guess
from ingestion.metadata.taxonomy import NATIONAL
from ingestion.metadata.term_matching import TermTable, build_table, find_terms
from ingestion.web.links import host_of
from rag_engine.config import DATA
from rag_engine.geography import GLOBAL, find_places, load_gazetteer
from rag_engine.text.sentences import sentence_spans

SUBNATIONAL = DATA / "subnational.toml"

WORLD = "Global/Supranational"
REGIONAL = "Supranational/regional"
EUROPEAN = "European region"
LATIN_AMERICAN = "Latin-American region"

_LEVEL_OF_REGION = {
    GLOBAL: WORLD,
    "Europe": EUROPEAN,
    "European Union": EUROPEAN,
    "Latin America and the Caribbean": LATIN_AMERICAN,
    "Central America": LATIN_AMERICAN,
    "South America": LATIN_AMERICAN,
    "Andean Region": LATIN_AMERICAN,
    "Caribbean": LATIN_AMERICAN,
}
# A language spoken officially in one country alone, or nearly so, speaks for it where something else does too.
_LANGUAGE_COUNTRY = {"tr": "Turkey", "it": "Italy", "no": "Norway", "pl": "Poland", "sv": "Sweden", "da": "Denmark",
                     "fi": "Finland", "el": "Greece", "cs": "Czechia", "hu": "Hungary", "bg": "Bulgaria",
                     "ro": "Romania", "nl": "Netherlands"}  # fmt: skip
_DOMAIN_CODES = {"uk": "GB", "gov": "US", "mil": "US", "eu": ""}
_FEWEST = 3
_SHORT_WORDS = 1_500
_MOST_COUNTRIES = 4
_MOST_CHARACTERS = 80_000


@dataclass(frozen=True, slots=True)
class Geography:
    """The level of a document and its countries; both may be missing."""

    level: Guess | None
    countries: tuple[Guess, ...] = ()


@dataclass(frozen=True, slots=True)
class _Counts:
    countries: Counter[str]
    regions: Counter[str]
    first: Mapping[str, tuple[int, int]]
    words: int


def locate(title: str, text: DocumentText, *, authority: Authority | None, url: str, issuer: str = "") -> Geography:
    """Return the level and countries of a document; Geography(None) where nothing tells.

    `issuer` is the name of an issuing body that no table knows, which may hold a country's.
    """
    counts = _count(text)
    found = _by_body(title, counts, authority, issuer) or _by_traces(text, counts, url)
    countries = tuple(_pinned(place, text) for place in found.countries)
    level = found.level
    if level is not None and countries and level.start >= 0:
        level = replace(level, start=countries[0].start, end=countries[0].end)
    return Geography(level, countries)


def _by_body(title: str, counts: _Counts, authority: Authority | None, issuer: str) -> Geography | None:
    """Return the places that title, issuing body and whole text name; None if they name none."""
    # The title without the place where a meeting was held, which says nothing of what it was about.
    subject, folded = title, title.casefold()
    for word in (" held in ", " held at ", ", held ", " celebrad", " tenue à ", " tenu à ", " svoltas", " abgehalten "):
        at = folded.find(word)
        if at > 0:
            subject, folded = subject[:at], folded[:at]
    titled = find_places(subject, load_gazetteer())
    # A title made of a file's name may hold the name of a language.
    if 0 < len(titled.countries) <= _MOST_COUNTRIES and (
        len(title.split()) > 3 or set(titled.countries) & set(counts.countries)
    ):
        return _national(titled.countries, 0.9, counts, "the title names it")
    if authority is not None and authority.level == NATIONAL:
        return _national((authority.country,), 0.9, counts, f"{authority.name} is a national body")
    named = find_places(issuer, load_gazetteer()).countries if authority is None else ()
    if len(named) == 1:
        return _national(named, 0.7, counts, f"{issuer} bears its name")
    home_of_language = _spoken_of(counts, strict=authority is not None)
    if home_of_language:
        return _national(home_of_language, 0.7, counts, "most paragraphs that name a country name it")
    if authority is not None:
        why = f"{authority.name} works at this level"
        region = next((region for region, level in _LEVEL_OF_REGION.items() if level == authority.level), "")
        return Geography(Guess(authority.level, 0.9, why, *counts.first.get(region, (-1, -1))))
    if titled.regions:
        return Geography(Guess(_level(titled.regions[0]), 0.8, "the title names the region"))
    return None


def country_of_address(address: str) -> str:
    """Return the English name of the country whose top-level domain an address has, or "".

    >>> country_of_address("https://www.afad.gov.tr/planlar")
    'Turkey'
    """
    top = host_of(address if "//" in address else f"//{address}").rpartition(".")[2]
    return load_gazetteer().countries.get(_DOMAIN_CODES.get(top, top.upper()), "")


def _pinned(place: Guess, text: DocumentText) -> Guess:
    """Return the place moved from the beginning of its paragraph to the sentence that names it."""
    if place.start < 0:
        return place
    stop = next((block.end for block in text.extracted.blocks if block.start == place.start), place.end)
    paragraph = text.extracted.text[place.start : stop]
    for start, end in sentence_spans(paragraph, text.language):
        if place.value in find_places(paragraph[start:end], load_gazetteer(), text.language).countries:
            return replace(place, start=place.start + start, end=place.start + end)
    return place


def _by_traces(text: DocumentText, counts: _Counts, url: str) -> Geography:
    """Return what regions, laws, addresses and the language give away where no body and no title does."""
    traces: Counter[str] = Counter()
    first = dict(counts.first)
    for mention in find_terms(text.words, _subnational()):
        traces[mention.label] += 1
        first.setdefault(mention.label, (mention.start, mention.end))
    traces.update(counts.countries)
    home = country_of_address(url) if url else ""
    if home:
        traces[home] += 5
    home_of_language = _LANGUAGE_COUNTRY.get(text.language, "")
    # Italian is written in Switzerland too, and by every body of the Union.
    if traces[home_of_language] and len(text.words) > 100:
        traces[home_of_language] += 2 + len(text.words) // 1000
    common = counts.regions.most_common(1)
    if traces:
        country, count = traces.most_common(1)[0]
        enough = count >= _FEWEST or country in (home, home_of_language)
        if enough and count >= 0.5 * traces.total() and (not common or common[0][1] <= count):
            start, end = first.get(country, (-1, -1))
            why = "its address is there" if country == home else "its language is spoken there"
            place = Guess(country, 0.55, why, start, end)
            return Geography(replace(place, value=NATIONAL), (place,))
    if len(counts.countries) == 1 and not counts.regions and counts.words <= _SHORT_WORDS:
        # A short text that names one country alone is hardly about another.
        return _national(tuple(counts.countries), 0.5, counts, "no other country is named")
    if common and common[0][1] >= _FEWEST:
        region = common[0][0]
        return Geography(Guess(_level(region), 0.5, "", *counts.first[region]))
    return Geography(None)


def _national(countries: Sequence[str], confidence: float, counts: _Counts, why: str) -> Geography:
    places = tuple(
        Guess(country, confidence, why, *counts.first.get(country, (-1, -1)))
        for country in dict.fromkeys(countries)
        if country
    )
    return Geography(replace(places[0], value=NATIONAL) if places else None, places)


def _spoken_of(counts: _Counts, *, strict: bool) -> tuple[str, ...]:
    """Return the one to four countries that the text is about, by their share of all mentions."""
    total = counts.countries.total()
    if not total or not counts.words:
        return ()
    region = max(counts.regions.values(), default=0)
    country, most = counts.countries.most_common(1)[0]
    dense = 1000 * most / counts.words
    # What a body of many states writes about one of them speaks of it at every turn.
    if (
        most >= (5 if strict else _FEWEST)
        and most >= 0.6 * total
        and most > region
        and dense >= (2.5 if strict else 0.3)
    ):
        return (country,)
    several = [one for one, count in counts.countries.most_common(_MOST_COUNTRIES) if count >= 0.2 * total]
    shared = sum(counts.countries[one] for one in several)
    if (
        len(several) > 1
        and shared >= 0.85 * total
        and shared >= 10
        and shared > 2 * region
        and 1000 * shared > 3 * counts.words
    ):
        return tuple(several)
    return ()


def _count(text: DocumentText) -> _Counts:
    """Return in how many paragraphs each country and region is named, and where first."""
    countries: Counter[str] = Counter()
    regions: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    # Of a book every so many paragraphs are enough.
    extracted = text.extracted
    step = max(1, round(len(extracted.text) / _MOST_CHARACTERS))
    for block in extracted.blocks[::step]:
        found = find_places(extracted.text[block.start : block.end], load_gazetteer(), text.language, running=True)
        countries.update(found.countries)
        regions.update(found.regions)
        for name in (*found.countries, *found.regions):
            first.setdefault(name, (block.start, block.start + 1))
    return _Counts(countries, regions, first, max(1, len(text.words) // step))


def _level(region: str) -> str:
    return _LEVEL_OF_REGION.get(region, REGIONAL)


@cache
def _subnational() -> TermTable:
    table = tomllib.loads(SUBNATIONAL.read_text(encoding="utf-8"))
    return build_table((country, name) for country, names in table.items() for name in names)
