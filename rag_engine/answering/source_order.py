"""Numbers of an answer's sources, by the order in which it names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_engine.answering.citations import CHECKED_MARK, OPEN_MARK, check_marks
from rag_engine.types import Evidence, Source


def in_order(named: Iterable[int], sources: Iterable[Source]) -> dict[int, int]:
    """Return the sources' numbers by those they had: first in the order in which they are named, then by rank."""
    order = dict.fromkeys((*named, *(source.n for source in sources)))
    return {before: now for now, before in enumerate(order, start=1)}


def renumbered(sources: Iterable[Source], numbers: Mapping[int, int]) -> tuple[Source, ...]:
    """Return the sources, ranked as they were, with their numbers replaced."""
    return tuple(replace(source, n=numbers[source.n]) for source in sources)


def renumbered_marks(text: str, numbers: Mapping[int, int]) -> str:
    """Return a checked text with the numbers in its marks replaced."""
    return CHECKED_MARK.sub(lambda mark: f"[Source {numbers[int(mark.group(1))]}]", text)


class NumberedWords:
    """An answer's words as they come, their marks numbered in the order of appearance.

    `given` are the sources that the writer was shown; a mark of any other is left out.
    """

    def __init__(self, evidence: Evidence, given: Sequence[Source]) -> None:
        self._evidence = evidence
        self._given = {source.n for source in given}
        self._named: list[int] = []
        self._numbers = in_order((), evidence.sources)
        self._held = ""

    def take(self, piece: str) -> Iterator[str | Evidence]:
        """Yield what is ready of the text so far, up to a mark that is not whole yet.

        Before words that name a source out of turn comes the evidence with the numbers that hold from there on.
        """
        self._held += piece
        begun = OPEN_MARK.search(self._held)
        end = begun.start() if begun else len(self._held)
        ready, self._held = self._held[:end], self._held[end:]
        yield from self._numbered(ready)

    def rest(self) -> Iterator[str | Evidence]:
        """Yield what was held back when the answer ended."""
        ready, self._held = self._held, ""
        yield from self._numbered(ready)

    def _numbered(self, text: str) -> Iterator[str | Evidence]:
        checked = check_marks(text, self._given)
        self._named += [number for number in checked.cited if number not in self._named]
        numbers = in_order(self._named, self._evidence.sources)
        if numbers != self._numbers:
            self._numbers = numbers
            yield replace(self._evidence, sources=renumbered(self._evidence.sources, numbers))
        if checked.text:
            yield renumbered_marks(checked.text, numbers)
