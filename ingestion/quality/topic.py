"""Topic gate: documents within a scope, told by their words, else by the encoder, else by a model."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ingestion.prompts import SCOPE_RULES, SCOPE_SCHEMA, scope_message
from ingestion.protocols import LanguageModel
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.messages import Message, join_messages
from rag_engine.protocols import Vectors
from rag_engine.text.folding import fold, fold_title
from rag_engine.text.stop_words import stopwords

# Words of the scope in a thousand of the text: so many are enough by themselves, so few speak for nothing.
_MANY, _FEW = 4.0, 1.5
# By how many deviations of the other subjects' cosines the scope's must be near the best of them, or far below it.
# On 38 real documents and the scope of disaster risk, all that were this far below were about something else.
_NEAR, _FAR = -0.5, -1.8
# A document that names the scope with two words in its opening is never out by itself.
_OPENING, _NAMED = 2_000, 2
_READ = 60_000
_PIECES, _PIECE = 6, 700
_LEAST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Scope:
    """The subject that documents must have: in a sentence, and by the beginnings of folded words."""

    about: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicVerdict:
    """Whether a document is within the scope, and why."""

    within: bool
    why: Message


def read_scope(given: str) -> Scope:
    """Return the scope of a preset's name, or of the analyst's own words.

    >>> read_scope("floods and landslides").words
    ('floo', 'landslid')
    """
    presets = _tables()["presets"]
    if given.strip().lower() in presets:
        preset = presets[given.strip().lower()]
        return Scope(preset["about"], tuple(preset["words"].split()))
    left_out = stopwords("en")
    words = (word for word in re.findall(r"[^\W\d_]+", fold(given)) if len(word) >= _LEAST_LETTERS)
    # Endings differ: "floods" is to find "flooding".
    own = tuple(dict.fromkeys(word[: max(_LEAST_LETTERS, len(word) - 2)] for word in words if word not in left_out))
    return Scope(given.strip(), own)


def judge_topic(
    scope: Scope,
    title: str,
    text: str,
    *,
    encode: Callable[[list[str]], Vectors] | None,
    model: LanguageModel | None,
    seconds: float,
) -> TopicVerdict:
    """Return whether a text is within the scope, with the evidence; what stays in doubt is kept.

    A word of the scope in the title, or many in the text, settle it. Else the text is compared with the scope and with
    other subjects of public papers. It is out only if three things hold. It has next to none of the words, does not
    name the scope in its opening, and is far nearer to another subject. The model is asked about the rest.
    """
    found = _words(scope, title)
    if found:
        return TopicVerdict(True, Message("Its title holds “{word}”.", word=found[0]))
    folded = fold(text[:_READ])
    many = 1000 * len(_words(scope, folded)) / max(len(folded.split()), 1)
    counted = f"{many:.1f}"
    if many >= _MANY:
        return TopicVerdict(True, Message("{n} words in a thousand are of the scope.", n=counted))
    nearest, distance = _nearest(scope, title, text, encode) if encode else ("", 0.0)
    if nearest and distance >= _NEAR:
        why = Message(
            "Its text is as near to the scope as to any other subject; {n} words in a thousand are of the scope.",
            n=counted,
        )
        return TopicVerdict(True, why)
    opening = len(set(_words(scope, text[:_OPENING])))
    if nearest and distance <= _FAR and many < _FEW and opening < _NAMED:
        why = Message(
            "Its text is about “{subject}” rather than “{scope}”; {n} words in a thousand are of the scope.",
            subject=nearest,
            scope=scope.about[:120],
            n=counted,
        )
        return TopicVerdict(False, why)
    return _asked(scope, title, text, model, seconds, counted)


def _asked(
    scope: Scope, title: str, text: str, model: LanguageModel | None, seconds: float, counted: str
) -> TopicVerdict:
    doubt = Message(
        "Words and meaning leave open whether it is about the scope ({n} words in a thousand are of it).", n=counted
    )
    if model is None:
        return TopicVerdict(True, join_messages([doubt, Message("It is kept.")]))
    try:
        reply = model.complete_json(SCOPE_RULES, scope_message(scope.about, title, text), SCOPE_SCHEMA, seconds=seconds)
    except BackendError as error:
        failed = Message("{model} could not be asked: {error}", model=model.name, error=error)
        return TopicVerdict(True, join_messages([doubt, failed]))
    if not isinstance(reply.get("relevant"), bool):
        failed = Message("{model} gave no answer that can be used.", model=model.name)
        return TopicVerdict(True, join_messages([doubt, failed]))
    reason = " ".join(str(reply.get("reason", "")).split())[:300]
    return TopicVerdict(
        bool(reply["relevant"]), join_messages([doubt, Message("{what}: {error}", what=model.name, error=reason)])
    )


def _words(scope: Scope, text: str) -> Sequence[str]:
    if not scope.words:
        return []
    return re.findall(rf"\b(?:{'|'.join(map(re.escape, scope.words))})\w*", fold_title(text))


def _nearest(scope: Scope, title: str, text: str, encode: Callable[[list[str]], Vectors]) -> tuple[str, float]:
    """Return the other subject that a text is nearest to, and how much nearer the scope is, in deviations."""
    subjects: list[str] = _tables()["subjects"]["about"]
    step = max(len(text) // _PIECES, 1)
    pieces = [title, *(text[place * step : place * step + _PIECE] for place in range(_PIECES))]
    vectors = encode([scope.about, *subjects, *filter(str.strip, pieces)])
    cosines = vectors[: len(subjects) + 1] @ vectors[len(subjects) + 1 :].mean(axis=0)
    best = int(np.argmax(cosines[1:]))
    return subjects[best], float((cosines[0] - cosines[1:].max()) / cosines[1:].std())


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads((DATA / "scopes.toml").read_text(encoding="utf-8"))
