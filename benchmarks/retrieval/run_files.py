"""Run files that an evaluation wrote in TREC's form, read back."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from rag_engine.evaluation.datasets import read_lines


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Return the ranked documents of every query in the order of their ranks.

    InputError for a line that is none of a run.
    """
    found: dict[str, list[tuple[int, str, float]]] = {}
    for line in read_lines(path):
        try:
            query, _, document, rank, score, _ = line.text.split()
            entry = int(rank), unquote(document), float(score)
        except ValueError:
            raise line.error("not a line of a run.", "Write: query Q0 document rank score tag.") from None
        found.setdefault(unquote(query), []).append(entry)
    return {query: [(document, score) for _, document, score in sorted(found[query])] for query in found}
