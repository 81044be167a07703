"""Rules of each language for headings and citations of sections, and their labels in one form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from rag_engine.chunking.section.numbers import INSERTED, NUMBER, NUMBER_FIRST, in_digits, roman_value
from rag_engine.text.raised import TO_RAISED
from rag_engine.text.tables import read_table

ANNEX_NUMBER = rf"{NUMBER}|[A-Z]{{1,2}}(?!\w)"
# "EK-1", "Annexure - II".
HYPHEN = rf"\s?[-–]\s?(?={NUMBER})|-(?=[A-Z](?!\w))"
# (2)(a) after a number.
SUBDIVISION = r"(?:\s?\(\w{1,4}\))*"
SYMBOL = r"\d{1,3}/[A-Z]{2,4}(?:[./-]\d{1,4})+|\d{1,4}/\d{2,4}"

_SMALL_WORDS = (
    "of|on|for|the|to|de|da|do|das|dos|del|della|delle|dello|dei|degli|di|la|des|der|die|du|sur|für|"
    r"No|no|nº|n\.|nr\.|Nr\.|\([A-Z]+\)"
)
CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_NAME = rf"{CAPITAL}[\w’'.-]*\w(?:\s+(?:(?:{_SMALL_WORDS})\s+){{0,3}}(?:{CAPITAL}[\w’'.-]*\w|\d[\d./-]*\d)){{0,8}}"

_ARABIC = re.compile(r"(\d+)(.*)", re.DOTALL)
# Also the Greek ending: 1ο.
_ORDINAL_SIGN = re.compile(r"(?<=\d)(?:\s?\.?\s?[º°ª]|ον?(?!\w))")
_TURKISH_CASE = r"(?:['’]?\s?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü))?"
_NUMBER_FIRST = re.compile(
    rf"[第제]?\s?({NUMBER_FIRST}){_TURKISH_CASE}\s?\.?\s?([^\W\d_之の의]+|§)\.?({INSERTED})?", re.IGNORECASE
)
_BRACKETED = re.compile(r"\((\w+)\)")
_SYMBOL = re.compile(r"\d+/[\w./-]+")
# The number of an inserted article as it is typed: 21^1.
_TYPED_RAISED = re.compile(r"(?<=\d)\^(\d{1,2})")


# A language that has only a few kinds of words.
_EMPTY: Mapping[str, Any] = {
    key: []
    for key in (
        "units", "levels", "annexes", "decisions", "cited", "parts", "ordinals", "numbers", "joins", "to", "preambles",
        "preamble", "recitals", "closing", "notes",
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one language; each noun is a key of `kinds`, in lower case and without its stop.

    `units` are the kinds of its units.
    `unit`, `level`, `annex` and `decision` match a heading's label at the start of a line, with the groups noun and
    number, or turned and before for a noun behind its number. `number` is the pattern of a number in a reference.
    `turned` matches references whose noun is behind, `before` an act in front of a reference. `level_ranks` counts from
    the outermost. `within` are the kinds of units that are parts of others.
    """

    kinds: dict[str, str]
    units: frozenset[str]
    unit: re.Pattern[str]
    level: re.Pattern[str]
    annex: re.Pattern[str]
    decision: re.Pattern[str]
    level_ranks: dict[str, int]
    parts: tuple[str, ...]
    cited: tuple[str, ...]
    number: str
    turned: re.Pattern[str] | None
    before: re.Pattern[str] | None
    within: frozenset[str]
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
    tables = _tables()
    code = language.lower()[:2]
    return _rules(tables[code if code in tables else "en"])


@cache
def unit_words() -> dict[str, frozenset[str]]:
    """Return the nouns of units of each language, in lower case; "§" only behind its number."""
    found = {}
    for code, table in _tables().items():
        kinds = {row[0] for row in table["units"]}
        nouns = [noun for kind, *nouns in (*table["units"], *table["cited"]) if kind in kinds for noun in nouns]
        found[code] = frozenset(lower(_behind(noun) or noun) for noun in nouns if noun != "§")
    return found


@cache
def _tables() -> Mapping[str, dict[str, Any]]:
    """Return the tables of all languages with every key; some languages share one."""
    tables = read_table("sections")
    return {code: {**_EMPTY, **tables[table.get("same", code)]} for code, table in tables.items()}


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
    tables = list(_tables().values())
    return SectionWords(
        kinds={noun: kind for table in reversed(tables) for noun, kind in _kinds(table).items()},
        ordinals={lower(word): number for table in tables for number, word in enumerate(table["ordinals"], 1)},
        number_words={word: number for table in tables for word, number in table["numbers"]},
        preambles=frozenset(lower(table["preambles"][0]) for table in tables if table["preambles"]),
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
    lettered = r"\d{1,4}\s[a-hj-z](?!\w)|" if table.get("lettered") else ""
    bracketed = r"\(\d{1,4}\)|" if table.get("bracketed") else ""
    bare = rf"(?:\s+(?P<number>{lettered}{bracketed}{NUMBER}{words}))" + (rf"|{dash}" if table.get("dashed") else "")
    # Neither the sign of a section nor a stop needs a space: §5, Art.5.
    spaced = bare.replace(r"\s+(?P<number>", r"(?:\s+|(?<=[§.]))(?P<number>", 1)
    return Rules(
        kinds=_kinds(table),
        units=frozenset(row[0] for row in table["units"]),
        unit=re.compile(rf"(?P<noun>{_printed(table['units'])})(?:{spaced})|{_turned(table['units'])}"),
        level=re.compile(
            rf"(?P<ordinal>{ordinal})\s+(?P<noun>{level})(?!\w)|(?P<noun_>{level})\s+(?P<number>{NUMBER}|{ordinal})"
            rf"|{_turned(table['levels'])}"
        ),
        annex=re.compile(
            rf"(?:(?:THE|The)\s+)?(?P<ordinal>{ordinal})\s+(?P<noun>{annex})(?!\w)"
            rf"|(?P<noun_>{annex})(?:(?:\s+|{HYPHEN})(?P<number>{ANNEX_NUMBER})|(?=\s*(?:$|[:(–—])))|{_turned(table['annexes'])}"
        ),
        decision=re.compile(rf"(?P<noun>{_printed(table['decisions'])})\s+(?P<number>{SYMBOL})"),
        level_ranks={row[0]: rank for rank, row in enumerate(table["levels"])},
        parts=tuple(table["parts"]),
        cited=tuple(noun for noun, _ in _nouns(table) if "{}" not in noun),
        number=rf"(?:{SYMBOL}|{lettered}{bracketed}{ANNEX_NUMBER}{plain_words})",
        turned=_turned_references(table),
        before=re.compile(rf"(?:{table['before']})\s*$") if "before" in table else None,
        within=frozenset(table.get("within", ())),
        joins=tuple(table["joins"]),
        to=tuple(table["to"]),
        further=_further(table),
        own=_after_reference(table.get("own")),
        of=_after_reference(f"{table['of']}(?P<act>{_act_name(table)})" if "of" in table else None),
        elsewhere=_after_reference(table.get("elsewhere")),
        preamble_headings=frozenset(map(lower, table["preambles"])),
        preamble_label=next(iter(table["preamble"]), ""),
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


def _behind(noun: str) -> str:
    """Return the noun of a form such as "{}. člen"; empty for a noun that stands before its number."""
    return noun.partition("{}")[2].lstrip(". ")


def _turned(rows: Iterable[list[str]]) -> str:
    """Return a pattern for a number with the noun behind it, as a heading prints them: 1 §, 5. člen, 第一条."""
    forms = [noun for _kind, *nouns in rows for noun in nouns if "{}" in noun]
    first = "|".join({re.escape(noun.partition("{}")[0]) for noun in forms})
    nouns = choice(form for noun in forms for form in _forms(_behind(noun)))
    return rf"(?:{first})\s?(?P<before>{NUMBER_FIRST})\s?\.?\s?(?P<turned>{nouns})(?:{INSERTED})?(?!\w)"


def _turned_references(table: dict[str, Any]) -> re.Pattern[str] | None:
    """Return the pattern of one number or several with the noun behind them, in a sentence."""
    forms = [noun for noun, _ in _nouns(table) if "{}" in noun]
    if not forms:
        return None
    nouns = choice(form for noun in forms for form in (_behind(noun), _behind(noun).lower(), _behind(noun).upper()))
    joins = "|".join(map(re.escape, (*table["joins"], *table["to"])))
    if first := "".join({noun[0] for noun in forms if not noun.startswith("{}")}):
        return re.compile(rf"[{first}]\s?(?P<numbers>{NUMBER_FIRST})\s?(?P<noun>{nouns})(?P<inserted>{INSERTED})?")
    numbers = rf"{NUMBER_FIRST}(?:(?:\.?\s*,\s*|\.?\s+(?:{joins})\s+|\s?[–—-]\s?){NUMBER_FIRST})*"
    return re.compile(rf"(?<![\w/.-])(?P<numbers>{numbers})\s?\.?\s?(?P<noun>{nouns})(?:[:'’-]\w{{1,6}})?(?!\w)")


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
    return {lower(_behind(noun) or noun): kind for noun, kind in reversed(list(_nouns(table)))}


def _printed(rows: Iterable[list[str]]) -> str:
    """Return a pattern for the nouns as a heading prints them.

    They are as listed or in capitals, the stop optional.
    """
    return choice(form for _kind, *nouns in rows for noun in nouns if "{}" not in noun for form in _forms(noun))


def choice(words: Iterable[str]) -> str:
    """Return a pattern for one of the words, the longest first, their stops optional; never true of none."""
    distinct = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\.", r"\.?").replace(r"\ ", r"\s+") for word in distinct) or "(?!)"


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
        return f"{kind} {_number(turned[1])}" + (f"-{in_digits(turned[3][1:])}" if turned[3] else "")
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
    number = bracketed[1] if (bracketed := _BRACKETED.fullmatch(number)) else number
    if number in section_words().ordinals:
        return str(section_words().ordinals[number])
    if _SYMBOL.fullmatch(number):
        return number
    if roman := roman_value(number):
        return roman
    number = in_digits(number)
    found = _ARABIC.fullmatch(number)
    if not found:
        return number
    rest = found[2]
    return found[1] + (rest if re.match(r"[.\s-]\d", rest) else re.sub(r"[\s./-]", "", rest))


def _kind(noun: str) -> str:
    return section_words().kinds.get(noun.rstrip("."), "")


@cache
def _noun_pattern() -> re.Pattern[str]:
    nouns = sorted(section_words().kinds, key=lambda noun: (-len(noun), noun))
    return re.compile(rf"({'|'.join(map(re.escape, nouns))})(?![^\W\d_])\.?\s*")
