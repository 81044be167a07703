"""References from one section to another: "see Article 9", "madde 19", "decision 2/CP.19".

A reference is found in the text, then resolved to the section it names in the same document. A reference to another act
resolves only if that act is in the document too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.chunking.section.numbers import NUMBER, NUMBER_FIRST
from rag_engine.chunking.section.rules import (
    CAPITAL,
    HYPHEN,
    SUBDIVISION,
    SYMBOL,
    Rules,
    choice,
    lower,
    normal_label,
    number_key,
    rules_of,
    unit_words,
)
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.types.passage import Parent

# A range of more sections than this is a figure, or no range.
_LONGEST_RANGE = 30
_YEARS = range(1800, 2200)

_ABBREVIATION = re.compile(rf"\s+(?![IVXLC]+\b)(?P<act>{CAPITAL}\w{{0,6}}{CAPITAL}\w?)(?!\w)")
_SHORT_FORM = re.compile(rf"(?<![\w./])(?P<number>\d{{1,4}}[A-Z]{{0,2}})\s+(?P<act>{CAPITAL}{{2,}}\w?)(?!\w)")
_CASES = r"['’]?\s?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü)|\."
_TURKISH = re.compile(
    rf"(?<![\w/.-])(?P<numbers>\d{{1,4}}[a-z]?(?:(?:{_CASES})?(?:\s*,\s*|\s+(?:ve|veya|ile|ila)\s+)\d{{1,4}}){{0,20}})"
    rf"(?:{_CASES})\s+[Mm]adde\w*"
)
_TURKISH_ACT = re.compile(
    r"(?P<own>\b[Bb]u\s+)?(?P<act>(?:\d+\s+sayılı\s+)?(?:[A-ZÇĞİÖŞÜ][\w’']*\s+){0,5}[Kk]anun\w*)\s+$"
)
_WORD = re.compile(r"[^\W\d_]{3,}|\d[\d./-]*\d|\d")
_DIGITS = re.compile(r"\d+(?:[a-z](?![a-zçğıöşü]))?")
_REACH = 120


@dataclass(frozen=True, slots=True)
class Reference:
    """Characters [start, end) of a text that name a section.

    `label` is the section in its normal form ("article 9", see `normal_label`). `act` is the other act that it belongs
    to, empty for the text's own. `document` is the symbol of another document ("2/CP.19"), or empty.
    """

    start: int
    end: int
    label: str
    act: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A reference from parent `origin` to parent `target`.

    It is written as `label` at characters [start, end) of the document's text.
    """

    origin: int
    target: int
    start: int
    end: int
    label: str


def find_references(text: str, language: str) -> list[Reference]:
    """Return the references in reading order, one for each named section.

    "Articles 4 and 5" gives two. `language` is an ISO 639-1 code; a language without rules is read with the English
    ones. Headings are found too. Resolved, they are references of a section to itself, and vanish.

    >>> [one.label for one in find_references("see Articles 4 and 5", "en")]
    ['article 4', 'article 5']
    """
    rules = rules_of(language)
    found = [reference for match in _pattern(language).finditer(text) for reference in _read(text, match, rules)]
    found.extend(
        Reference(match.start(), match.end(), normal_label(match.group()), _act_after(text, match.end(), rules))
        for match in rules.annex.finditer(text)
        if match["ordinal"]
    )
    if rules.dashed:
        found.extend(_number_first(text))
    if rules.turned:
        found.extend(
            reference for match in rules.turned.finditer(text) for reference in _read_turned(text, match, rules)
        )
    return sorted(found, key=lambda reference: (reference.start, reference.end))


def named_sections(question: str, language: str) -> list[Reference]:
    """Return the sections that a question names, in order, each place once.

    A question may cite an act in the words of the act's language, so the nouns of all languages are read. The nouns of
    `language`, the question's (ISO 639-1), come first. A number before an abbreviation counts too ("302 IPC").

    >>> [one.label for one in named_sections("What does 302 IPC say?", "en")]
    ['section 302']
    """
    found: dict[tuple[int, str], Reference] = {}
    always = dict.fromkeys((language, *READ_LANGUAGES))
    for code in dict.fromkeys((*always, *_other_languages(question))):
        for reference in find_references(question, code):
            # A word for a level of some language is any word of another: the Norwegian "Del".
            if code not in always and reference.label.partition(" ")[0] not in rules_of(code).units:
                continue
            clear = all(reference.end <= other.start or other.end <= reference.start for other in found.values())
            if clear or any(other.start == reference.start and other.end >= reference.end for other in found.values()):
                found.setdefault((reference.start, reference.label), reference)
    for short in _SHORT_FORM.finditer(question):
        free = all(short.end() <= reference.start or reference.end <= short.start() for reference in found.values())
        if free and not (short["number"].isdecimal() and int(short["number"]) in _YEARS):
            label = normal_label(short["number"])
            found[short.start(), label] = Reference(short.start(), short.end("number"), label)
    return sorted(found.values(), key=lambda reference: reference.start)


def _other_languages(question: str) -> list[str]:
    """Return further languages whose words for a unit of an act are in a question."""
    words = lower(question)
    return [
        code
        for code, nouns in unit_words().items()
        if code not in READ_LANGUAGES and any(noun in words for noun in nouns)
    ]


def resolve(references: Iterable[Reference], parents: Sequence[Parent]) -> list[Edge]:
    """Return an edge for each reference to a section of the parents, in order.

    A reference that names no act means the act it is in. A section in several parents is met at its first. These
    references are left out:

    - one from a section to itself, or a second one from a parent to the same section,
    - one from a title page or table of contents.
    """
    starts = [parent.start for parent in parents]
    targets: dict[tuple[str, str], int] = {}
    for parent in parents:
        if parent.section:
            targets.setdefault((parent.act, normal_label(parent.section)), parent.index)
    acts = tuple(dict.fromkeys(act for act, _ in targets))
    edges: dict[tuple[int, int], Edge] = {}
    for reference in references:
        place = bisect_right(starts, reference.start) - 1
        if place < 0 or reference.start >= parents[place].end or not parents[place].section:
            continue
        origin = parents[place]
        named = [act for act in acts if _is_named(reference.act, act)] if reference.act else [origin.act]
        target = next((targets[act, reference.label] for act in named if (act, reference.label) in targets), None)
        if target is None or (origin.act, origin.section) == (parents[target].act, parents[target].section):
            continue
        written = origin.text[reference.start - origin.start : reference.end - origin.start]
        edge = Edge(origin.index, target, reference.start, reference.end, " ".join(written.split()))
        edges.setdefault((origin.index, target), edge)
    return list(edges.values())


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of a noun, its numbers with subdivisions, and the parts that follow."""
    rules = rules_of(language)
    nouns = choice(form for noun in rules.cited for form in (noun, noun.lower(), noun.capitalize(), noun.upper()))
    joins = "|".join(map(re.escape, (*rules.joins, *rules.to)))
    # As in: Article 2(1), (2) and (3).
    subdivisions = rf"{SUBDIVISION}(?:\s*(?:,|(?:{joins})(?=\s))\s*\(\w{{1,4}}\))*"
    number = rules.number + subdivisions
    follows = rf"(?:{SYMBOL}|{NUMBER}){subdivisions}"
    numbers = rf"{number}(?:(?:\s*,\s*(?:(?:{joins})\s+)?|\s+(?:{joins})\s+|\s?[–—]\s?){follows})*"
    part = "|".join(re.escape(word) for word in sorted(rules.parts, key=len, reverse=True))
    place = r"(?:\d+[a-z]?[º°]?|[IVXLC]+|[a-z]\)?)(?:\(\w{1,3}\))*(?!\w)"
    places = rf"\s*{place}(?:\s*(?:,|(?:{joins})\s)\s*{place})*"
    parts = rf"(?:,?\s*(?:{part})\.?(?:{places})?(?!\w))*"
    return re.compile(
        rf"(?<![\w§/])(?P<noun>{nouns})(?:\s+|(?<=[§.])\s*|{HYPHEN})(?P<numbers>{numbers})(?P<parts>{parts})"
    )


def _read(text: str, match: re.Match[str], rules: Rules) -> Iterator[Reference]:
    """Yield the references of one match: a noun before one number, a list or a range."""
    act = _act_after(text, match.end(), rules) or _act_before(text, match.start(), rules)
    noun = match["noun"]
    start, previous, last = match.start(), 0, ""
    for found in re.compile(rf"(?<!\()({rules.number}){SUBDIVISION}").finditer(text, *match.span("numbers")):
        number = found[1]
        if last:
            start = found.start()
            if text[previous:start].strip(" ,\n") in (*rules.to, "–", "—"):
                yield from _between(start, match.end(), noun, last, number, act)
        finish = match.end() if found.end() >= match.end("numbers") else found.end()
        symbol = number if re.fullmatch(SYMBOL, number) else ""
        yield Reference(start, finish, normal_label(f"{noun} {number}"), act, symbol)
        previous, last = found.end(), number


def _between(start: int, end: int, noun: str, first: str, last: str, act: str) -> Iterator[Reference]:
    """Yield the references inside a range, its ends left out."""
    low, high = number_key(first), number_key(last)
    if not low[1] and not high[1] and high[0] - low[0] <= _LONGEST_RANGE:
        for number in range(low[0] + 1, high[0]):
            yield Reference(start, end, normal_label(f"{noun} {number}"), act)


def _act_after(text: str, end: int, rules: Rules) -> str:
    """Return the act that follows a reference ("of the Charter", "GG"), empty for the text's own."""
    rest = text[end : end + 200]
    further = rules.further.match(rest)
    rest = rest[further.end() :] if further else rest
    if rules.own and rules.own.match(rest):
        return ""
    if rules.elsewhere and (meant := rules.elsewhere.match(rest)):
        return " ".join(meant[0].split())
    if rules.of and (named := rules.of.match(rest)):
        return " ".join(named["act"].split())
    abbreviated = _ABBREVIATION.match(rest)
    return abbreviated["act"] if abbreviated else ""


def _act_before(text: str, start: int, rules: Rules) -> str:
    """Return the act in front of a reference ("法人税法第五条"), empty for the text's own."""
    found = rules.before.search(text[max(0, start - _REACH) : start]) if rules.before else None
    return " ".join(found[0].split()) if found else ""


def _read_turned(text: str, match: re.Match[str], rules: Rules) -> Iterator[Reference]:
    """Yield the references of one match whose noun is behind the numbers: "5 ja 6 §", 第十二条の二."""
    act = _act_after(text, match.end(), rules) or _act_before(text, match.start(), rules)
    noun, last, previous = match["noun"], "", 0
    if "inserted" in match.re.groupindex:
        yield Reference(match.start(), match.end(), normal_label(match.group()), act)
        return
    for found in re.compile(NUMBER_FIRST).finditer(text, *match.span("numbers")):
        number, start = found[0], match.start() if not last else found.start()
        if last and text[previous:start].strip(" .") in (*rules.to, "–", "—", "-"):
            yield from _between(start, match.end(), noun, last, number, act)
        last, previous = number, found.end()
        finish = match.end() if found.end() == match.end("numbers") else found.end()
        yield Reference(start, finish, normal_label(f"{number} {noun}"), act)


def _number_first(text: str) -> Iterator[Reference]:
    """Yield Turkish references: "20 nci madde", "5. madde", "Medeni Kanunun 5 inci maddesi"."""
    for match in _TURKISH.finditer(text):
        act = _TURKISH_ACT.search(text[max(0, match.start() - _REACH) : match.start()])
        name = "" if not act or act["own"] else " ".join(act["act"].split())
        numbers = list(_DIGITS.finditer(text, match.start(), match.end("numbers")))
        for number in numbers:
            end = match.end() if number is numbers[-1] else number.end()
            yield Reference(number.start(), end, normal_label(f"madde {number.group()}"), name)


def _is_named(name: str, act: str) -> bool:
    """Return whether the name means the act: each of its words is in the act's name.

    Endings may differ ("des Grundgesetzes"). The first number is the act's own; later ones belong to acts that it
    amends.
    """
    words, known = ([lower(word) for word in _WORD.findall(one)] for one in (name, act))
    number, own = (next((word for word in those if word[0].isdecimal()), "") for those in (words, known))
    return (
        bool(words)
        and (not number or number == own)
        and all(any(_alike(word, other) for other in known) for word in words)
    )


def _alike(word: str, other: str) -> bool:
    """Return whether two words differ in their endings at most."""
    shorter = min(len(word), len(other))
    return word == other or (shorter > 4 and not word[:1].isdecimal() and word[: shorter - 1] == other[: shorter - 1])
