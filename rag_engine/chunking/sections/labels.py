"""Labels of sections in one form, whatever the language and the abbreviation."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from rag_engine.chunking.sections.rules import ROMAN, lower, section_words

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMBER = re.compile(rf"({ROMAN})\s?([a-z]?)", re.IGNORECASE)
_ARABIC = re.compile(r"(\d+)(.*)", re.DOTALL)
_ORDINAL_SIGN = re.compile(r"(?<=\d)\s?\.?\s?[º°ª]")
_TURKISH_CASE = r"(?:['’]?\s?(?:inci|ıncı|uncu|üncü|nci|ncı|ncu|ncü))?"
_NUMBER_FIRST = re.compile(rf"(\d+\w?){_TURKISH_CASE}\.?\s+([^\W\d_]+)")
_SYMBOL = re.compile(r"\d+/[\w./-]+")


def normal_label(label: str) -> str:
    """Return the label as "kind number" in lower case: "section 302" for s. 302, "article 9" for Art. 9 and 9. madde.

    Roman numbers become Arabic ("annex 2"), letters stay with their number ("article 12a"). A label without a known
    noun comes back in lower case; a number alone is a section's.
    """
    plain = " ".join(unicodedata.normalize("NFC", label).replace("\u2011", "-").split())
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
    """Return a number as it sorts: 12a after 12, before 13; (0, itself) for a letter or a word."""
    normal = _number(_ORDINAL_SIGN.sub("", number.lower()).strip(" ."))
    found = _ARABIC.fullmatch(normal)
    return (int(found[1]), found[2]) if found else (0, normal)


def _number(number: str) -> str:
    """Return the number in Arabic digits, its letter or addition joined to it ("12a", "117bis"); a symbol as it is."""
    number = section_words().number_words.get(number, number)
    if number in section_words().ordinals:
        return str(section_words().ordinals[number])
    if _SYMBOL.fullmatch(number):
        return number
    roman = _ROMAN_NUMBER.fullmatch(number)
    if roman and number not in ("c", "l"):
        return f"{_roman(roman[1])}{roman[2]}"
    found = _ARABIC.fullmatch(number)
    if not found:
        return number
    rest = found[2]
    return found[1] + (rest if re.match(r"[.-]\d", rest) else re.sub(r"[\s-]", "", rest))


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral.lower()]
    return sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))


def _kind(noun: str) -> str:
    return section_words().kinds.get(noun.rstrip("."), "")


@cache
def _noun_pattern() -> re.Pattern[str]:
    nouns = sorted(section_words().kinds, key=lambda noun: (-len(noun), noun))
    return re.compile(rf"({'|'.join(map(re.escape, nouns))})(?![^\W\d_])\.?\s*")
