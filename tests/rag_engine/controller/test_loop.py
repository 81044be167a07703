"""The loop over a retrieval and a reader that are written by hand."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.config import ControllerConfig
from rag_engine.controller.gather import begin, merge_evidence, search_on
from rag_engine.controller.memory import Proposition, SubQuestion, WorkingMemory
from rag_engine.controller.statements import StatementReading
from rag_engine.types.evidence import ControllerStep, Evidence
from rag_engine.types.passage import PassageReading, Source
from tests.rag_engine.conftest import make_evidence, make_source
from tests.rag_engine.controller.sources import evidence_of

CONFIG = ControllerConfig(budget=4)
PARTS = (SubQuestion("Who pays?", ("who pays", "who pays for shelters")), SubQuestion("When?", ("when",)))


def reader(answered: dict[str, int], support: float = 9.0) -> Callable[..., StatementReading]:
    """Return a reader that finds a statement on a part in every source whose text holds the key."""

    def read(asked: Sequence[tuple[int, SubQuestion]], sources: Sequence[Source]) -> StatementReading:
        found = [
            Proposition(number, source.text, "en", source.place, source.document.document_id, 0, 5, support)
            for number, _ in asked
            for source in sources
            for word, about in answered.items()
            if about == number and word in source.text
        ]
        return StatementReading(tuple(found))

    return read


def run(
    first: Evidence,
    found: dict[str, Evidence],
    read: Callable[..., StatementReading],
    config: ControllerConfig = CONFIG,
) -> tuple[list[ControllerStep], WorkingMemory, list[str]]:
    """Run the loop to its end; return its steps, its memory and the queries that were issued."""
    issued: list[str] = []

    def retrieve(query: str) -> Evidence:
        issued.append(query)
        return found.get(query, replace(first, sources=(), hits=()))

    loop = search_on(begin(first, PARTS, read, config), retrieve, read, config)
    steps = []
    while True:
        try:
            steps.append(next(loop))
        except StopIteration as ended:
            return steps, ended.value, issued


@pytest.fixture
def first() -> Evidence:
    return make_evidence("Who pays, and when?", [make_source(1, "The state pays."), make_source(2, "Other matters.")])


def test_a_gap_is_searched_for_until_it_is_covered(first: Evidence) -> None:
    found = {"when": make_evidence("when", [make_source(3, "Plans are tested in May.")])}
    steps, memory, issued = run(first, found, reader({"pays": 0, "May": 1}))
    assert issued == ["when"]
    assert memory.states == ("covered", "covered")
    assert memory.confidence == 1
    assert [step.kind for step in steps] == ["plan", "retrieve", "read", "reflect", "decide"]
    assert steps[-1].subject == "resolved"


def test_what_is_found_for_one_part_may_cover_another(first: Evidence) -> None:
    found = {"who pays": make_evidence("who pays", [make_source(3, "The council gives money in May.")])}
    _, memory, issued = run(first, found, reader({"council": 0, "May": 1}))
    assert issued == ["who pays"]
    assert memory.unresolved == ()


def test_an_end_without_an_answer_leaves_the_gaps_beside_the_evidence(first: Evidence) -> None:
    steps, memory, issued = run(first, {}, reader({}))
    assert issued == ["who pays", "when", "who pays for shelters"]
    assert steps[-1].subject == "exhausted"
    gaps = merge_evidence(memory, steps, seconds=0.1).gaps
    assert [gap.question for gap in gaps] == ["Who pays?", "When?"]


@given(budget=st.integers(0, 6))
def test_the_budget_ends_the_loop_whatever_is_found(budget: int) -> None:
    config = replace(CONFIG, budget=budget)
    _, memory, issued = run(evidence_of("Who pays, and when?", ["Nothing here."]), {}, reader({}), config)
    assert memory.iteration == len(issued) <= budget


@given(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=3, max_size=3))
def test_nothing_that_was_found_is_dropped_and_the_sources_are_numbered_anew(places: list[list[int]]) -> None:
    start = evidence_of("Who pays, and when?", ["Nothing here."])
    queries = ("who pays", "when", "who pays for shelters")
    found = {
        query: evidence_of(query, [f"Text {number}." for number in numbers])
        for query, numbers in zip(queries, places, strict=True)
    }
    steps, memory, _ = run(start, found, reader({}))
    merged = merge_evidence(memory, steps, seconds=0.1)
    texts = {source.text for evidence in (start, *found.values()) for source in evidence.sources}
    assert {source.text for source in merged.sources} == texts
    assert [source.n for source in merged.sources] == list(range(1, len(texts) + 1))
    assert len(merged.hits) == len(merged.sources)


def test_what_an_index_leads_to_comes_last_and_not_twice() -> None:
    text = "The dyke was raised by half a metre. The gate is closed by hand."
    whole, other = make_source(1, text), replace(make_source(2, text[:36]), index_context=True)
    again = replace(whole, n=3, text=text[:36], end=whole.start + 36, index_context=True)
    memory = begin(make_evidence("Which dyke, and who pays?", [again, other, whole]), PARTS, reader({}), CONFIG)

    merged = merge_evidence(memory, (), seconds=0.1)

    assert [(source.n, source.text) for source in merged.sources] == [(1, whole.text), (2, other.text)]
    assert merged.hits == (merged.sources[0].hits[0],)


def test_each_part_has_its_best_source_among_the_first(first: Evidence) -> None:
    found = {"when": make_evidence("when", [make_source(3, "Plans are tested in May.")])}
    steps, memory, _ = run(first, found, reader({"pays": 0, "May": 1}))
    merged = merge_evidence(memory, steps, seconds=0.1)
    assert [source.text for source in merged.sources] == [
        "The state pays.",
        "Plans are tested in May.",
        "Other matters.",
    ]


def test_a_passage_that_was_read_for_the_question_stays_read_where_a_part_finds_it_nearer(first: Evidence) -> None:
    reading = PassageReading(3.0, 0.0, ((1000, 1015),), (3.0,), (0.0,))
    one, other = first.sources
    read = replace(one, hits=tuple(replace(hit, reading=reading) for hit in one.hits))
    nearer = replace(one, hits=tuple(replace(hit, similarity=0.95) for hit in one.hits))
    found = {"when": replace(first, sources=(nearer,))}
    _, memory, _ = run(replace(first, sources=(read, other), read=1), found, reader({"pays": 0}))
    merged = merge_evidence(memory, (), seconds=0.1)
    [hit] = next(source.hits for source in merged.sources if source.text == one.text)
    assert (hit.similarity, hit.reading) == (0.95, reading)


def test_closing_the_loop_cancels_it_before_the_next_search(first: Evidence) -> None:
    issued: list[str] = []

    def retrieve(query: str) -> Evidence:
        issued.append(query)
        return first

    read = reader({})
    loop = search_on(begin(first, PARTS, read, CONFIG), retrieve, read, CONFIG)
    assert [next(loop).kind, next(loop).kind] == ["plan", "retrieve"]
    loop.close()
    assert issued == []
