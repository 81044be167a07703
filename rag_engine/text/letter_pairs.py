"""Words by the letters that usually follow each other in a language (data/letter_pairs.toml)."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from rag_engine.text.folding import fold
from rag_engine.text.tables import read_table

# Letters for each unlikely pair that is forgiven: names, loan words and the joints of compounds have some.
_LETTERS_A_SLIP = 10


@cache
def usual_pairs() -> dict[str, frozenset[str]]:
    """Return the usual pairs of letters by language."""
    table: dict[str, str] = read_table("letter_pairs")
    # "t:ho" is th and to.
    return {
        language: frozenset(entry[0] + second for entry in listed.split() for second in entry[2:])
        for language, listed in table.items()
    }


def is_made_of(word: str, pairs: frozenset[str]) -> bool:
    """Return whether a word is made of the given pairs of letters.

    It has two letters or more, and no capital after its first letter unless it is all in capitals. One other pair is
    forgiven in ten letters.
    """
    folded = fold(word)
    # A capital inside a word, or a digit among small letters, is OCR's; so is a letter alone.
    if len(folded) < 2 or not folded.isalpha() or not (word.isupper() or word[1:].islower()):
        return False
    slips = sum(one + other not in pairs for one, other in pairwise(f"_{folded}_"))
    return slips <= len(folded) // _LETTERS_A_SLIP
