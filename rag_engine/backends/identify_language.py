"""Language of a text, by lingua's trigrams and, for short texts, by function words.

Lingua's full models tell short texts apart well but take 650 MB and 7 s to load. Its trigram models take 40 MB and 0.4
s, and err on one short question in twenty-five. Half of a question is function words. With them the small models err
less often than the large ones alone: 0.5% against 1.6% of 3,483 benchmark questions in six languages.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rag_engine.text.folding import fold
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table

if TYPE_CHECKING:
    from lingua import LanguageDetector

# fmt: off
_LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "hr", "hu", "id", "it", "ja", "lt",
    "lv", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "tr", "uk", "vi", "zh",
)
# fmt: on
# A text of this many characters is recognised by its trigrams alone.
_SHORT = 300
_SAMPLES, _SAMPLE = 6, 600
# Signs that are enough to tell a language by, and few enough to be in one.
_PIECE = 300
_WORD_WEIGHT = 3.0
# Logarithm of the odds for the languages analysts ask in, which decide where a name is all there is to go by.
_USUAL = frozenset({"de", "en", "es", "fr", "it", "pt", "tr"})
_USUAL_WEIGHT = 2.0
_LIKELY_WEIGHT = 3.0
_RAREST = -1.5
# A text of so few words, none of them a function word, may be hardly more than a citation.
_CITATION = 6
# No other language of the list opens a question or an exclamation with a special sign.
_SPANISH_SIGNS = re.compile("[¿¡]")
_SPANISH_WEIGHT = 4.0
# The trigrams know Serbian in Cyrillic letters alone. In Latin ones these words tell it from Croatian.
_SERBIAN = re.compile(
    r"\b(?:(?:opštin|mest|uslov|bezbedn|sednic|rek[aeiou]|cel[aeiou]|predlog|hiljad|nedelj)\w*|gde|ovde|vreme|šta|ko)\b",
    re.IGNORECASE,
)
_CROATIAN = re.compile(
    r"\b(?:(?:općin|mjest|uvjet|sigurn|sjednic|rijek|cijel|prijedlog|tisuć|tjedn)\w*|gdje|ovdje|vrijeme|što|tko)\b",
    re.IGNORECASE,
)
_LEAST = 1e-6
# Characters of a paragraph whose language can be told by itself, how many are read, and the share of a language.
_TELLING, _PARAGRAPHS, _LEAST_PART = 60, 80, 0.15
# Two threads that need the models at once would load them twice.
_LOADING = threading.Lock()
_ABBREVIATION = 5
_WORD = re.compile(r"[^\W\d_]+")
# An abbreviation has two capitals.
_CITED = re.compile(r"(?<!\w)(?=\w*[A-ZÄÖÜÇĞİŞ]\w*[A-ZÄÖÜÇĞİŞ])\w{2,8}(?!\w)")


@dataclass(frozen=True, slots=True)
class _Identifier:
    detector: LanguageDetector
    words: Mapping[str, frozenset[str]]
    weights: Mapping[str, float]


def identify_language(text: str, likely: Mapping[str, float] | None = None) -> str:
    """Return the ISO 639-1 code of the language of a text, or "" if it is unknown.

    `likely` has the languages of the collection that is asked, each with its share. A short question is more likely in
    one of them, and in the most common one without another sign.

    Of a long text six samples spread over it are read; of two languages in one text the one that fills more of it wins.
    Norwegian is "no".
    """
    sample = _sample(text)
    words = _WORD.findall(sample)
    # An abbreviation is the same in every language.
    if all(word.isupper() and len(word) <= _ABBREVIATION for word in words) and len(words) < 3:
        return ""
    with _LOADING:
        identifier = _identifier()
    if len(words) <= _CITATION and not any(fold(word) in identifier.weights for word in words):
        # The letters of abbreviations look like the letters of some language.
        plain = _CITED.sub(" ", sample)
        sample = plain if len(_WORD.findall(plain)) > 1 else sample
    trigrams = _by_trigrams(sample, identifier)
    if not any(trigrams.values()):
        return ""
    scores = {language: math.log(max(value, _LEAST)) for language, value in trigrams.items()}
    if len(sample) < _SHORT:
        folded = [fold(word) for word in words]
        for language in scores:
            listed = identifier.words.get(language, frozenset())
            scores[language] += _WORD_WEIGHT * sum(identifier.weights[word] for word in folded if word in listed)
            scores[language] += _USUAL_WEIGHT if language in _USUAL else 0.0
            if likely and language in likely:
                # A little less the fewer documents the collection has in it.
                scores[language] += _LIKELY_WEIGHT + max(_RAREST, math.log(likely[language] / max(likely.values())))
        scores["es"] += _SPANISH_WEIGHT if _SPANISH_SIGNS.search(sample) else 0.0
    best = max(scores, key=lambda language: scores[language])
    if best == "hr" and len(_SERBIAN.findall(sample)) > len(_CROATIAN.findall(sample)):
        return "sr"
    return "no" if best == "nb" else best


def other_languages(paragraphs: Sequence[str], language: str) -> tuple[str, ...]:
    """Return the other languages in which a good part of a document is written, the fullest first.

    Paragraphs from all over it are identified one by one, those that are long enough to tell.
    """
    long = [one for one in paragraphs if len(one) >= _TELLING]
    read = long[:: len(long) // _PARAGRAPHS + 1]
    shares: Counter[str] = Counter()
    for paragraph in read:
        shares[identify_language(paragraph[:_SAMPLE])] += len(paragraph)
    least = _LEAST_PART * shares.total()
    return tuple(code for code, share in shares.most_common() if code not in ("", language) and share >= least)


def _by_trigrams(sample: str, identifier: _Identifier) -> dict[str, float]:
    """Return for each language the share of the sample that is likely to be in it.

    Read as one, a text in two languages goes to whichever has the rarer trigrams.
    """
    count = min(_SAMPLES, max(1, len(sample) // _PIECE))
    size = -(-len(sample) // count) or 1
    shares: defaultdict[str, float] = defaultdict(float)
    for start in range(0, len(sample), size):
        piece = sample[start : start + size]
        for confidence in identifier.detector.compute_language_confidence_values(piece):
            code = confidence.language.iso_code_639_1.name.lower()
            shares[code] += confidence.value * len(piece) / len(sample)
    return dict(shares)


@cache
def _identifier() -> _Identifier:
    from lingua import IsoCode639_1, Language, LanguageDetectorBuilder

    languages = [Language.from_iso_code_639_1(getattr(IsoCode639_1, code.upper())) for code in _LANGUAGES]
    table = read_table("function_words")
    more = {code: frozenset(map(fold, listed.split())) for code, listed in table.items()}
    words = {code: listed for code in _LANGUAGES if (listed := stopwords(code) or more.get(code, frozenset()))}
    shared_by = Counter(word for listed in words.values() for word in listed)
    return _Identifier(
        detector=LanguageDetectorBuilder.from_languages(*languages).with_low_accuracy_mode().build(),
        words=words,
        weights={word: math.log(len(words) / count) for word, count in shared_by.items()},
    )


def _sample(text: str) -> str:
    """Return the whole of a short text, samples from all over a long one."""
    if len(text) <= _SAMPLES * _SAMPLE:
        return text
    step = (len(text) - _SAMPLE) / (_SAMPLES - 1)
    return " ".join(text[round(i * step) : round(i * step) + _SAMPLE] for i in range(_SAMPLES))
