"""Terms of the keyword index: words, stems and the forms in which numbers are cited."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

import Stemmer

from rag_engine.text.folding import fold
from rag_engine.text.raised import FROM_RAISED, RAISED
from rag_engine.text.stop_words import stopwords

# ISO 639-1 codes of the Snowball stemmers in PyStemmer.
_SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# Snowball splits the forms of many Turkish words (yangın, yangınlar) and leaves German compounds whole. Their first
# letters, added to the stem, hold them together (Can et al. 2008).
_OPENING_LETTERS = {"de": 6, "tr": 5}

# Python's \w leaves out vowel signs, so words of Hindi, Thai or pointed Arabic would fall apart without them.
_MARKS = "".join(chr(c) for c in range(0x300, 0x1E00) if unicodedata.category(chr(c)) in ("Mn", "Mc"))
_LETTERS = rf"\w[\w{_MARKS}]*"

# Scripts written without spaces (Thai to Khmer, kana, Han): their words are found by pairs of characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SCRIPT_RUNS = re.compile(rf"[{_UNSPACED}{_MARKS}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")

# A word as it is cited: § 5, 5(2)(a), 2021/1119, 1/CP.21, 1.5, risk-based, dell'acqua, R&D, 10^6.
_CITED = re.compile(
    rf"(?:(?<!§)§++\s*+(?=\d))?{_LETTERS}(?:(?:[-./'&]|(?<=\d)[,:^](?=\d)){_LETTERS})*(?:\(\w{{1,4}}\))*"
)
# A raised number is a power or the number of an inserted article after a digit, a power after a unit, and else the mark
# of a note.
_RAISED = re.compile(f"[{RAISED}]+")
_BEFORE_POWER = re.compile(r"(?<![^\W_])[µμcdhkmn]?[gms]$|(?<![^\W_])(?:ft|in|yd|mi|ha)$")
_POWER = re.compile(r"(?<=\d)\^\d+")
_PART = re.compile(_LETTERS)
_DIGIT = re.compile(r"\d")
# Raised numbers, or a letter with the signs above or below it, which compatibility form may make one character.
_PREPARED = re.compile(rf"[{RAISED}]+|.[{_MARKS}]*", re.DOTALL)
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_NAME_AND_NUMBER = re.compile(r"([^\W\d_]{3,})(\d+)")
_LOOSE_HYPHEN = re.compile(r"(?<!\d)[-&]|[-&](?!\d)")
_SENTENCE_START = re.compile(r"(?:^|[.?!:;…。？！]\s)[\s\"'«»“”„¿¡(\[]*$")

# One sign for each apostrophe, hyphen and digit; soft hyphens and zero-width characters are not there at all.
_UNIFY = (
    dict.fromkeys(map(ord, "’‘ʼʹ`´＇"), "'")
    | dict.fromkeys(map(ord, "‐‑‒–−"), "-")
    | {ord("_"): " "}
    | dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])
    | {c: str(unicodedata.digit(chr(c))) for c in range(0x80, 0x1E00) if unicodedata.category(chr(c)) == "Nd"}
)
_ENGLISH_ENDINGS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})

_stemming = threading.Lock()


def has_analyser(language: str) -> bool:
    """Return whether words of the language (ISO 639-1) are stemmed.

    Words of other languages are searched as they are written.
    """
    return language in _SNOWBALL


def analyse(text: str, language: str) -> list[str]:
    """Return terms of the text in reading order: stems without accents, stop words left out.

    A number or hyphenated word gives itself and its parts (2021/1119 also 2021 and 1119), so it is found
    however it is asked for. A word in capitals is an acronym and never a stop word (WHO, IT), unless the
    whole text is in capitals. A language without a stemmer gives its words as they are written.

    >>> analyse("The dykes of the Elbe", "en")
    ['dyke', 'elb']
    >>> analyse("Regulation 2021/1119", "en")
    ['regul', '2021', '1119', '2021/1119']
    """
    prepared = _prepare(text)
    if is_shouted(prepared):
        prepared = lower(prepared, language)
    return [term for word in _cited(prepared) for term in _terms(language, word)]


def surface(text: str) -> list[str]:
    """Return the words of the text in reading order, without case, accents and signs.

    The words are the same for every language. A number such as 2021/1119 gives its parts in sequence, so that a phrase
    of them finds it as written. Scripts without spaces give single characters.
    """
    return list(chain.from_iterable(map(_surface_words, _cited(_prepare(text)))))


def acronyms(text: str) -> list[str]:
    """Return the words in capitals, without accents and points: WHO, CO2, US for U.S."""
    return [acronym for word in _cited(_prepare(text)) if not word.islower() for acronym in _acronyms_in(word)]


def shared_terms(query: str) -> list[str]:
    """Return the terms of the query that are written alike in every language.

    They are numbers, acronyms, symbols (CO2), and words with a capital that do not merely begin a sentence.
    """
    prepared = _prepare(query)
    shouted = is_shouted(prepared)
    found: dict[str, None] = {}
    for match in _CITED.finditer(prepared):
        before = prepared[max(0, match.start() - 20) : match.start()]
        first = bool(_SENTENCE_START.search(before))
        for piece in re.split(rf"'|[{_UNSPACED}]+", match.group()):
            named = _acronyms_in(piece) or (len(piece) > 1 and piece[0].isupper() and not first)
            if _DIGIT.search(piece) or (named and not shouted):
                found[piece] = None
    return list(found)


def is_shouted(text: str) -> bool:
    """Return whether a text of several words is all in capitals, which hides its acronyms."""
    return text.isupper() and text.count(" ") >= 3


def lower(word: str, language: str) -> str:
    """Return the word in lower case.

    Turkish keeps its dotless ı apart from i, which its stemmer relies on.
    """
    if language == "tr":
        word = word.replace("I", "ı").replace("İ", "i")
    return word.lower()


def stems_of(word: str, language: str) -> tuple[str, ...]:
    """Return the stems of one cited word and of its parts.

    The opening letters, which `analyse` adds in languages of long words, are left out.
    """
    return _terms(language, word, openings=False)


def has_long_words(language: str) -> bool:
    """Return whether words of the language often continue a shorter word, in compounds or endings."""
    return language in _OPENING_LETTERS


def located_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each cited word of the text with its characters [start, end).

    A script without spaces gives pairs of characters.
    """
    prepared, starts, ends = _located(text)
    for match in _CITED.finditer(prepared):
        at = match.start()
        for run in _SCRIPT_RUNS.findall(match.group()) if _IS_UNSPACED.search(match.group()) else [match.group()]:
            pairs = max(1, len(run) - 1) if _IS_UNSPACED.match(run) else 0
            for first, beyond in [(i, min(i + 2, len(run))) for i in range(pairs)] or [(0, len(run))]:
                yield starts[at + first], ends[at + beyond - 1], run[first:beyond]
            at += len(run)


@lru_cache(maxsize=8)  # terms, surface and acronyms of one child are asked for in a row
def _cited(prepared: str) -> tuple[str, ...]:
    return tuple(_CITED.findall(prepared))


@lru_cache(maxsize=8)
def _prepare(text: str) -> str:
    """Return the text in compatibility form (CO₂ is CO2, 10⁶ is 10^6), without the marks of notes.

    Each apostrophe, hyphen and digit has one sign.
    """
    if text.isascii():
        return text.replace("`", "'").replace("_", " ")
    return unicodedata.normalize("NFKC", _RAISED.sub(_unraised, text)).translate(_UNIFY)


def _unraised(raised: re.Match[str]) -> str:
    """Return how a raised number is indexed: behind a circumflex, or not at all as the mark of a note."""
    before = unicodedata.normalize("NFC", raised.string[max(0, raised.start() - 9) : raised.start()])
    number = raised[0].translate(FROM_RAISED)
    if before[-1:].isdecimal():
        return f"^{number}"
    return number if _BEFORE_POWER.search(before) else ""


def _located(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return the prepared text, and where each of its characters starts and ends in the text."""
    if text.isascii():
        return _prepare(text), range(len(text)), range(1, len(text) + 1)
    prepared, starts, ends = list[str](), list[int](), list[int]()
    for match in _PREPARED.finditer(text):
        piece = _unraised(match) if _RAISED.match(match[0]) else _prepare(match[0])
        prepared.append(piece)
        starts += [match.start()] * len(piece)
        ends += [match.end()] * len(piece)
    return "".join(prepared), starts, ends


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_SNOWBALL[language])


def _stem(word: str, language: str) -> str:
    """Return the folded stem.

    Words with a digit and words of languages without a stemmer are only folded.
    """
    if language not in _SNOWBALL or _DIGIT.search(word):
        return fold(word)
    with _stemming:  # a Snowball stemmer holds one word at a time
        stem = _stemmer(language).stemWord(word)
    return fold(stem)


def _opening(word: str, language: str, stem: str) -> list[str]:
    """Return the first letters of a word in a language of long words, unless they are its stem."""
    length = _OPENING_LETTERS.get(language)
    if length is None or _DIGIT.search(word):
        return []
    opening = fold(word)[:length]
    return [opening] if opening != stem else []


def _pieces(word: str, language: str) -> list[str]:
    """Return the word cut at its apostrophes: l'acqua in two, Ankara'nın and city's without their ending."""
    pieces = word.split("'")
    if language == "tr":
        return pieces[:1]
    if language == "en" and pieces[-1].lower() in _ENGLISH_ENDINGS:
        return pieces[:-1]
    return pieces


def _words(piece: str) -> list[str]:
    """Return the parts between a word's signs.

    5(2) gives 5 and 2, U.S. gives one word, scripts without spaces give each run of characters.
    """
    if piece.isascii() and piece.isalnum():
        return [piece]
    piece = _POWER.sub("", piece)
    if _INITIALS.fullmatch(piece):
        return [piece.replace(".", "")]
    return [run for part in _PART.findall(piece) for run in _SCRIPT_RUNS.findall(part)]


def _whole(piece: str) -> list[str]:
    """Return how a word of several parts is cited: 5(2)(a) also as 5(2), § 5 as §5, 280.000 as 280000."""
    if piece.isalnum() or _INITIALS.fullmatch(piece):
        return []
    if _DIGIT.search(piece):
        piece = re.sub(r"§+\s*", "§", piece).replace(",", ".")
        if _THOUSANDS.fullmatch(piece):
            return [piece.replace(".", "")]
        piece = _LOOSE_HYPHEN.sub("", piece)
        inner = [piece[: match.end()] for match in re.finditer(r"\)", piece)]
        return inner or [piece]
    return [re.sub("[-&]", "", piece)] if re.search("[-&]", piece) and not re.search("[./(]", piece) else []


@lru_cache(maxsize=500_000)  # a collection repeats its words, and stemming is the slow part
def _terms(language: str, word: str, *, openings: bool = True) -> tuple[str, ...]:
    """Return the terms of one cited word.

    `openings` adds the first letters of long words.
    """
    left_out = stopwords(language)
    terms: list[str] = []
    for piece in _pieces(word, language):
        lowered = lower(piece, language)
        is_acronym = bool(_acronyms_in(piece))
        parts: list[str] = []
        for part in _words(lowered):
            if _IS_UNSPACED.match(part):
                parts += [part[i : i + 2] for i in range(max(1, len(part) - 1))]
            elif is_acronym or fold(part) not in left_out:
                parts.append(_stem(part, language))
                if openings:
                    parts += _opening(part, language, parts[-1])
                if named := _NAME_AND_NUMBER.fullmatch(part):
                    parts += [_stem(named[1], language), named[2]]
        if parts:
            terms += parts
            terms += [_stem(whole, language) for whole in _whole(lowered)]
    return tuple(terms)


@lru_cache(maxsize=200_000)
def _surface_words(word: str) -> tuple[str, ...]:
    """Return folded words of one cited word, single characters of a script without spaces."""
    words: list[str] = []
    for piece in word.split("'"):
        for part in _words(piece):
            words += list(part) if _IS_UNSPACED.match(part) else [fold(part)]
    return tuple(words)


@lru_cache(maxsize=200_000)
def _acronyms_in(word: str) -> tuple[str, ...]:
    """Return parts of one cited word that are written in capitals, two characters or more."""
    parts = [part for piece in word.split("'") for part in _words(piece)]
    return tuple(fold(part).upper() for part in parts if len(part) > 1 and part.isupper())
