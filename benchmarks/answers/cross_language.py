"""Questions on real documents, each asked in its document's language and in three others.

    python -m benchmarks.answers.cross_language [--half dev|heldout] [--workspace DIR] [--shared DIR]

data/eval/cross_language has them with the passage that answers each. It is counted how often the first quotation is
of that passage, how often any is, whether the passage is among those that were found, and how often the question is
refused; by the document's language, and by the question's where it is another. Nothing is fitted on the heldout half.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.significance import share_interval
from rag_engine.types.answer import Answer

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = DATA / "eval" / "cross_language"
# Share of the shorter of quotation and passage that both hold in one run of characters.
_LEAST_SHARED = 0.5

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in one language, and what came of it."""

    of: str
    language: str
    found: bool
    first: bool
    quoted: bool
    refused: bool


def read_questions(half: str) -> list[dict[str, Any]]:
    """Return the questions of a half."""
    return [json.loads(line) for line in (QUESTIONS / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def holds(passage: Place, file: str, text: str) -> bool:
    """Return whether a text is the passage, a good part of it, or holds it; spaces do not count.

    >>> holds(("a.pdf", "The mayor orders the evacu ation."), "a.pdf", "In a flood the mayor orders the evacuation.")
    True
    """
    if passage[0] != file:
        return False
    wanted, given = ("".join(part.split()) for part in (passage[1], text))
    shared = SequenceMatcher(None, wanted, given, autojunk=False).find_longest_match().size
    return shared >= _LEAST_SHARED * min(len(wanted), len(given))


def ask(engine: Engine, question: Mapping[str, Any]) -> Iterator[Asked]:
    """Ask a question in each of its languages, without a language model."""
    right = [(place["document"], place["quote"]) for place in (question, *question.get("also", ()))]
    for language, text in question["questions"].items():
        *_, answer = engine.ask(text)
        assert isinstance(answer, Answer)
        quoted = [any(holds(place, one.file, one.quote) for place in right) for one in answer.citations]
        sources = [(source.document.file, source.text) for source in answer.evidence.sources]
        found = any(holds(place, *source) for place in right for source in sources)
        refused = answer.status == "insufficient_evidence"
        yield Asked(question["language"], language, found, quoted[:1] == [True], any(quoted), refused)


def row(name: str, asked: Sequence[Asked]) -> list[str]:
    """Return how many of the questions found, first quoted, quoted and refused."""
    first = sum(one.first for one in asked)
    low, high = share_interval(first, len(asked))
    counts = (sum(one.found for one in asked), sum(one.quoted for one in asked), sum(one.refused for one in asked))
    found, quoted, refused = (f"{count / len(asked):.0%}" for count in counts)
    return [name, str(len(asked)), found, f"{first / len(asked):.0%} ({low:.0%} to {high:.0%})", quoted, refused]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("dev", "heldout"), default="dev")
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        asked = [one for question in read_questions(arguments.half) for one in ask(engine, question)]
        engine.close()
    same, other = ([one for one in asked if (one.of == one.language) == alike] for alike in (True, False))
    rows = [row("the document's language", same), row("another language", other)]
    rows += [row(f"of {of}, in {of}", [one for one in same if one.of == of]) for of in sorted({one.of for one in same})]
    rows += [
        row(f"of {of}, in others", [one for one in other if one.of == of]) for of in sorted({one.of for one in other})
    ]
    rows += [
        row(f"in {language}, of others", [one for one in other if one.language == language])
        for language in sorted({one.language for one in other})
    ]
    write_table(
        f"cross_language_{arguments.half}",
        "Questions in the document's language and in others",
        ["questions", "asked", "passage found", "first quotation right (95 %)", "any quotation right", "refused"],
        rows,
        [machine(), f"`python -m benchmarks.answers.cross_language --half {arguments.half}`, no language model."],
    )


if __name__ == "__main__":
    main()
