"""Rewriting of a follow-up question by rules, so that it stands alone.

"And in Spain?" becomes the question before, asked of Spain. Any other follow-up has the question before put in front.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag_engine.geography import Gazetteer
from rag_engine.planning.ellipsis import MARKS, find_ellipsis
from rag_engine.planning.other_place import asked_of


def stand_alone(previous: Sequence[str], question: str, language: str, gazetteer: Gazetteer) -> str | None:
    """Return a follow-up question so that it stands alone, None where it does so already.

    `previous` are the questions before it, the latest last, each as it was asked. The follow-up leans on the latest
    that stands alone. `language` is that of the question (ISO 639-1).
    """
    ellipsis = find_ellipsis(question, language, gazetteer)
    if ellipsis is None:
        return None
    kept = (unicodedata.normalize("NFC", " ".join(one.split())) for one in reversed(previous))
    before = next((one for one in kept if one and find_ellipsis(one, language, gazetteer) is None), "")
    if not before:
        return None
    # Both places would be searched for if the question before were put in front.
    moved = asked_of(before, ellipsis.place, ellipsis.patterns, gazetteer) if ellipsis.place else ""
    return moved or _in_front(before, question)


def _in_front(before: str, question: str) -> str:
    """Return the question with what it leans on in front: the first and the last sentence of that."""
    parted = re.split(r"(?<=[?!.…])\s+(?=[^\W\d_]|[¿¡])", before.strip())
    sentences = [one for one in parted if one.strip(MARKS)]
    kept = [sentences[0], *sentences[1:][-1:]] if sentences else [before]
    opening = " ".join(kept)
    return f"{opening}{'' if opening[-1] in '?!.…' else '.'} {question.strip()}"
