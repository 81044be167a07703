"""The blocks of a law that is being read, and the paragraph that is not yet ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ingestion.extraction.assemble import DraftBlock, one_line, paragraph
from ingestion.extraction.runs import Look, Run, standing
from rag_engine.text.raised import RAISED
from rag_engine.types.document import BlockKind

# What goes on behind a list or a quotation that is in the middle of a sentence.
_STOPS = re.compile(r"\s{0,99}[.,;:)\]”’»]{1,8}\s{0,99}")
# The mark of a note that is set as a paragraph.
_MARK = re.compile(rf"[{RAISED}]{{1,4}}")
# White space that only lays out the source: a line of its own before a stop or after a bracket.
_LAID_OUT = re.compile(r"(?<=[(\[])\s*\n\s*$|^\s*\n\s*(?=[)\].,;:])")


class Around(NamedTuple):
    """Place of the words of an element: their look, their kind, in a quotation, in a paragraph."""

    look: Look = Look.PLAIN
    kind: BlockKind = "text"
    quoted: bool = False
    inside: bool = False


@dataclass(slots=True)
class LawPage:
    """Blocks that are read, and the paragraph being read: its label, its runs, the notes of its marks."""

    blocks: list[DraftBlock] = field(default_factory=list)
    label: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    kind: BlockKind = "text"
    notes: list[DraftBlock] = field(default_factory=list)

    def write(self, text: str | None, around: Around) -> None:
        """Write text into the paragraph; a stop alone goes behind the words before it."""
        if not text or (not self.runs and not text.strip()):
            return
        if not self.runs:
            if _STOPS.fullmatch(text) and not self.label and self.go_on(text, around.kind):
                return
            self.kind = around.kind
        self.runs.append(Run(_LAID_OUT.sub("", text), around.look))

    def go_on(self, text: str, kind: BlockKind) -> bool:
        """Write a stop or a closing mark behind the last words, and return whether there are any."""
        if self.runs:
            self.runs.append(Run(text))
            return True
        # Notes stand between a paragraph and what goes on behind it.
        place = next((place for place in reversed(range(len(self.blocks))) if self.blocks[place].kind == kind), None)
        passed = [] if place is None else self.blocks[place + 1 :]
        if place is None or any(block.kind != "note" for block in passed) or not line_of(self.blocks[place]):
            return False
        block = self.blocks[place]
        line = replace(block.lines[-1], text=f"{block.lines[-1].text.rstrip()}{text.strip()}")
        self.blocks[place] = replace(block, lines=(*block.lines[:-1], line))
        return True

    def finish(self) -> None:
        """End the paragraph that is being read; a mark that opens a quotation goes to the next."""
        runs, self.runs = self.runs, []
        if not any(run.text.strip() for run in runs):
            return
        if not self.label and _MARK.fullmatch(mark := standing(runs).strip()) and self.go_on(mark, self.kind):
            self.add([])
            return
        runs, carried = _without_opening(runs)
        runs, self.label = [*self.label, *runs], carried
        self.add([paragraph(runs, kind=self.kind)])

    def finish_label(self, kind: BlockKind) -> None:
        """Write a label that has no words behind it as a paragraph."""
        label, self.label = self.label, []
        if any(run.text.strip() for run in label):
            self.add([paragraph(label, kind=kind)])

    def add(self, blocks: Iterable[DraftBlock]) -> None:
        """Add blocks, and behind them the notes whose marks are in them."""
        self.blocks += [*blocks, *self.notes]
        self.notes = []


def with_runs(block: DraftBlock, before: Sequence[Run]) -> DraftBlock:
    """Return a paragraph of a remark behind its mark or title; a table, and one without words, as it is."""
    words = line_of(block)
    if not words or block.kind != "note" or words.startswith(tuple(run.text for run in before[:1])):
        return block
    return replace(block, lines=paragraph([*before, Run(words)]).lines)


def line_of(block: DraftBlock) -> str:
    """Return the words of a block on one line."""
    return one_line(" ".join(line.text for line in block.lines))


def _without_opening(runs: list[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs of a paragraph, and the mark at their end that opens the quotation below."""
    last = runs[-1]
    words = last.text.rstrip()
    text = "".join(run.text for run in runs)
    # There these marks close a quotation.
    closes = "„" in text or "‚" in text
    if closes or len(text.strip()) < len("“x") or not words.endswith(("“", "‘")):
        return runs, []
    return [*runs[:-1], last._replace(text=words[:-1])], [last._replace(text=words[-1])]
