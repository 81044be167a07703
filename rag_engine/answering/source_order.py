"""Numbers of an answer's sources, by the order in which it names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_engine.answering.replies import CHECKED_MARK, UnlistedWords, check_marks, settled_end
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source


def in_order(named: Iterable[int], sources: Iterable[Source]) -> dict[int, int]:
    """Return the sources' numbers by their former ones: in the order of naming, then by rank."""
    order = dict.fromkeys((*named, *(source.n for source in sources)))
    return {before: now for now, before in enumerate(order, start=1)}


def renumbered(sources: Iterable[Source], numbers: Mapping[int, int]) -> tuple[Source, ...]:
    """Return the sources, ranked as they were, with their numbers replaced."""
    return tuple(replace(source, n=numbers[source.n]) for source in sources)


def renumbered_marks(text: str, numbers: Mapping[int, int]) -> str:
    """Return a checked text with the numbers in its marks replaced.

    >>> renumbered_marks("Seas rise [Source 3].", {3: 1})
    'Seas rise [Source 1].'
    """
    return CHECKED_MARK.sub(lambda mark: f"[Source {numbers[int(mark.group(1))]}]", text)


class NumberedWords:
    """An answer's words as they come, with marks numbered in the order of appearance.

    Lists of references are left out. `given` are the sources that the writer was shown; a mark of any other is left
    out.
    """

    def __init__(self, evidence: Evidence, given: Sequence[Source]) -> None:
        self._evidence = evidence
        self._given = {source.n for source in given}
        self._named: list[int] = []
        self._numbers = in_order((), evidence.sources)
        self._words = UnlistedWords()
        self._text = ""
        self._shown = 0  # up to where the text was yielded; what is before says how the rest is read

    def take(self, piece: str) -> Iterator[str | Evidence]:
        """Yield the text that is ready, up to a mark or a list of references that is not whole yet.

        Before words that name a source out of turn, the evidence is yielded with its new numbers.
        """
        self._text += self._words.take(piece)
        yield from self._numbered(settled_end(self._text, self._shown))

    def rest(self) -> Iterator[str | Evidence]:
        """Yield the words that were held back when the answer ended."""
        self._text += self._words.rest()
        yield from self._numbered(len(self._text))

    def _numbered(self, end: int) -> Iterator[str | Evidence]:
        start, self._shown = self._shown, end
        if not any(character.isdigit() for character in self._text[start:end]):
            # Nothing to number, and so no need to read it all again.
            if start < end:
                yield self._text[start:end]
            return
        checked = check_marks(self._text, self._given, start, end)
        self._named += [number for number in checked.cited if number not in self._named]
        numbers = in_order(self._named, self._evidence.sources)
        if numbers != self._numbers:
            self._numbers = numbers
            yield replace(self._evidence, sources=renumbered(self._evidence.sources, numbers))
        if checked.text:
            yield renumbered_marks(checked.text, numbers)
