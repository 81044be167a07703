"""Results of a search for passages in words: how much was found, or which filter excludes everything."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.answering_documents import FilterObstacle
from rag_engine.passage_search.find import FoundPassages
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.text.words.key_words import WantedWord, WantedWords
from rag_engine.text.words.search_words import Every, Node, Some, Without


def describe_searched(wanted: WantedWords, words: Wording = ENGLISH) -> str:
    """Return what was searched for, as the words were read; "" for no words.

    >>> from rag_engine.text.words.key_words import wanted_words
    >>> describe_searched(wanted_words("flood OR storm -drought resilien*", "en", {"en"}))
    'Searched for (“flood” or “storm”) and words that begin with “resilien”, without “drought”.'
    """
    parts = wanted.tree.parts
    left_out = [_described(part.part, words, within=False) for part in parts if isinstance(part, Without)]
    kept = [part for part in parts if not isinstance(part, Without)]
    if not kept:
        return ""
    sought = words.together([_described(part, words, within=len(kept) > 1) for part in kept])
    told = (
        words.message("Searched for {words}, without {left_out}.", words=sought, left_out=words.together(left_out))
        if left_out
        else words.message("Searched for {words}.", words=sought)
    )
    return " ".join(filter(None, (told, describe_unclosed(wanted, words))))


def describe_unclosed(wanted: WantedWords, words: Wording = ENGLISH) -> str:
    """Return how a quotation mark was read that is not closed, "" where each one is."""
    unclosed = wanted.search.unclosed
    return words.message("The quotation mark is not closed, so the phrase goes to the end.") if unclosed else ""


def _described(node: Node[WantedWord], words: Wording, *, within: bool = True) -> str:
    """Return a part of a search in words; several are in brackets `within` others."""
    if isinstance(node, Without):
        return words.message("not {words}", words=_described(node.part, words))
    if isinstance(node, Every | Some):
        parts = [_described(part, words) for part in node.parts]
        joined = words.alternatives(parts) if isinstance(node, Some) else words.together(parts)
        return f"({joined})" if within else joined
    if node.text.endswith("*") and node.text.count("*") == 1 and not node.phrase:
        return words.message("words that begin with “{letters}”", letters=node.text[:-1])
    return words.message("“{words}”", words=node.text)


def describe_scattered(found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return how many further documents have the words in different passages, "" for none."""
    return (
        words.counted(
            "In {n} document these words are there, but not in one passage: search anywhere in the document.",
            "In {n} documents these words are there, but not in one passage: search anywhere in the document.",
            found.scattered,
        )
        if found.scattered
        else ""
    )


def describe_found(found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return how many passages and documents the words found, with what was searched if operators were."""
    if not found.query.words:
        return words.counted(
            "{n} document, newest first, each with its first passage.",
            "{n} documents, newest first, each with its first passage.",
            len(found.documents),
        )
    searched = describe_searched(found.wanted, words) if found.wanted.search.operated else ""
    return " ".join(filter(None, (_described_found(found, words), searched)))


def _described_found(found: FoundPassages, words: Wording) -> str:
    operated = found.wanted.search.operated
    if not found.worded:
        if operated:
            return words.message("No passage matches.")
        if found.query.anywhere:
            return words.message("No document contains all of these words.")
        return words.message("No passage contains all of these words.")
    documents = words.counted("{n} document", "{n} documents", len(found.documents))
    if operated:
        return words.counted(
            "{n} passage in {documents} matches.",
            "{n} passages in {documents} match.",
            found.worded,
            documents=documents,
        )
    if found.query.anywhere:
        return words.counted(
            "{documents} with all of these words, in {n} passage.",
            "{documents} with all of these words, in {n} passages.",
            found.worded,
            documents=documents,
        )
    return words.counted(
        "{n} passage in {documents} contains all of these words.",
        "{n} passages in {documents} contain all of these words.",
        found.worded,
        documents=documents,
    )


def describe_near(found: FoundPassages, words: Wording = ENGLISH) -> str:
    """Return how many passages are only near in meaning, the heading above them."""
    near = sum(len(group.matches) for group in found.near)
    return words.counted("{n} passage close in meaning", "{n} passages close in meaning", near)


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
    searched = describe_searched(found.wanted, words) if found.wanted.search.operated else ""
    told = [nothing, *filter(None, (searched, describe_scattered(found, words)))]
    if not obstacles and len(found.query.wanted) > 1:
        told.append(words.message("No single filter is the reason: clear several."))
    return " ".join((*told, *(describe_obstacle(obstacle, words) for obstacle in obstacles)))
