"""Match between the act and section that a question names and those of a passage."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_engine.chunking.sections.labels import normal_label
from rag_engine.text.analyzer import analyse, surface

SECTION_BONUS, ACT_BONUS = 1.0, 0.5

# A constitution is named by this word alone, whatever follows it in its title.
_CONSTITUTION = re.compile("anayasa(?:sı)?|constitu(?:ción|ição|tion)|costituzione|grundgesetz|verfassung")
# What German writes together and abbreviates apart: Grundgesetz is GG, Strafgesetzbuch StGB.
_COMPOUND = re.compile(r"(?<=[a-zäöüß]{4})s?-?(gesetz|buch|ordnung|verordnung)", re.IGNORECASE)
_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
# Brackets with a number behind them, as in (EU) 2021/1119, belong to the number.
_CALLED = re.compile(r"[(\[]([^()\[\]]*)[)\]](?!\s*(?:n[ro]?[.º°]?\s*)?\d)", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s+[-–—]\s+|[,;]\s*")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{3})+(?:/\d+)?|\d+/\d+")
_NUMBERED = re.compile(r"\S*\d\S*(?:\s+sayılı\b)?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
# A single word in other titles (Guidelines, Regulation) is used without meaning the document.
_LONG_WORD = 12
# Spaces from which on a text in capitals says nothing about abbreviations: THE INDIAN PENAL CODE, but not § 5 ZSKG.
_SHOUTED = 3
# The Code of Criminal Procedure is also cited as the Criminal Procedure Code.
_CODE_OF = re.compile(r"(?:the\s+)?(\w+)\s+of\s+(?:the\s+)?(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of an act: phrases of stems and of words, capitals of its abbreviations, numbers."""

    stems: frozenset[tuple[str, ...]]
    words: frozenset[tuple[str, ...]]
    abbreviations: frozenset[str]
    numbers: frozenset[str]


def provenance_bonus(
    named_sections: Collection[str], named_acts: Collection[str], act: str, section: str, title: str
) -> float:
    """1.0 for a passage of a section that the question names, 0.5 for one of an act that it names, else 0.

    The phi of the structural pipeline, whose caller multiplies it by lambda. `named_sections` come from
    references.named_sections, `named_acts` from `named_acts`; `section` is the parent's label as written there. An
    act is also named by its document's title. Where the question names an act, a section of the same number in another
    act is another section and gains nothing.
    """
    in_named_act = act in named_acts or title in named_acts
    if section and (in_named_act or not named_acts) and normal_label(section) in named_sections:
        return SECTION_BONUS
    return ACT_BONUS if in_named_act else 0.0


def named_acts(question: str, language: str, acts: Iterable[str]) -> frozenset[str]:
    """Those of the acts' names or documents' titles that the question names.

    By the name without the year, by what is in brackets behind it, by its initials (IPC for the Indian Penal
    Code, GG for the Grundgesetz, LGPD for the Lei Geral de Proteção de Dados Pessoais), or by its number (2021/1119,
    13.709). Names are compared by their stems in `language`, the question's, and by how their words begin.
    """
    stems, words = analyse(question, language), surface(question)
    abbreviations = _abbreviations(question)
    numbers = _numbers(question)

    def is_named(names: _Names) -> bool:
        return (
            not abbreviations.isdisjoint(names.abbreviations)
            or not numbers.isdisjoint(names.numbers)
            or any(_holds(stems, phrase, str.__eq__) for phrase in names.stems)
            or any(_holds(words, phrase, str.startswith) for phrase in names.words)
        )

    return frozenset(act for act in acts if act and is_named(_names(act, language)))


def _holds(words: Sequence[str], phrase: Sequence[str], alike: Callable[[str, str], bool]) -> bool:
    windows = (words[start : start + len(phrase)] for start in range(len(words) - len(phrase) + 1))
    return any(all(map(alike, window, phrase)) for window in windows)


@lru_cache(maxsize=10_000)
def _names(act: str, language: str) -> _Names:
    # Neither the number, the date nor "(EU)" inside of it is part of the name, and capitals throughout say nothing.
    plain = " ".join(_BRACKETED.sub(" ", act).split())
    plain = plain.lower() if plain.isupper() and " " in plain else plain
    name = next((part for piece in _NUMBERED.split(plain) if (part := piece.strip(" ,"))), plain)
    called = [name, *(part for bracketed in _CALLED.findall(act) for part in _SEPARATOR.split(bracketed))]
    code = _CODE_OF.fullmatch(name)
    if code:
        called.append(f"{code.group(2)} {code.group(1)}")
    abbreviations = {short for one in called for short in (*_initials(one, language), *_abbreviations(one))}
    telling = [one.lower() for one in called if _is_telling(_words(one, language))]
    telling += [word.lower() for word in _words(name, language)[:1] if _CONSTITUTION.fullmatch(word.lower())]
    return _Names(
        frozenset(filter(None, (tuple(analyse(one, language)) for one in telling))),
        frozenset(filter(None, (tuple(surface(one)) for one in telling))),
        frozenset(abbreviations),
        _numbers(act),
    )


def _is_telling(words: Sequence[str]) -> bool:
    """Whether these words name one document: several, or one long one."""
    return len(words) > 1 or (len(words) == 1 and len(words[0]) >= _LONG_WORD)


def _words(name: str, language: str) -> list[str]:
    return [word for word in _WORD.findall(name) if analyse(word.lower(), language)]


def _initials(name: str, language: str) -> Iterator[str]:
    """Yield the initials of a name's words, of a German compound's parts too, and of such a first word alone."""
    split = _COMPOUND.sub(r" \1", name) if language == "de" else name
    words, first = _words(split, language), _words(split[: len(split) - len(name) + name.find(" ")], language)
    for some in (words, first):
        if len(some) > 1:
            yield "".join(word[0] for word in some).upper()


def _abbreviations(text: str) -> frozenset[str]:
    """Return the capitals of the words that have two or more (StGB gives SGB); none of a text all in capitals."""
    if text.isupper() and text.count(" ") >= _SHOUTED:
        return frozenset()
    capitals = ("".join(filter(str.isupper, word)) for word in _WORD.findall(text))
    return frozenset(found for found in capitals if len(found) > 1)


def _numbers(text: str) -> frozenset[str]:
    """Numbers of acts, without the points of thousands and with and without the year behind: 13709, 2021/1119."""
    found = {number.replace(".", "") for number in _NUMBER.findall(text)}
    pointed = {number.partition("/")[0].replace(".", "") for number in _NUMBER.findall(text) if "." in number}
    return frozenset(found | pointed)
