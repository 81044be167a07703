"""Results of a search for passages in words: how much was found, or which filter excludes everything."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.answering_documents import FilterObstacle
from rag_engine.passage_search.find import FoundPassages
from rag_engine.text.wording import ENGLISH, Wording


def describe_found(found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return how many passages and documents were found, and how many of them hold the words."""
    if not found.query.words:
        return words.counted(
            "{n} document, newest first, each with its first passage.",
            "{n} documents, newest first, each with its first passage.",
            len(found.documents),
        )
    near = len(found) - found.worded
    if found.worded:
        return _describe_worded(found, near, words)
    nothing = words.message("No passage contains all of these words.")
    if not near:
        return nothing
    nearest = words.counted("The {n} passage closest in meaning:", "The {n} passages closest in meaning:", near)
    return f"{nothing} {nearest}"


def _describe_worded(found: FoundPassages, near: int, words: Wording) -> str:
    holding = sum(group.worded > 0 for group in found.documents)
    worded = words.counted(
        "{n} passage in {documents} contains all of these words",
        "{n} passages in {documents} contain all of these words",
        found.worded,
        documents=words.counted("{n} document", "{n} documents", holding),
    )
    if not near:
        return f"{worded}."
    return words.counted(
        "{found}; {n} more is close in meaning.", "{found}; {n} more are close in meaning.", near, found=worded
    )


def describe_matching(found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return how many documents match words and filter: "12 of 30 documents match"."""
    return words.counted(
        "{matching} of {n} document matches",
        "{matching} of {n} documents match",
        found.held,
        matching=words.number(found.matching),
    )


def describe_obstacle(obstacle: FilterObstacle, words: Wording = ENGLISH) -> str:
    """Return a sentence on the documents that a facet excludes.

    >>> describe_obstacle(FilterObstacle("country", ("Italy",), 4))
    'Country Italy excludes the 4 documents that would match without it.'
    """
    return words.counted(
        "{facet} {values} excludes the only document that would match without it.",
        "{facet} {values} excludes the {n} documents that would match without it.",
        obstacle.documents,
        facet=words.facet(obstacle.name),
        values=words.alternatives([words.value(obstacle.name, value) for value in obstacle.values]),
    )


def describe_refusal(obstacles: Sequence[FilterObstacle], found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return why nothing was found, with each facet that alone excludes everything.

    >>> from rag_engine.passage_search.passage_query import PassageQuery
    >>> found = FoundPassages(PassageQuery("sea walls", {"country": ("Italy",)}), (), allowed=0, held=30)
    >>> describe_refusal([FilterObstacle("country", ("Italy",), 4)], found)
    'No document matches your filters. Country Italy excludes the 4 documents that would match without it.'
    """
    nothing = (
        words.message("No passage matches.") if found.allowed else words.message("No document matches your filters.")
    )
    if obstacles:
        return " ".join((nothing, *(describe_obstacle(obstacle, words) for obstacle in obstacles)))
    if len(found.query.wanted) > 1:
        several = words.message("No single filter is the reason: clear several.")
        return f"{nothing} {several}"
    return nothing
