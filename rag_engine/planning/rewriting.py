"""A follow-up question as it is asked: rewritten by a language model if one answers, else by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_engine import prompts
from rag_engine.config import Config
from rag_engine.errors import BackendError
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.planning.ellipsis import MARKS, content_words, without_ordinals
from rag_engine.planning.follow_up import stand_alone
from rag_engine.protocols import Generator

# Questions before the last one that a language model is shown.
_SHOWN = 3
_TITLES = 4
# Characters of a rewritten question beyond those of the two it is made of.
_JOINING = 40
# Letters by which a word is known in another of its forms.
_STEM = 5


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question as it was asked before, and the titles of the documents that its answer cites."""

    question: str
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Question asked in place of one that leans on another; `by` is "rules" or the model's name."""

    question: str
    by: str
    warnings: tuple[str, ...] = ()


def rewrite(
    question: str, before: Sequence[Exchange], *, language: str, generator: Generator | None, config: Config
) -> FollowUp | None:
    """Return how a question is asked after those before it, the latest last; None where it stands alone.

    The rules decide whether it does, so that no model changes a question that needs nothing. A model's wording is used
    if it adds no word that the conversation does not carry and drops none of the question's own.
    """
    by_rules = stand_alone([one.question for one in before], question, language, load_gazetteer())
    if by_rules is None or len(by_rules) > config.question_characters:
        return None
    ruled = FollowUp(by_rules, "rules")
    if generator is None or generator.quotes_only:
        return ruled
    shown = before[-_SHOWN:]
    try:
        reply = generator.complete_json(
            prompts.FOLLOW_UP_RULES,
            prompts.follow_up_message([(one.question, one.titles[:_TITLES]) for one in shown], question),
            prompts.FOLLOW_UP_SCHEMA,
            seconds=config.generation.planner_seconds,
        )
        worded = _checked(reply.get("question"), question, shown, language)
        if kept := _other_places(worded, question, by_rules, language):
            raise BackendError("the model still asks of {kept}.", kept=", ".join(kept))
        return FollowUp(worded, generator.name)
    except BackendError as error:
        return FollowUp(by_rules, "rules", (f"The follow-up question was rewritten by rules: {error}",))


def _checked(reply: object, question: str, before: Sequence[Exchange], language: str) -> str:
    """Return a model's question on one line; BackendError if it is not the person's made complete."""
    written = " ".join(reply.split()) if isinstance(reply, str) else ""
    if not any(character.isalnum() for character in written):
        raise BackendError("the model wrote no question.")
    carried = [*(one.question for one in before), *(title for one in before for title in one.titles[:_TITLES])]
    longest = len(question) + max(map(len, carried)) + _JOINING
    if len(written) > longest:
        raise BackendError(
            "the model's question has {count} characters, more than {longest}.", count=len(written), longest=longest
        )
    known, made = _stems(" ".join((question, *carried)), language), _stems(written, language)
    if added := sorted(made - known):
        raise BackendError("the model added {added}.", added=", ".join(added[:5]))
    # "The second one" is named, not repeated.
    if dropped := sorted(_stems(without_ordinals(question, language), language) - made):
        raise BackendError("the model left out {dropped}.", dropped=", ".join(dropped[:5]))
    if not made & _stems(" ".join(carried), language) - _stems(question, language):
        raise BackendError("the model's question still leans on the one before.")
    return written


def _other_places(worded: str, question: str, by_rules: str, language: str) -> list[str]:
    """Return the countries that a model's question keeps although another place is asked of."""
    gazetteer = load_gazetteer()
    if not find_places(question, gazetteer, language).countries:
        return []
    asked = find_places(by_rules, gazetteer, language).countries
    return [name for name in find_places(worded, gazetteer, language).countries if name not in asked]


def _stems(text: str, language: str) -> set[str]:
    """Return the first letters of a text's words of content, by which their forms are alike."""
    return {word[:_STEM] for word in content_words(re.sub(r"['’]", " ", text).strip(MARKS), language)}
