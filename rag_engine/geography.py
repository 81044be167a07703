"""Places: the places of a question, the places of a document, and how well the two fit.

The names are in data/geography.toml. A test compares names of countries with the CLDR, which does not know which names
are also words. Text is read word by word against a table of word sequences, the longest first. This costs microseconds;
one regular expression of ten thousand alternatives would cost milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rag_engine.text.folding import fold, fold_case
from rag_engine.text.tables import read_table
from rag_engine.types.document import Metadata
from rag_engine.types.evidence import GeographicScope

GLOBAL = "Global"
# The factors of a document about the place that is asked for, about its region, and about another place.
SAME_COUNTRY, SAME_REGION, ELSEWHERE = 1.8, 1.5, 0.8

_WORD = re.compile(r"[^\W_]+")
_BRACES = re.compile(r"(.*)\{(.*)\}(.*)")
_PUNCTUATION = re.compile(r"[^\w\s'’-]")
# What Turkish hangs on a name without an apostrophe: plural, -li, then a case, then -ki.
_TURKISH_ENDING = re.compile(
    r"(?:l[ae]r)?(?:l[iuü](?:l[ae]r)?)?"
    r"(?:[dt][ae]n?(?:ki(?:l[ae]r)?)?|n?[iuü]n|[ny]?[iuüae]|n[dt][ae]n?)?$"
)
_APOSTROPHES = ("'", "’")
# In the middle of a text other abbreviations may be anything; a body of the world or of Europe is worth the risk.
_PLAIN_ABBREVIATIONS = frozenset({"EU", "UE", "UN", "ONU", "US", "USA", "UK"})
# Words before a town that is no given name: San José, Saint George.
_NO_SAINT = "".join(f"(?<!{word} )" for word in ("San", "Santa", "Santo", "São", "Saint", "St", "St.", "Fort", "Port"))
_INITIALS = re.compile(r"(?: [A-Z]\.)+ [A-Z]\w")
_LONGEST_GIVEN = 24
_LONGEST_ENDING = len("larlilardankilar")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a place, in a language.

    An expression that only looks like a place has neither countries nor regions.
    """

    words: tuple[str, ...]
    countries: tuple[str, ...]
    regions: tuple[str, ...]
    adjective: bool
    capitalised: bool
    language: str


@dataclass(frozen=True, slots=True)
class Namesake:
    """Another place with a country's name.

    In a text that matches `beside` and not `unless`, the name means a place of the country `of`.
    """

    of: str
    beside: re.Pattern[str]
    unless: re.Pattern[str]


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """The table of places, indexed for reading.

    `forms` maps folded words to the ways they are written. `longest` gives for a first word the number of words of its
    longest form. `regions_of` maps a country or a region to all regions that hold it.
    """

    countries: Mapping[str, str]
    regions: tuple[str, ...]
    regions_of: Mapping[str, frozenset[str]]
    levels: Mapping[str, tuple[str, ...]]
    forms: Mapping[tuple[str, ...], tuple[Form, ...]]
    longest: Mapping[str, int]
    turkish: frozenset[str]
    articles: frozenset[str]
    language_alone_after: frozenset[str]
    language_before_next: frozenset[str]
    language_beside: frozenset[str]
    ordinary: Mapping[str, frozenset[str]]
    before_state: re.Pattern[str]
    before_street: re.Pattern[str]
    called: frozenset[str]
    before_surname: re.Pattern[str]
    after_person: re.Pattern[str]
    namesakes: Mapping[str, Namesake]


@cache
def load_gazetteer() -> Gazetteer:
    """Return the gazetteer of data/geography.toml."""
    table = read_table("geography")
    capitalised = {fold_case(word) for pattern in table["capitalised"] for word in expand(pattern)}
    forms: dict[tuple[str, ...], tuple[Form, ...]] = {}
    longest: dict[str, int] = {}
    turkish: set[str] = set()
    for written, countries, regions, adjective, language in _written_forms(table):
        words = tuple(_WORD.findall(unicodedata.normalize("NFC", written)))
        form = Form(words, countries, regions, adjective, fold_case(written) in capitalised, language)
        for key in _keys(words):
            same = forms.get(key, ())
            if form not in same:
                forms[key] = (*same, form)
            longest[key[0]] = max(longest.get(key[0], 0), len(key))
            if language == "tr" and not written.isupper():
                turkish.add(key[-1])
    context, people = table["language_context"], table["people"]
    return Gazetteer(
        countries={country["code"]: country["name"] for country in table["country"]},
        regions=tuple(region["name"] for region in table["region"]),
        regions_of=_regions_of(table),
        levels={level: tuple(regions) for level, regions in table["levels"].items()},
        forms=forms,
        longest=longest,
        turkish=frozenset(turkish),
        articles=frozenset(table["articles"]),
        language_alone_after=frozenset(map(fold_case, context["alone_after"])),
        language_before_next=frozenset(map(fold_case, context["before_next"])),
        language_beside=frozenset(map(fold_case, context["beside"])),
        ordinary={code: frozenset(map(fold_case, words)) for code, words in table["ordinary"].items()},
        before_state=re.compile(rf"(?: City)?, (?:{'|'.join(map(re.escape, table['states']))})\b"),
        before_street=re.compile(rf" (?:{'|'.join(map(re.escape, table['streets']))})\b"),
        called=frozenset(people["called"]),
        before_surname=re.compile(rf"(?: [A-Z]\.?)? (?:O['’])?{_any_of(people['surnames'], 0).pattern}"),
        after_person=re.compile(
            rf"(?:{_any_of(people['titles'], 0).pattern}\.?|"
            rf"{_NO_SAINT}{_any_of(people['given'], 0).pattern}(?: [A-Z]\.)?) $"
        ),
        namesakes={
            one["name"]: Namesake(one["of"], _any_of(one["with"]), _any_of(one["without"])) for one in table["namesake"]
        },
    )


@lru_cache(maxsize=1024)
def country_in(name: str, language: str) -> str:
    """Return the name of a country in another language; any other name stays."""
    from babel import Locale

    code = next((code for code, english in load_gazetteer().countries.items() if english == name), "")
    return str(Locale.parse(language).territories.get(code, name))


def find_places(text: str, gazetteer: Gazetteer, language: str = "", *, running: bool = False) -> GeographicScope:
    """Return the countries and regions that a text names, in the order of their first mention.

    Questions and documents are read by the same rule. If the `language` of the text (ISO 639-1) is known, an adjective
    of another language is no place. Turkish "belge" is a document, and "Indiana" is not Indian. In `running` text of a
    document only abbreviations that mean one thing count ("AU" may be anything).

    >>> find_places("Floods in Italy and Spain", load_gazetteer()).countries
    ('Italy', 'Spain')
    """
    countries: dict[str, None] = {}
    regions: dict[str, None] = {}
    for form, _, _ in place_mentions(text, gazetteer, language):
        if running and all(map(_is_abbreviation, form.words)) and "".join(form.words) not in _PLAIN_ABBREVIATIONS:
            continue
        countries.update(dict.fromkeys(_country(name, text, gazetteer) for name in form.countries))
        regions.update(dict.fromkeys(form.regions))
    return GeographicScope(tuple(countries), tuple(regions))


def _country(name: str, text: str, gazetteer: Gazetteer) -> str:
    """Return the country that a name means in the text.

    If the text points to a namesake, this is the namesake's country.
    """
    other = gazetteer.namesakes.get(name)
    return other.of if other and other.beside.search(text) and not other.unless.search(text) else name


def canonical_country(name: str, gazetteer: Gazetteer) -> str | None:
    """Return the English name of a country, or None.

    The country is given by its name in one of the languages or by its ISO code.

    >>> canonical_country("Italien", load_gazetteer())
    'Italy'
    """
    if name.strip() in gazetteer.countries:
        return gazetteer.countries[name.strip()]
    key = tuple(_WORD.findall(fold_case(name)))
    for candidate in (key, key[1:] if key[:1] and key[0] in gazetteer.articles else ()):
        found = [form for form in gazetteer.forms.get(candidate, ()) if form.countries and not form.adjective]
        if found:
            return found[0].countries[0]
    return None


def geographic_boost(scope: GeographicScope, metadata: Metadata, gazetteer: Gazetteer) -> float:
    """Return the factor by which a document's fused score is multiplied (Buriasco 2026, section 5.3).

    Same country, same region, global and elsewhere are distinguished. A document whose place is not known, and any
    document when no place is asked for, keep 1. When only the whole world is asked for, a document about one place is
    not elsewhere, so it keeps 1 too.
    """
    if not scope:
        return 1.0
    if not set(scope.countries).isdisjoint(metadata.countries):
        return SAME_COUNTRY
    regions = _document_regions(metadata, gazetteer)
    if not regions and not metadata.countries:
        return 1.0
    asked_regions = set(scope.regions)
    if not asked_regions.isdisjoint(regions):
        return SAME_REGION
    holding_asked = {r for place in (*scope.countries, *scope.regions) for r in gazetteer.regions_of.get(place, ())}
    holding_document = {r for place in (*metadata.countries, *regions) for r in gazetteer.regions_of.get(place, ())}
    if not holding_asked.isdisjoint(regions) or not holding_document.isdisjoint(asked_regions):
        return SAME_REGION
    if GLOBAL in regions:
        return 1.0
    return 1.0 if asked_regions == {GLOBAL} and not scope.countries else ELSEWHERE


def _document_regions(metadata: Metadata, gazetteer: Gazetteer) -> tuple[str, ...]:
    """Return the regions a document is about as a whole; none for a national one."""
    if metadata.geographical_level in gazetteer.levels:
        return gazetteer.levels[metadata.geographical_level]
    if metadata.geographical_level in ("", "National") or metadata.countries:
        return ()
    return _regions_named(f"{metadata.title}\n{metadata.authority}", gazetteer)


@lru_cache(maxsize=4096)
def _regions_named(text: str, gazetteer: Gazetteer) -> tuple[str, ...]:
    return find_places(text, gazetteer).regions


def place_mentions(text: str, gazetteer: Gazetteer, language: str = "") -> Iterator[tuple[Form, int, int]]:
    """Yield the forms that occur in a text with their characters [start, end), from left to right.

    A longer form hides the shorter ones inside it. `language` is the text's, if it is known. Characters count in the
    text's normal form C.
    """
    ordinary = gazetteer.ordinary.get(language, frozenset())
    text = unicodedata.normalize("NFC", text)
    matches = list(_WORD.finditer(text))
    words = [match.group() for match in matches]
    folded = [fold_case(word) for word in words]
    # In a question typed in capitals WHO, US and IT are words.
    abbreviations = len(words) < 4 or any(character.islower() for character in text)
    position = 0
    while position < len(words):
        length = 1
        forms: tuple[Form, ...] = ()
        word = folded[position]
        longest = gazetteer.longest.get(word) or gazetteer.longest.get(_without_turkish_ending(word, gazetteer), 0)
        for size in range(min(longest, len(words) - position), 0, -1):
            written = words[position : position + size]
            key = tuple(folded[position : position + size])
            if key not in gazetteer.forms:
                key = (*key[:-1], _without_turkish_ending(key[-1], gazetteer))
            found = [
                form
                for form in gazetteer.forms.get(key, ())
                if _as_written(form, written, abbreviations)
                and (not form.adjective or not language or form.language == language)
            ]
            # One form for each place; languages share many names.
            forms = tuple({(form.countries, form.regions, form.adjective): form for form in found}.values())
            if forms:
                length = size
                break
        end = matches[position + length - 1].end()
        if (
            (length == 1 and folded[position] in ordinary and text[end : end + 1] not in _APOSTROPHES)
            or gazetteer.before_street.match(text, end)
            or (forms and length == 1 and _is_person(text, matches[position].start(), end, gazetteer))
        ):
            forms = ()
        elif forms and gazetteer.before_state.match(text, end) and not any(form.adjective for form in forms):
            forms = gazetteer.forms["united", "states"][:1]
        if length > 1 or not _names_language(position, matches, text, folded, forms, gazetteer):
            yield from ((form, matches[position].start(), end) for form in forms)
        position += length


def _is_person(text: str, start: int, end: int, gazetteer: Gazetteer) -> bool:
    """Return whether the words around a name make it a person's."""
    if not text[start].isupper():
        return False
    before = text[max(0, start - _LONGEST_GIVEN) : start]
    named = gazetteer.before_surname.match(text, end) or gazetteer.after_person.search(before)
    return bool(named or (text[start:end] in gazetteer.called and _INITIALS.match(text, end)))


def _any_of(words: Sequence[str], flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)", flags)


def _without_turkish_ending(word: str, gazetteer: Gazetteer) -> str:
    """Return the Turkish stem of "italyanlarin" or "almanyada", or the word if the table has no stem."""
    for end in range(len(word) - 1, max(3, len(word) - _LONGEST_ENDING - 1), -1):
        if word[:end] in gazetteer.turkish and _TURKISH_ENDING.match(word, end):
            return word[:end]
    return word


def _as_written(form: Form, written: Sequence[str], abbreviations: bool) -> bool:
    """Return whether capitals are where the form needs them."""
    if form.capitalised and not written[0][0].isupper():
        return False
    return all(
        not _is_abbreviation(word) or (abbreviations and word == found)
        for word, found in zip(form.words, written, strict=True)
    )


def _is_abbreviation(word: str) -> bool:
    return word.isupper() or sum(character.isupper() for character in word) > 1


def _names_language(
    position: int,
    matches: Sequence[re.Match[str]],
    text: str,
    folded: Sequence[str],
    forms: Sequence[Form],
    gazetteer: Gazetteer,
) -> bool:
    """Return whether an adjective means the language: "documents in Italian", "the Italian version"."""
    if not forms or not all(form.adjective for form in forms):
        return False
    before = folded[position - 1] if position else ""
    last = position + 1 == len(folded)
    after = "" if last else folded[position + 1]
    if before in gazetteer.language_beside or after in gazetteer.language_beside:
        return True
    gap = "" if last else text[matches[position].end() : matches[position + 1].start()]
    alone = last or after in gazetteer.language_before_next or _PUNCTUATION.search(gap) is not None
    return alone and before in gazetteer.language_alone_after


def _written_forms(
    table: Mapping[str, Any],
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], bool, str]]:
    """Yield every form of the table with countries, regions, whether it is an adjective, and language."""
    for pattern in table["no_place"]:
        yield from ((written, (), (), False, "") for written in expand(pattern))
    for body in table["body"]:
        yield from ((written, (), (body["region"],), False, "") for form in body["forms"] for written in expand(form))
    for kind in ("region", "country"):
        for place in table[kind]:
            names = (place["name"],)
            countries, regions = ((), names) if kind == "region" else (names, ())
            for part in ("names", "adjectives"):
                for language, patterns in place.get(part, {}).items():
                    for written in (form for pattern in patterns for form in expand(pattern)):
                        yield written, countries, regions, part == "adjectives", language


def _regions_of(table: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return for each country and region the regions that hold all of it."""
    members = {region["name"]: frozenset(region.get("members", ())) for region in table["region"]}
    held = {country["name"]: frozenset([country["code"]]) for country in table["country"]}
    held |= {name: codes for name, codes in members.items() if codes}
    return {
        place: frozenset(name for name, codes in members.items() if name != place and inside <= codes)
        for place, inside in held.items()
    }


def expand(pattern: str) -> list[str]:
    """Return the forms of a pattern with one pair of braces: "Italian{,s}" for "Italian" and "Italians"."""
    match = _BRACES.fullmatch(pattern)
    if match is None:
        return [pattern]
    return [f"{match[1]}{ending}{match[3]}" for ending in match[2].split(",")]


def _keys(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the folded words, and the same without accents.

    Short words keep their accents, which tell them apart ("ira", "oma").
    """
    key = tuple(fold_case(word) for word in words)
    yield key
    plain = tuple(fold(word) if len(word) >= 5 else word for word in key)
    if plain != key:
        yield plain
