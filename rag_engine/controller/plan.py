"""Plan: the sub-questions of a question, by rules and, where one answers, by a language model; its reply is checked."""

from __future__ import annotations

from rag_engine import prompts
from rag_engine.answering.abstention import years_of
from rag_engine.answering.citations import words
from rag_engine.controller.memory import SubQuestion
from rag_engine.controller.sub_questions import MOST, named_labels, sub_questions
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer, find_places
from rag_engine.protocols import Generator
from rag_engine.text.folding import fold
from rag_engine.text.stopwords import stopwords
from rag_engine.types import QueryPlan

_CHARACTERS = (5, 300)


def plan_by_rules(plan: QueryPlan, gazetteer: Gazetteer) -> tuple[SubQuestion, ...]:
    """Return the parts of a question as the rules see them; a single one where it has no parts."""
    texts = sub_questions(plan.queries[0], plan.language, gazetteer)
    return _with_queries(texts, plan, gazetteer)


def plan_by_model(
    plan: QueryPlan, generator: Generator, gazetteer: Gazetteer, *, seconds: float
) -> tuple[SubQuestion, ...]:
    """Return the parts of a question as a language model sees them; BackendError where its reply cannot be used.

    Every part must have a word of the question, so that a model can neither invent a part nor answer it.
    """
    reply = generator.complete_json(
        prompts.SUB_QUESTION_RULES, prompts.planner_message(plan.question), prompts.SUB_QUESTION_SCHEMA, seconds=seconds
    )
    listed = reply.get("sub_questions")
    texts = [" ".join(one.split()) for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    asked = words(plan.question)
    shortest, longest = _CHARACTERS
    good = [text for text in dict.fromkeys(texts) if shortest <= len(text) <= longest and words(text) & asked]
    if not 2 <= len(good) <= MOST or len(good) < len(texts):
        raise BackendError(
            "the model's list of sub-questions has {count} of {total} that can be used.",
            count=len(good),
            total=len(texts),
        )
    return _with_queries(good, plan, gazetteer)


def _with_queries(texts: tuple[str, ...] | list[str], plan: QueryPlan, gazetteer: Gazetteer) -> tuple[SubQuestion, ...]:
    return tuple(
        SubQuestion(
            text=text,
            queries=tuple(dict.fromkeys((text, _in_context(text, plan)))),
            language=plan.language,
            scope=find_places(text, gazetteer, plan.language),
            sections=named_labels(text, plan.language),
            years=tuple(years_of(text)),
        )
        for text in texts
    )


def _in_context(text: str, plan: QueryPlan) -> str:
    """Return the part with the words that the question has before it: what "it" and "the law" are is said there."""
    own = words(text)
    before = plan.queries[0].split("?")[0].split(",")[0].split()
    stop_words = stopwords(plan.language)
    added = [word for word in before if fold(word.strip("¿.,;:'’")) not in stop_words and not words(word) <= own]
    return " ".join((text, *added))
