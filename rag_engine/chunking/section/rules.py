"""Rules of each language for headings and citations of sections, and their labels in one form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rag_engine.text.raised import RAISED, TO_RAISED
from rag_engine.text.tables import read_table

ROMAN = r"(?=[IVXLC])(?:C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})"
_LATIN = r"bis|ter|quater|quinquies|sexies|septies|octies|novies|decies"
# 5, 5º, 12A, 12a, 55-A, 239AA, 117-bis, 21¹, 4.1.2, L. 110-1, II, VIIIa; never the start of a longer word or of 5(2).
NUMBER = (
    rf"(?:[LRDA]\.?\s?)?\d{{1,4}}(?:[.‑-]\d{{1,4}}(?!\d))*(?:\s?\.?[º°ª])?"
    rf"(?:\s?-?(?:{_LATIN})\b(?!\s+\d)|[‑-]?[A-Za-z]{{1,2}}(?!\w)|[{RAISED}]{{1,3}}|\^\d{{1,2}})?(?!\w)"
    rf"|{ROMAN}(?:[a-z]|\s[a-z](?=\.))?(?!\w)"
)
ANNEX_NUMBER = rf"{NUMBER}|[A-Z]{{1,2}}(?!\w)"
# (2)(a) after a number.
SUBDIVISION = r"(?:\s?\(\w{1,4}\))*"
SYMBOL = r"\d{1,3}/[A-Z]{2,4}(?:[./-]\d{1,4})+|\d{1,4}/\d{2,4}"

_SMALL_WORDS = (
    "of|on|for|the|to|de|da|do|das|dos|del|della|delle|dello|dei|degli|di|la|des|der|die|du|sur|für|"
    r"No|no|nº|n\.|nr\.|Nr\.|\([A-Z]+\)"
)
CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_NAME = rf"{CAPITAL}[\w’'.-]*\w(?:\s+(?:(?:{_SMALL_WORDS})\s+){{0,3}}(?:{CAPITAL}[\w’'.-]*\w|\d[\d./-]*\d)){{0,8}}"

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMBER = re.compile(rf"({ROMAN})\s?([a-z]?)", re.IGNORECASE)
_ARABIC = re.compile(r"(\d+)(.*)", re.DOTALL)
_ORDINAL_SIGN = re.compile(r"(?<=\d)\s?\.?\s?[º°ª]")
_TURKISH_CASE = r"(?:['’]?\s?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü))?"
_NUMBER_FIRST = re.compile(rf"(\d+\w?){_TURKISH_CASE}\.?\s+([^\W\d_]+)")
_SYMBOL = re.compile(r"\d+/[\w./-]+")
# The number of an inserted article as it is typed: 21^1.
_TYPED_RAISED = re.compile(r"(?<=\d)\^(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one language; each noun is a key of `kinds`, in lower case and without its stop.

    `unit`, `level`, `annex` and `decision` match a heading's label at the start of a line, with the groups noun and
    number. `number` is the pattern of a number in a reference. `level_ranks` counts from the outermost.
    """

    kinds: dict[str, str]
    unit: re.Pattern[str]
    level: re.Pattern[str]
    annex: re.Pattern[str]
    decision: re.Pattern[str]
    level_ranks: dict[str, int]
    parts: tuple[str, ...]
    cited: tuple[str, ...]
    number: str
    joins: tuple[str, ...]
    to: tuple[str, ...]
    further: re.Pattern[str]
    own: re.Pattern[str] | None
    of: re.Pattern[str] | None
    elsewhere: re.Pattern[str] | None
    preamble_headings: frozenset[str]
    preamble_label: str
    preamble: re.Pattern[str] | None
    recital_label: str
    recitals_begin: re.Pattern[str] | None
    recitals_end: re.Pattern[str] | None
    closing: re.Pattern[str] | None
    notes: frozenset[str]
    asides: frozenset[str]
    inside: re.Pattern[str] | None
    dashed: bool
    tables: re.Pattern[str] | None
    clause_forms: dict[str, str]


@cache
def rules_of(language: str) -> Rules:
    """Return the rules of a language (ISO 639-1), the English ones for a language without a table."""
    tables = read_table("sections")
    code = language.lower()[:2]
    return _rules(tables[code if code in tables else "en"])


@dataclass(frozen=True, slots=True)
class SectionWords:
    """The words of all languages, in lower case.

    They are nouns with their kinds, and ordinals and other words with their numbers. Nouns are without their stop;
    `preambles` are the headings of preambles proper.
    """

    kinds: dict[str, str]
    ordinals: dict[str, int]
    number_words: dict[str, str]
    preambles: frozenset[str]


@cache
def section_words() -> SectionWords:
    """Return the words of all languages; a noun of several has the kind of the first."""
    tables = list(read_table("sections").values())
    return SectionWords(
        kinds={noun: kind for table in reversed(tables) for noun, kind in _kinds(table).items()},
        ordinals={lower(word): number for table in tables for number, word in enumerate(table["ordinals"], 1)},
        number_words={word: number for table in tables for word, number in table["numbers"]},
        preambles=frozenset(lower(table["preambles"][0]) for table in tables),
    )


def lower(word: str) -> str:
    """Return the word in lower case, Turkish capitals as their Latin pairs, without a stop at its end."""
    return word.replace("İ", "i").lower().rstrip(".")


def _rules(table: dict[str, Any]) -> Rules:
    ordinal = choice(form for word in table["ordinals"] for form in _forms(word))
    words = "".join(f"|{re.escape(w)}\\b" for word, _ in table["numbers"] for w in _forms(word))
    plain_words = "".join(rf"|{re.escape(word)}\b" for word, _ in table["numbers"])
    level, annex = _printed(table["levels"]), _printed(table["annexes"])
    recitals = table["recitals"]
    dash = r"(?=\s*[–—-])"
    bare = rf"(?:\s+(?P<number>{NUMBER}{words}))" + (rf"|{dash}" if table.get("dashed") else "")
    # Neither the sign of a section nor a stop needs a space: §5, Art.5.
    spaced = bare.replace(r"\s+(?P<number>", r"(?:\s+|(?<=[§.]))(?P<number>", 1)
    return Rules(
        kinds=_kinds(table),
        unit=re.compile(rf"(?P<noun>{_printed(table['units'])})(?:{spaced})"),
        level=re.compile(
            rf"(?P<ordinal>{ordinal})\s+(?P<noun>{level})(?!\w)|(?P<noun_>{level})\s+(?P<number>{NUMBER}|{ordinal})"
        ),
        annex=re.compile(
            rf"(?:(?:THE|The)\s+)?(?P<ordinal>{ordinal})\s+(?P<noun>{annex})(?!\w)"
            rf"|(?P<noun_>{annex})(?:\s+(?P<number>{ANNEX_NUMBER})|(?=\s*(?:$|[:(–—])))"
        ),
        decision=re.compile(rf"(?P<noun>{_printed(table['decisions'])})\s+(?P<number>{SYMBOL})"),
        level_ranks={row[0]: rank for rank, row in enumerate(table["levels"])},
        parts=tuple(table["parts"]),
        cited=tuple(noun for noun, _ in _nouns(table)),
        number=rf"(?:{SYMBOL}|{ANNEX_NUMBER}{plain_words})",
        joins=tuple(table["joins"]),
        to=tuple(table["to"]),
        further=_further(table),
        own=_after_reference(table.get("own")),
        of=_after_reference(f"{table['of']}(?P<act>{_act_name(table)})" if "of" in table else None),
        elsewhere=_after_reference(table.get("elsewhere")),
        preamble_headings=frozenset(map(lower, table["preambles"])),
        preamble_label=table["preamble"][0],
        preamble=_pattern("|".join(table["preamble"][1:])),
        recital_label=recitals[0] if recitals else "",
        recitals_begin=_pattern(recitals[1] if recitals else ""),
        recitals_end=_pattern(recitals[2] if recitals else ""),
        closing=_pattern("|".join(table["closing"])),
        notes=frozenset(map(lower, table["notes"])),
        asides=frozenset(map(lower, table.get("asides", ()))),
        inside=_pattern(table.get("inside")),
        dashed=bool(table.get("dashed", False)),
        tables=_pattern(table.get("tables")),
        clause_forms=dict(table.get("clause", {})),
    )


def _further(table: dict[str, Any]) -> re.Pattern[str]:
    """Return the pattern of further parts of a section before its act: ", paragraphs 1 and 2" or " und b"."""
    joins = "|".join(map(re.escape, (*table["joins"], *table["to"])))
    part = "|".join(re.escape(word) for word in sorted(table["parts"], key=len, reverse=True))
    place = r"(?:\(\w{1,4}\)|\d{1,3}[a-z]?[º°]?|[a-z]\)?)(?![\w’'])"
    return re.compile(rf"(?:\s*(?:,\s*|(?:{joins})\s+|\s)(?:(?:{part})\.?\s+)?{place}){{0,8}}")


def _act_name(table: dict[str, Any]) -> str:
    nouns = "|".join(map(re.escape, table.get("acts", ())))
    return rf"{_NAME}|(?:{nouns})\b(?:[^,;.:]{{0,50}}?\d[\w./-]*|(?:\s+[\w’'-]+){{0,3}})" if nouns else _NAME


def _after_reference(source: str | None) -> re.Pattern[str] | None:
    return re.compile(rf",?\s+(?:{source})") if source else None


def _nouns(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every noun as it is written, and its kind.

    Units before levels: a section is a unit until another kind of unit is found.
    """
    for key in ("units", "decisions", "annexes", "levels", "cited"):
        for kind, *nouns in table[key]:
            yield from ((noun, kind) for noun in nouns)
    if table["recitals"]:
        yield table["recitals"][0], "recital"


def _kinds(table: dict[str, Any]) -> dict[str, str]:
    """Return the kind of each noun, the first that it has."""
    return {lower(noun): kind for noun, kind in reversed(list(_nouns(table)))}


def _printed(rows: Iterable[list[str]]) -> str:
    """Return a pattern for the nouns as a heading prints them.

    They are as listed or in capitals, the stop optional.
    """
    return choice(form for _kind, *nouns in rows for noun in nouns for form in _forms(noun))


def choice(words: Iterable[str]) -> str:
    """Return a pattern for one of the words, the longest first, their stops optional."""
    distinct = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\.", r"\.?").replace(r"\ ", r"\s+") for word in distinct)


def _forms(word: str) -> tuple[str, str, str]:
    return word, word.upper(), word.replace("i", "İ").replace("ı", "I").upper()


def _pattern(source: str | None) -> re.Pattern[str] | None:
    return re.compile(source) if source else None


@lru_cache(maxsize=50_000)
def normal_label(label: str) -> str:
    """Return the label as "kind number" in lower case: "article 9" for Art. 9 and 9. madde.

    Roman numbers become Arabic ("annex 2"), letters stay with their number ("article 12a"). A label without a known
    noun comes back in lower case; a number alone is a section's.

    >>> normal_label("Art. 9"), normal_label("9. madde")
    ('article 9', 'article 9')
    """
    plain = " ".join(unicodedata.normalize("NFC", label).replace("\u2011", "-").split())
    plain = _TYPED_RAISED.sub(lambda found: found[1].translate(TO_RAISED), plain)
    folded = _ORDINAL_SIGN.sub("", lower(plain)).strip(" .:–—-").removeprefix("the ")
    if folded in section_words().preambles:
        return "preamble"
    if re.fullmatch(r"\d+(?:\.\d+)*\w{0,2}", folded):
        return f"section {_number(folded)}"
    turned = _NUMBER_FIRST.fullmatch(folded)
    if turned and (kind := _kind(turned[2])):
        return f"{kind} {_number(turned[1])}"
    words = folded.split(" ", 1)
    if words[0] in section_words().ordinals and len(words) == 2 and (kind := _kind(words[1])):
        return f"{kind} {section_words().ordinals[words[0]]}"
    found = _noun_pattern().match(folded)
    if not found:
        return folded
    kind, rest = _kind(found[1]), folded[found.end() :].strip(" .")
    return f"{kind} {_number(rest)}".strip() if kind else folded


def number_key(number: str) -> tuple[int, str]:
    """Return a number as it sorts: 12a after 12, before 13; (0, itself) for a letter or a word.

    >>> sorted(["13", "12a", "12"], key=number_key)
    ['12', '12a', '13']
    """
    normal = _number(_ORDINAL_SIGN.sub("", number.lower()).strip(" ."))
    found = _ARABIC.fullmatch(normal)
    return (int(found[1]), found[2]) if found else (0, normal)


def _number(number: str) -> str:
    """Return the number in Arabic digits, its letter or addition joined to it ("12a", "117bis").

    A symbol stays as it is.
    """
    number = section_words().number_words.get(number, number)
    if number in section_words().ordinals:
        return str(section_words().ordinals[number])
    if _SYMBOL.fullmatch(number):
        return number
    roman = _ROMAN_NUMBER.fullmatch(number)
    if roman and number not in ("c", "l"):
        values = [_ROMAN_VALUES[letter] for letter in roman[1].lower()]
        arabic = sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
        return f"{arabic}{roman[2]}"
    found = _ARABIC.fullmatch(number)
    if not found:
        return number
    rest = found[2]
    return found[1] + (rest if re.match(r"[.\s-]\d", rest) else re.sub(r"[\s-]", "", rest))


def _kind(noun: str) -> str:
    return section_words().kinds.get(noun.rstrip("."), "")


@cache
def _noun_pattern() -> re.Pattern[str]:
    nouns = sorted(section_words().kinds, key=lambda noun: (-len(noun), noun))
    return re.compile(rf"({'|'.join(map(re.escape, nouns))})(?![^\W\d_])\.?\s*")
