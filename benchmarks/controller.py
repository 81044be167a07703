"""Questions of several parts: how often the sources of an answer have a right page for every part.

    python benchmarks/controller.py [--workspace DIR] [--shared DIR] [--fit]

data/eval/multi_part.tsv has the questions, their parts and the pages that answer each. The single pass is the search
that every question gets; the controller searches on for the parts that it leaves uncovered. Both are judged by the
same number of sources. A question counts where the workspace has the documents of all of its parts. `--fit` tries
other weights, thresholds and budgets on the development half, which is the only one that they may be chosen by.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from report import machine, write_table
from statutes import wilson_interval

from ingestion.add_files import add_paths
from rag_engine.config import DATA, ControllerConfig, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.types import Evidence, Source

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = DATA / "eval" / "multi_part.tsv"
HALVES = ("dev", "heldout")
# Sources that an answer is given: as many as the single pass finds, and as many as a small model's window takes.
SIZES = (5, 10)
COLUMNS = (
    *("questions", "way", "asked", *(f"complete, first {size}" for size in SIZES)),
    *("complete, all", "sources", "searches", "median time"),
)
SUPPORT = (0.6, 0.7, 0.8, 0.9, 1.0)
THRESHOLDS = (0.7, 0.8, 0.9, 1.0)
COVERAGE = (0.5, 0.8, 1.0)
BUDGETS = (2, 4, 6, 8)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part is answered: on these pages of a file, or where it has none, in these words."""

    file: str
    pages: frozenset[int]
    words: str


@dataclass(frozen=True, slots=True)
class MultiPartQuestion:
    """A question and its parts, each with the places of which any one answers it."""

    id: str
    language: str
    text: str
    parts: tuple[tuple[str, tuple[Place, ...]], ...]

    @property
    def half(self) -> str:
        """Return the half by the parity of the first byte of the SHA-256 of the id."""
        return HALVES[hashlib.sha256(self.id.encode()).digest()[0] % 2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What both ways found for a question, and what they cost; `covered` of the controller's parts at its end."""

    question: MultiPartQuestion
    single: tuple[Source, ...]
    controlled: tuple[Source, ...]
    seconds: tuple[float, float]
    searches: int
    gaps: int
    ran: bool


def read_questions() -> list[MultiPartQuestion]:
    """Return the questions of the committed table, whose rows are their parts."""
    rows: defaultdict[tuple[str, str, str], list[tuple[str, tuple[Place, ...]]]] = defaultdict(list)
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            places = tuple(place_of(one) for one in row["places"].split(" | "))
            rows[row["id"], row["language"], row["question"]].append((row["part"], places))
    return [MultiPartQuestion(*key, tuple(parts)) for key, parts in rows.items()]


def place_of(written: str) -> Place:
    """Return the place of "a.pdf 1,2" or "a.md “words”"."""
    file, _, rest = written.partition(" ")
    if rest.startswith("“"):
        return Place(file, frozenset(), rest.strip("“”"))
    return Place(file, frozenset(map(int, rest.split(","))), "")


def answers(source: Source, places: Sequence[Place]) -> bool:
    """Whether a source has one of the places: a passage that was found on such a page, or the words."""
    for place in places:
        if source.document.file != place.file:
            continue
        if place.words and place.words in " ".join(source.text.split()):
            return True
        pages = {page for hit in source.hits for page in range(hit.page, hit.last_page + 1)}
        if place.pages & pages:
            return True
    return False


def met(question: MultiPartQuestion, sources: Sequence[Source]) -> int:
    """Return how many parts have a right source among these."""
    return sum(any(answers(source, places) for source in sources) for _, places in question.parts)


def held(questions: Sequence[MultiPartQuestion], files: set[str]) -> list[MultiPartQuestion]:
    """Return the questions of which the collection has a document for every part."""
    return [one for one in questions if all(any(place.file in files for place in places) for _, places in one.parts)]


def outcome(engine: Engine, first: Mapping[str, tuple[Evidence, float]], question: MultiPartQuestion) -> Outcome:
    """Search for a question both ways; `first` has what the single pass found, and its seconds."""
    found, seconds = first[question.id]
    single = found.sources
    started = time.perf_counter()
    steps = engine.gather(found)
    count = 0
    while True:
        try:
            count += next(steps).kind == "retrieve"
        except StopIteration as ended:
            found = ended.value
            break
    spent = time.perf_counter() - started
    ran = bool(found.steps)
    return Outcome(question, single, found.sources, (seconds, spent), count, len(found.gaps), ran)


def table(outcomes: Sequence[Outcome]) -> Iterator[list[str]]:
    """Yield the rows of a half, of both halves and of each language."""
    for name, chosen in groups(outcomes):
        for way in ("single pass", "controller"):
            cells = [name, way, str(len(chosen))]
            for size in (*SIZES, None):
                found = [(one, sources_of(one, way)[:size]) for one in chosen]
                complete = sum(met(one.question, sources) == len(one.question.parts) for one, sources in found)
                interval = wilson_interval(complete, len(chosen))
                cells.append(f"{interval.mean:.0%} [{interval.low:.0%}, {interval.high:.0%}]")
            sources = sum(len(sources_of(one, way)) for one in chosen) / len(chosen)
            searches = 1 + (sum(one.searches for one in chosen) / len(chosen) if way == "controller" else 0)
            spent = [one.seconds[0] + (one.seconds[1] if way == "controller" else 0) for one in chosen]
            yield [*cells, f"{sources:.1f}", f"{searches:.1f}", f"{sorted(spent)[len(spent) // 2]:.2f} s"]


def groups(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    """Yield the questions of each half, then those of each language."""
    named: dict[str, list[Outcome]] = {}
    for half in HALVES:
        named[half] = [one for one in outcomes if one.question.half == half]
    for one in outcomes:
        named.setdefault(one.question.language, []).append(one)
    yield from ((name, chosen) for name, chosen in named.items() if chosen)


def sources_of(one: Outcome, way: str) -> tuple[Source, ...]:
    return one.single if way == "single pass" else one.controlled


def single_pass(engine: Engine, question: str) -> tuple[Evidence, float]:
    """Return what the search that every question gets finds, and its seconds."""
    started = time.perf_counter()
    return engine.search(question), time.perf_counter() - started


def fit(engine: Engine, first: Mapping[str, tuple[Evidence, float]], questions: Sequence[MultiPartQuestion]) -> None:
    """Print what other settings reach on these questions, the best first."""
    tried = []
    for support, threshold, coverage, budget in product(SUPPORT, THRESHOLDS, COVERAGE, BUDGETS):
        settings = replace(
            engine.config.controller,
            least_support=support,
            threshold=threshold,
            coverage_weight=coverage,
            agreement_weight=1 - coverage,
            budget=budget,
        )
        with changed_to(engine, settings):
            outcomes = [outcome(engine, first, one) for one in questions]
        complete = sum(met(one.question, one.controlled[: SIZES[-1]]) == len(one.question.parts) for one in outcomes)
        tried.append((complete, -sum(one.searches for one in outcomes), settings))
    for complete, cost, settings in sorted(tried, key=lambda one: one[:2], reverse=True)[:20]:
        print(f"{complete} of {len(questions)} complete, {-cost} searches: {settings}", flush=True)


@contextmanager
def changed_to(engine: Engine, settings: ControllerConfig) -> Iterator[None]:
    """Give the engine these settings of the controller for a while."""
    before = engine.config
    engine.config = replace(before, controller=settings)
    try:
        yield
    finally:
        engine.config = before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--fit", action="store_true", help="try other settings on the development half")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        every = read_questions()
        files = {one.file for one in engine.collection.snapshot().documents.values()}
        questions = held(every, files)
        if arguments.fit:
            questions = [one for one in questions if one.half == "dev"]
        first = {one.id: single_pass(engine, one.text) for one in questions}
        settings = engine.config.controller
        outcomes: list[Outcome] = []
        if arguments.fit:
            fit(engine, first, questions)
        else:
            outcomes = [outcome(engine, first, one) for one in questions]
        engine.close()
    if not outcomes:
        return
    for one in outcomes:
        single, controlled = (met(one.question, sources[: SIZES[-1]]) for sources in (one.single, one.controlled))
        print(f"{one.question.id}: {single} and {controlled} of {len(one.question.parts)} parts", flush=True)
    ran = sum(one.ran for one in outcomes)
    write_table(
        "controller",
        "Questions of several parts, by how they are searched",
        [
            "questions",
            "way",
            "asked",
            *(f"complete, first {size}" for size in SIZES),
            "complete, all",
            "sources",
            "searches",
            "median time",
        ],
        list(table(outcomes)),
        [
            machine(),
            "`python benchmarks/controller.py`: complete is a question with a right page for every part among the "
            "sources; in brackets 95% Wilson intervals.",
            f"{len(questions)} of {len(every)} questions, those whose documents the collection of {len(files)} has; "
            f"the controller ran for {ran} of them and ended with {sum(one.gaps for one in outcomes)} parts uncovered. "
            f"No language model. {settings}",
        ],
    )


if __name__ == "__main__":
    main()
