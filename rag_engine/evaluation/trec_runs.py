"""Run files in TREC's form, so that other programs can score a ranking.

A line has query, Q0, document, rank, score and tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_engine.atomic_write import replacing

# The columns are parted by white space, so none may stand in an id; the sign of the escape is itself escaped.
_UNSAFE = re.compile(r"[\s%]")

RankedDocuments = Sequence[tuple[str, float]]
RunWriter = Callable[[str, RankedDocuments], None]


@contextmanager
def writing_run(path: Path, tag: str) -> Iterator[RunWriter]:
    """Yield a function that appends the ranked documents of a query, best first.

    The file gets its name only when it is whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:

        def write(query: str, ranking: RankedDocuments) -> None:
            for rank, (document, score) in enumerate(ranking, start=1):
                file.write(f"{escape(query)} Q0 {escape(document)} {rank} {score!r} {escape(tag)}\n")

        yield write


def escape(id: str) -> str:
    """Return the id without white space, `-` for an empty id.

    Each such character, and %, becomes %XX for each byte of its UTF-8.

    >>> escape("a b")
    'a%20b'
    """
    return _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), id) or "-"
