"""Questions of several parts: how often the sources of an answer have a right page for every part.

    python -m benchmarks.answers.controller [--workspace DIR] [--shared DIR] [--fit | --model [--only ID ...]]

data/eval/multi_part.tsv has the questions, their parts and the pages that answer each. The single pass is the search
that every question gets; the controller searches on for the parts that it leaves uncovered. Both are judged by the
same number of sources. A question counts where the workspace has the documents of all of its parts. `--fit` tries
other weights, thresholds and budgets on the development half, which is the only one that they may be chosen by.
`--model` lets the language model that answers (SEXTANT_OLLAMA_MODEL, ...) take the questions apart and read, and counts
its tokens; `--only` asks a few questions by their ids, which is what a model on a slow machine has the time for.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from benchmarks.retrieval.statutes import wilson_interval
from rag_engine.config import DATA, ControllerConfig
from rag_engine.controller.gather import begin, merge_evidence, search_on
from rag_engine.controller.memory import Proposition, SubQuestion
from rag_engine.controller.statements import SentenceReader, StatementReading
from rag_engine.controller.sub_questions import plan_by_rules
from rag_engine.engine import Engine
from rag_engine.types.evidence import Evidence, TokenCount
from rag_engine.types.passage import Source

QUESTIONS = DATA / "eval" / "multi_part.tsv"
HALVES = ("dev", "heldout")
# Sources that an answer is given: as many as the single pass finds, and as many as a small model's window takes.
SIZES = (5, 10)
COLUMNS = (
    *("questions", "way", "asked", *(f"complete, first {size}" for size in SIZES)),
    *("complete, all", "sources", "searches", "median time"),
)
SUPPORT = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0, 1.1)
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
class Recorded:
    """Everything that any setting of the controller could find for a question, so that each is tried fast.

    `found` has the evidence of every query of every part, `statements` the statement of each source on each part.
    `seconds` holds the time of the first search, of its reading, and of each query with its reading.
    """

    question: MultiPartQuestion
    first: Evidence
    parts: tuple[SubQuestion, ...]
    found: Mapping[str, Evidence]
    statements: Mapping[tuple[int, tuple[int, int, int]], Proposition]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Sources of the single pass and of the controller for a question, and the controller's extra cost.

    `tokens` are those of a language model, None without one and where its server counts none.
    """

    question: MultiPartQuestion
    single: tuple[Source, ...]
    controlled: tuple[Source, ...]
    seconds: tuple[float, float]
    searches: int
    gaps: int
    ran: bool
    tokens: TokenCount | None = None


def read_questions() -> list[MultiPartQuestion]:
    """Return the questions of the committed table, whose rows are their parts."""
    rows: defaultdict[tuple[str, str, str], list[tuple[str, tuple[Place, ...]]]] = defaultdict(list)
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            places = tuple(written_place(one) for one in row["places"].split(" | "))
            rows[row["id"], row["language"], row["question"]].append((row["part"], places))
    return [MultiPartQuestion(*key, tuple(parts)) for key, parts in rows.items()]


def written_place(written: str) -> Place:
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


def record(engine: Engine, question: MultiPartQuestion) -> Recorded:
    """Search for a question and its parts in every way open to the controller, and read all of it."""
    started = time.perf_counter()
    first = engine.search(question.text)
    seconds = {"first": time.perf_counter() - started, "reading": 0.0}
    tools = engine.controller_tools()
    parts = plan_by_rules(first.plan, tools.gazetteer)
    found: dict[str, Evidence] = {}
    statements: dict[tuple[int, tuple[int, int, int]], Proposition] = {}
    if len(parts) < 2:
        return Recorded(question, first, parts, found, statements, seconds)
    read, search = (
        SentenceReader(tools.embedder, tools.similarity, tools.gazetteer),
        engine.part_search(first.plan.language),
    )
    for query in ("reading", *dict.fromkeys(query for part in parts for query in part.queries)):
        started = time.perf_counter()
        evidence = first if query == "reading" else search(query)
        for one in read(tuple(enumerate(parts)), evidence.sources).propositions:
            statements.setdefault((one.about, one.place), one)
        seconds[query] = time.perf_counter() - started
        found[query] = evidence
    return Recorded(question, first, parts, found, statements, seconds)


def replayed(recorded: Recorded, settings: ControllerConfig) -> Outcome:
    """Return what the controller finds with these settings."""

    def read(asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> StatementReading:
        said = (recorded.statements.get((number, source.place)) for number, _ in asked for source in sources)
        return StatementReading(tuple(one for one in said if one is not None))

    first, seconds, parts = recorded.first, recorded.seconds, recorded.parts
    if len(parts) < 2 or not first.sources:
        return Outcome(recorded.question, first.sources, first.sources, (seconds["first"], 0.0), 0, 0, False)
    memory = begin(first, parts, read, settings)
    if not memory.unresolved:
        spent = (seconds["first"], seconds["reading"])
        return Outcome(recorded.question, first.sources, first.sources, spent, 0, 0, False)
    loop = search_on(memory, lambda query: recorded.found[query], read, settings)
    while True:
        try:
            next(loop)
        except StopIteration as ended:
            memory = ended.value
            break
    queries = [query.text for query in memory.issued if query.about is not None]
    evidence = merge_evidence(memory, (), seconds=0.0)
    return Outcome(
        recorded.question,
        first.sources,
        evidence.sources,
        (seconds["first"], sum(seconds[query] for query in ("reading", *queries))),
        len(queries),
        len(memory.unresolved),
        True,
    )


def asked_of_model(engine: Engine, question: MultiPartQuestion) -> Outcome:
    """Return what the controller finds for a question with the language model that answers."""
    started = time.perf_counter()
    first = engine.search(question.text)
    searched = time.perf_counter()
    gathering, steps = engine.gather(first), []
    while True:
        try:
            steps.append(next(gathering))
        except StopIteration as ended:
            evidence: Evidence = ended.value
            break
    return Outcome(
        question,
        first.sources,
        evidence.sources,
        (searched - started, time.perf_counter() - searched),
        sum(step.kind == "retrieve" for step in steps),
        len(evidence.gaps),
        any(step.kind == "decide" for step in steps),
        steps[-1].tokens if steps else None,
    )


def table(outcomes: Sequence[Outcome], *, counted: bool) -> Iterator[list[str]]:
    """Yield the rows of each half, both halves and each language, with a model's tokens if `counted`."""
    for name, chosen in groups(outcomes):
        for way in ("single pass", "controller"):
            cells = [name, way, str(len(chosen))]
            for size in (*SIZES, None):
                found = [(one, sources_of(one, way)[:size]) for one in chosen]
                complete = sum(met(one.question, sources) == len(one.question.parts) for one, sources in found)
                interval = wilson_interval(complete, len(chosen))
                cells.append(f"{interval.value:.0%} [{interval.low:.0%}, {interval.high:.0%}]")
            sources = sum(len(sources_of(one, way)) for one in chosen) / len(chosen)
            searches = 1 + (sum(one.searches for one in chosen) / len(chosen) if way == "controller" else 0)
            spent = [one.seconds[0] + (one.seconds[1] if way == "controller" else 0) for one in chosen]
            cells += [f"{sources:.1f}", f"{searches:.1f}", f"{sorted(spent)[len(spent) // 2]:.2f} s"]
            tokens = tokens_of(chosen) if way == "controller" else ""
            yield [*cells, tokens] if counted else cells


def tokens_of(outcomes: Sequence[Outcome]) -> str:
    """Return the mean tokens that a question cost, read and written, of those whose tokens are known."""
    known = [one.tokens for one in outcomes if one.tokens]
    if not known:
        return "none"
    read, written = sum(one.prompt for one in known), sum(one.reply for one in known)
    return f"{read / len(known):,.0f} + {written / len(known):,.0f} ({len(known)})"


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


def fit(recordings: Sequence[Recorded], settings: ControllerConfig) -> None:
    """Print what other settings reach on these questions, the best first.

    The best has more complete answers, then fewer searches.
    """
    tried = []
    for support, threshold, coverage, budget in product(SUPPORT, THRESHOLDS, COVERAGE, BUDGETS):
        other = replace(
            settings,
            least_support=support,
            threshold=threshold,
            coverage_weight=coverage,
            agreement_weight=1 - coverage,
            budget=budget,
        )
        outcomes = [replayed(one, other) for one in recordings]
        complete = sum(met(one.question, one.controlled[: SIZES[-1]]) == len(one.question.parts) for one in outcomes)
        parts = sum(met(one.question, one.controlled[: SIZES[-1]]) for one in outcomes)
        tried.append((complete, parts, -sum(one.searches for one in outcomes), other))
    for complete, parts, cost, other in sorted(tried, key=lambda one: one[:3], reverse=True)[:25]:
        print(f"{complete} of {len(recordings)} complete, {parts} parts, {-cost} searches: {other}", flush=True)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    parser.add_argument("--only", nargs="+", metavar="ID", help="with --model: ask these questions alone")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--fit", action="store_true", help="try other settings on the development half")
    ways.add_argument("--model", action="store_true", help="with the language model that answers")
    arguments = parser.parse_args()
    if arguments.only and not arguments.model:
        parser.error("--only goes with --model: without a model all questions are asked")
    unknown = set(arguments.only or ()) - {one.id for one in read_questions()}
    if unknown:
        parser.error(f"no question of {QUESTIONS.name} has the id {', '.join(sorted(unknown))}")
    return arguments


def main() -> None:
    arguments = read_arguments()
    with corpus_engine(arguments) as engine:
        every = read_questions()
        files = {one.file for one in engine.collection.snapshot().documents.values()}
        questions = held(every, files)
        if arguments.fit:
            questions = [one for one in questions if one.half == "dev"]
        if arguments.only:
            questions = [one for one in questions if one.id in arguments.only]
        settings, model = engine.config.controller, "No language model."
        recordings, outcomes = [], []
        if arguments.model:
            name = engine.models.require_language_model().name
            model = f"{name} takes the questions apart and reads; tokens are the mean "
            model += "of those read and written for a question, in brackets the questions for which they are known."
        for question in questions:
            if arguments.model:
                outcomes.append(asked_of_model(engine, question))
                continue
            recordings.append(record(engine, question))
            print(f"{question.id}: {len(recordings[-1].parts)} parts by rules for {len(question.parts)}", flush=True)
    if arguments.fit:
        fit(recordings, settings)
        return
    outcomes += [replayed(one, settings) for one in recordings]
    for one in outcomes:
        single, controlled = (met(one.question, sources[: SIZES[-1]]) for sources in (one.single, one.controlled))
        print(f"{one.question.id}: {single} and {controlled} of {len(one.question.parts)} parts", flush=True)
    ran = sum(one.ran for one in outcomes)
    write_table(
        "controller_model" if arguments.model else "controller",
        f"Questions of several parts, by how they are searched{' with a language model' if arguments.model else ''}",
        [*COLUMNS, *(["tokens"] if arguments.model else [])],
        list(table(outcomes, counted=arguments.model)),
        [
            machine(),
            "`python -m benchmarks.answers.controller`: complete is a question with a right page for every part among "
            "the sources; in brackets 95% Wilson intervals.",
            f"{len(questions)} of {len(every)} questions, {'chosen by their ids' if arguments.only else 'those'} whose "
            f"documents the collection of {len(files)} has; "
            f"the controller ran for {ran} of them and ended with {sum(one.gaps for one in outcomes)} parts uncovered. "
            f"{model} {settings}",
        ],
    )


if __name__ == "__main__":
    main()
