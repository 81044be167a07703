"""The sentence for "no answer found" that a model adds to an answer it has given."""

from __future__ import annotations

import re

from rag_engine.answering.replies.marks import CHECKED_MARK
from rag_engine.prompts import INSUFFICIENT

_REFUSAL = re.compile("|".join(re.escape(sentence.rstrip(".")) for sentence in INSUFFICIENT.values()), re.IGNORECASE)
_AROUND = " \t\n*_-–—"

ANSWERED_AND_REFUSED = (
    "The model answered and then wrote that the documents hold no answer: check whether the cited passages do."
)


def without_closing_refusal(text: str) -> str:
    """Return a checked answer without a refusal below statements that name their sources; else the text as it is.

    A model that begins with the refusal has not answered, whatever it says of its sources then.
    """
    found = _REFUSAL.search(text)
    before = text[: found.start()].rstrip(_AROUND) if found else ""
    return before if CHECKED_MARK.search(before) else text
