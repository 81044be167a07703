"""Read with a language model: the sentences it copies from passages as statements, checked against the passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rag_engine import prompts
from rag_engine.controller.memory import Proposition, SubQuestion, place_of
from rag_engine.controller.read import Read, StatementReading
from rag_engine.errors import BackendError
from rag_engine.protocols import Generator
from rag_engine.types import Source

# Passages in one request, and characters of one: what a small model's window holds beside its reply.
_PASSAGES = 6
_PASSAGE_CHARACTERS = 1_500
_SHORTEST_QUOTE = 15
# What a sentence is worth that is copied from the passage: as much as any that the rules find.
_CERTAIN = 2.0


class ModelReader:
    """Asks a language model for statements; where it fails, the rules read in its place and a warning says so."""

    def __init__(self, generator: Generator, rules: Read, *, seconds: float) -> None:
        self._generator, self._rules, self._seconds = generator, rules, seconds

    def __call__(self, asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> StatementReading:
        """Return the statements that the model copies for the sub-questions from the sources, a few at a time."""
        if not asked:
            return StatementReading(())
        found: list[Proposition] = []
        for first in range(0, len(sources), _PASSAGES):
            batch = sources[first : first + _PASSAGES]
            try:
                found += self._read(asked, batch)
            except BackendError as error:
                reading = self._rules(asked, sources[first:])
                warning = f"Passages were compared with the parts of the question by rules: {error}"
                return StatementReading((*found, *reading.propositions), (*reading.warnings, warning))
        return StatementReading(tuple(dict.fromkeys(found)))

    def _read(self, asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> list[Proposition]:
        """Return what one reply holds; BackendError where it is not a list of propositions."""
        passages = [_excerpt(source) for source in sources]
        message = prompts.proposition_message([(number + 1, one.text) for number, one in asked], passages)
        reply = self._generator.complete_json(
            prompts.PROPOSITION_RULES, message, prompts.PROPOSITION_SCHEMA, seconds=self._seconds
        )
        listed = reply.get("propositions")
        if not isinstance(listed, list):
            raise BackendError("the model's reply has no list of propositions.")
        return [one for item in listed for one in _checked(item, {number for number, _ in asked}, sources)]


def _excerpt(source: Source) -> str:
    """Return the part of a source around its best hit that fits into a request."""
    start = max(0, min(source.hits[0].start - source.start, len(source.text) - _PASSAGE_CHARACTERS))
    return source.text[start : start + _PASSAGE_CHARACTERS]


def _checked(item: object, numbers: set[int], sources: Sequence[Source]) -> Iterator[Proposition]:
    """Yield a proposition if its question and its passage were given and the passage has its quote; else nothing."""
    if not isinstance(item, dict):
        return
    question, passage, quote = item.get("question"), item.get("passage"), item.get("quote")
    if type(question) is not int or type(passage) is not int or not isinstance(quote, str):
        return
    words = quote.split()
    if question - 1 not in numbers or not 1 <= passage <= len(sources) or len(" ".join(words)) < _SHORTEST_QUOTE:
        return
    source = sources[passage - 1]
    found = re.search(r"\s+".join(map(re.escape, words)), source.text, re.IGNORECASE)
    if found is not None:
        yield Proposition(
            about=question - 1,
            text=" ".join(found.group().split()),
            language=source.document.metadata.language,
            place=place_of(source),
            document_id=source.document.document_id,
            start=source.start + found.start(),
            end=source.start + found.end(),
            support=_CERTAIN,
        )
