"""Encoding of a text that is not in UTF-8, guessed among those of office programs.

An encoding fits if the language of the text that it gives writes the letters that it gives. Letters of other
scripts fit by how common they are. A few words are enough, where statistics of bytes need some hundred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_engine.backends.identify_language import identify_language
from rag_engine.text.folding import fold

# Letters of each language beyond a to z. English has those of names and borrowed words.
_LETTERS = {
    "ca": "àçèéíïòóúü", "cs": "áčďéěíňóřšťúůýž", "da": "æøåé", "de": "äöüßé", "en": "éèêëàâäçïñóôöøüå",
    "es": "áéíñóúü", "et": "äöõüšž", "fi": "äöåšž", "fr": "àâæçéèêëîïôœùûüÿ", "hr": "čćđšž", "hu": "áéíóöőúüű",
    "it": "àèéìíòóùú", "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "nl": "éèëïöüóá", "no": "æøåéòô", "pl": "ąćęłńóśźż",
    "pt": "áâãàçéêíóôõúü", "ro": "ăâîșțşţ", "sk": "áäčďéíĺľňóôŕšťúýž", "sl": "čšž", "sv": "åäöé", "tr": "çğıöşüâîûi̇",
}  # fmt: skip
# Letters of scripts that have their places for letters alone: Greek, Cyrillic, Hebrew, Arabic and Thai.
_OTHER_SCRIPTS = re.compile("[\u0370-\u04ff\u0590-\u06ff\u0e00-\u0e7f]")
_COMMON = frozenset("αοιετσνηυρπκςоеаинтсрвлкмдіיוהלאמרתבשנالمينرتبوةعدานรอกเงมยลวดทสต่้ี")
_REGIONS = {
    "west": "ca da de en es fi fr it nl no pt sv",
    "centre": "cs hr hu pl ro sk sl",
    "turkey": "tr",
    "baltic": "et lt lv",
}
# Likely first: equal fits go to the first.
_ENCODINGS = (
    ("cp1252", "west"), ("cp1250", "centre"), ("cp1254", "turkey"), ("cp1257", "baltic"), ("cp1251", ""),
    ("cp1253", ""), ("iso8859-15", "west"), ("iso8859-2", "centre"), ("iso8859-7", ""), ("iso8859-5", ""),
    ("koi8-u", ""), ("mac-roman", "west"), ("mac-latin2", "centre"), ("mac-turkish", "turkey"),
    ("mac-cyrillic", ""), ("cp850", "west"), ("cp852", "centre"), ("cp857", "turkey"), ("cp866", ""), ("cp737", ""),
    ("cp1255", ""), ("cp1256", ""), ("cp874", ""),
)  # fmt: skip
# Those of Mac OS and DOS are rare today.
_LIKELIHOOD = {"mac-": 0.95, "cp737": 0.9, "cp85": 0.9, "cp866": 0.9}
_NAMES = {
    "cp12": "Windows-12",
    "iso8859": "ISO 8859",
    "koi8-u": "KOI8-U",
    "cp874": "Windows-874",
    "mac-": "Mac OS ",
    "cp": "DOS code page ",
}
_QUOTES = frozenset("‘’‚“”„«»‹›–—…·")
# Signs apart from words, and those that may be at the end of one: m², n°, Nº, Acme™.
_SIGNS = frozenset("•§°©®™€£±²³¹½¼¾×÷µ†‡‰¿¡ªº\xa0")
_ENDS = frozenset("²³¹°®™†‡\xa0")
_BEGINS = frozenset("¿¡µ\xa0")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
_WORD = re.compile(r"[^\W\d_]+")
_HIGH = re.compile(r"[^\x09-\x7e]")
_HIGH_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
_BEGINNING, _SAMPLE = 20_000, 100_000
# A text in the encoding of its language is near to 1, and near to 0.8 in other scripts; other bytes are below 0.5.
_LEAST_FIT = 0.55


@dataclass(frozen=True, slots=True)
class _Guess:
    encoding: str
    fit: float


def guess_encoding(raw: bytes) -> str:
    """Return the encoding of a text, as Python names it; "" for bytes that are no text in any.

    >>> guess_encoding("Gmina;Budżet;Rok".encode("cp1250"))
    'cp1250'
    """
    sample = raw[:_BEGINNING]
    for line in _HIGH_LINE.finditer(raw, _BEGINNING):
        sample += b"\n" + line[0]
        if len(sample) > _SAMPLE:
            break
    best = max(_guesses(sample[:_SAMPLE]), key=lambda guess: guess.fit)
    return best.encoding if best.fit >= _LEAST_FIT else ""


def is_damaged_utf8(raw: bytes) -> bool:
    """Return whether bytes are UTF-8 with some damage: more of their letters are whole than not."""
    text = raw.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    return 0 < 2 * damaged < len(text) - len(text.encode("ascii", "ignore"))


def encoding_name(encoding: str) -> str:
    """Return the name of an encoding as people know it.

    >>> encoding_name("cp1250"), encoding_name("mac-roman"), encoding_name("cp850")
    ('Windows-1250', 'Mac OS Roman', 'DOS code page 850')
    """
    start = next(start for start in _NAMES if encoding.startswith(start))
    rest = encoding.removeprefix(start)
    return _NAMES[start] + (rest.title() if start == "mac-" else rest)


def _guesses(sample: bytes) -> Iterator[_Guess]:
    plain = identify_language(re.sub(rb"[\x80-\xff]", b" ", sample).decode("ascii"))
    for encoding, region in _ENCODINGS:
        text = sample.decode(encoding, "replace")
        likely = _LETTERS.get(plain, ""), _LETTERS.get(identify_language(text), "") if region else ""
        known = frozenset("".join(_LETTERS[language] for language in _REGIONS.get(region, "").split()))
        fits = [_fit(text, found.start(), likely, known) for found in _HIGH.finditer(text)]
        likelihood = next((one for start, one in _LIKELIHOOD.items() if encoding.startswith(start)), 1.0)
        yield _Guess(encoding, likelihood * _case_fit(text) * sum(fits) / len(fits) if fits else 0.0)


def _case_fit(text: str) -> float:
    """Return from 0.5 to 1 how usual the capitals are in words with letters beyond ASCII."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    cased = (word for word in words if len(word) > 1 and word.lower() != word.upper())
    odd = sum(not (word[1:].islower() or word.isupper()) for word in cased)
    return 1 - odd / len(words) / 2 if words else 1.0


def _fit(text: str, at: int, likely: tuple[str, str], known: frozenset[str]) -> float:
    """Return from 0 to 1 how well a character beyond ASCII fits between its neighbours.

    `likely` has the letters of the language of the words without such characters, and of the whole text; `known` those
    of all languages of the encoding.
    """
    character, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if _UNSEEN.match(character):
        return 0.0
    small = character.lower()
    if _OTHER_SCRIPTS.match(character):
        return _script_fit(small, before, after)
    if not character.isalpha() or character in "ªºµ":
        return _sign_fit(character, before, after)
    if (_is_accented(before) and _is_accented(after)) or small not in known:
        return 0.0
    return 0.6 + 0.15 * (small in likely[0]) + 0.25 * (small in likely[1])


def _is_accented(neighbour: str) -> bool:
    return neighbour.isalpha() and not neighbour.isascii()


def _script_fit(letter: str, before: str, after: str) -> float:
    """Return how well a letter of another script fits; no word mixes it with Latin ones."""
    if any(neighbour.isascii() and neighbour.isalpha() for neighbour in (before, after)):
        return 0.0
    return 1.0 if fold(letter) in _COMMON or letter in _COMMON else 0.15


def _sign_fit(sign: str, before: str, after: str) -> float:
    if sign in _QUOTES:
        inside = before.isalpha() and (after.isalpha() or sign in "‚„") and sign not in "’·"
        return 0.3 if inside else 1.0
    if sign not in _SIGNS:
        return 0.0
    apart = not (before.isalpha() and sign not in _ENDS) and not (after.isalpha() and sign not in _BEGINS)
    beside = any(not neighbour.isascii() and neighbour not in _QUOTES for neighbour in (before, after))
    return 1.0 if apart and not beside else 0.3
