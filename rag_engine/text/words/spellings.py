"""Accented spellings of a word that is typed without accents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product

from rag_engine.text.folding import fold

# The letters with accents by the plain one, in languages whose endings have them: evacuação, sécurité, yangınlar.
_ACCENTED = {
    "ca": {"a": "à", "e": "éè", "i": "íï", "o": "óò", "u": "úü", "c": "ç"},
    "de": {"a": "ä", "o": "ö", "u": "ü"},
    "es": {"a": "á", "e": "é", "i": "í", "o": "ó", "u": "úü", "n": "ñ"},
    "fr": {"a": "âà", "e": "éèê", "i": "îï", "o": "ô", "u": "ûù", "c": "ç"},
    "it": {"a": "à", "e": "éè", "i": "ì", "o": "ò", "u": "ù"},
    "pt": {"a": "ãáâ", "e": "éê", "i": "í", "o": "õóô", "u": "ú", "c": "ç"},
    "ro": {"a": "ăâ", "i": "î", "s": "ș", "t": "ț"},
    "tr": {"c": "ç", "g": "ğ", "i": "ı", "o": "ö", "s": "ş", "u": "ü"},
}  # fmt: skip
# A stem is cut at the last letters, and no ending has more than two accents in them.
_ENDING, _MOST = 6, 2


@lru_cache(maxsize=1000)
def spellings(word: str, language: str) -> tuple[str, ...]:
    """Return a word as it is typed and, if it has no accent, in its accented spellings.

    >>> "evacuação" in spellings("evacuacao", "pt")
    True
    """
    plain, letters = fold(word), _ACCENTED.get(language, {})
    if not plain.isalpha() or plain != word.lower().replace("ı", "i"):
        # Without its accents too, as a text in capitals is written.
        return tuple(dict.fromkeys((word, plain)))
    return (word, *_accented(plain, letters))


def _accented(word: str, letters: dict[str, str]) -> Iterator[str]:
    places = [at for at in range(max(0, len(word) - _ENDING), len(word)) if word[at] in letters]
    for count in range(1, _MOST + 1):
        for chosen in combinations(places, count):
            for accents in product(*(letters[word[at]] for at in chosen)):
                spelled = list(word)
                for at, accent in zip(chosen, accents, strict=True):
                    spelled[at] = accent
                yield "".join(spelled)
