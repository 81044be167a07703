"""Results of a search for passages in words: how much was found, or which filter excludes everything."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.filters import FilterObstacle
from rag_engine.passage_search.find import FoundPassages
from rag_engine.text.languages import language_name


def describe_found(found: FoundPassages) -> str:
    """Return how many passages and documents were found, and how many of them hold the words."""
    documents = _count(len(found.documents), "document")
    if not found.query.words:
        return f"{documents}, newest first, each with its first passage."
    near = len(found) - found.worded
    if not found.worded:
        nothing = "No passage contains all of these words."
        return f"{nothing} The {_count(near, 'passage')} closest in meaning:" if near else nothing
    holding = sum(group.worded > 0 for group in found.documents)
    verb = "contains" if found.worded == 1 else "contain"
    worded = f"{_count(found.worded, 'passage')} in {_count(holding, 'document')} {verb} all of these words"
    return f"{worded}; {near} more {'is' if near == 1 else 'are'} close in meaning." if near else f"{worded}."


def describe_allowed(found: FoundPassages) -> str:
    """Return how many documents the filter allows: "12 of 30 documents match"."""
    return f"{found.allowed:,} of {_count(found.held, 'document')} match"


def describe_obstacle(obstacle: FilterObstacle) -> str:
    """Return what a facet excludes: "Country Italy excludes the 4 documents that would match without it."."""
    values = " or ".join(value_text(obstacle.name, value) for value in obstacle.values)
    many = obstacle.documents > 1
    documents = f"the {obstacle.documents:,} documents" if many else "the only document"
    return f"{facet_label(obstacle.name)} {values} excludes {documents} that would match without it."


def describe_refusal(obstacles: Sequence[FilterObstacle], found: FoundPassages) -> str:
    """Return why nothing was found, with each facet that alone excludes everything."""
    nothing = "No passage matches." if found.allowed else "No document matches your filters."
    if obstacles:
        return " ".join((nothing, *map(describe_obstacle, obstacles)))
    if len(found.query.wanted) > 1:
        return f"{nothing} No single filter is the reason: clear several."
    return nothing


def facet_label(name: str) -> str:
    """Return a facet's name as it is shown: "Document type"."""
    return name.replace("_", " ").capitalize()


def value_text(name: str, value: str) -> str:
    """Return a facet's value as it is shown: languages by name, all others unchanged."""
    return (language_name(value) or value.upper()) if name == "language" else value


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
