"""Run files in TREC's form, so that other programs can score what was ranked: query, Q0, document, rank, score, tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote

from rag_engine.atomic_write import replacing
from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import read_lines

# The columns are parted by white space, so none may stand in an id; the sign of the escape is itself escaped.
_UNSAFE = re.compile(r"[\s%]")

RankedDocuments = Sequence[tuple[str, float]]


class RunWriter:
    """Rankings to a file, a query at a time; made by `writing_run`."""

    def __init__(self, file: TextIO, tag: str) -> None:
        self._file = file
        self._tag = escape(tag)

    def write(self, query: str, ranking: RankedDocuments) -> None:
        """Append the ranked documents of a query, best first."""
        for rank, (document, score) in enumerate(ranking, start=1):
            self._file.write(f"{escape(query)} Q0 {escape(document)} {rank} {score!r} {self._tag}\n")


@contextmanager
def writing_run(path: Path, tag: str) -> Iterator[RunWriter]:
    """Yield a writer of the run; the file has its name only when the run is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        yield RunWriter(file, tag)


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Return the ranked documents of every query in the order of their ranks.

    InputError for a line that is none of a run.
    """
    found: dict[str, list[tuple[int, str, float]]] = {}
    for number, line in read_lines(path):
        columns = line.split()
        try:
            query, _, document, rank, score, _ = columns
            entry = int(rank), unquote(document), float(score)
        except ValueError:
            raise InputError(
                f"{path}, line {number}: not a line of a run.", help="Write: query Q0 document rank score tag."
            ) from None
        found.setdefault(unquote(query), []).append(entry)
    return {query: [(document, score) for _, document, score in sorted(found[query])] for query in found}


def escape(id: str) -> str:
    """Return the id without white space: each such character, and %, as %XX of its UTF-8; `-` for an empty id."""
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), id) or "-"
