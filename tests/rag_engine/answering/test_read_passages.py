"""Passages that no search has read: each is read once, the best of every source before the others."""

from collections.abc import Sequence
from dataclasses import replace

from rag_engine.retrieval.rerank_passages import read_passages
from rag_engine.retrieval.tuning import READ, WINDOW
from rag_engine.types.passage import NearSentence, PassageReading
from tests.rag_engine.conftest import make_evidence, make_source
from tests.rag_engine.small_collection import ReadingByHand

DYKE = "The water authority inspects every dyke twice a year. "
LUNCH = "Lunch is served in the garden when the weather allows. "


def halves(n: int) -> tuple[str, Sequence[tuple[int, int]]]:
    """Return a text of two passages, and their places."""
    return f"First {n}. Second {n}.", [(0, len(f"First {n}.")), (len(f"First {n}. "), len(f"First {n}. Second {n}."))]


def test_the_best_passages_of_all_sources_are_read_before_a_second_one_of_any() -> None:
    sources = [make_source(n, halves(n)[0], hits=halves(n)[1]) for n in range(1, READ)]
    evidence = make_evidence("Which?", sources)
    evidence = replace(evidence, hits=tuple(source.hits[0] for source in evidence.sources))
    reader = ReadingByHand(len)
    read = read_passages(evidence, reader)
    assert reader.scored == [*(f"First {n}." for n in range(1, READ)), "Second 1."]
    assert read.read == READ
    assert all(hit.reading for hit in read.hits)
    assert [source.hits[0] for source in read.sources] == list(read.hits)


def test_what_was_read_is_not_read_again() -> None:
    known = PassageReading(5.0, 0.0, (), (), ())
    first = make_source(1, DYKE)
    first = replace(first, hits=tuple(replace(hit, reading=known) for hit in first.hits))
    reader = ReadingByHand(len)
    read = read_passages(replace(make_evidence("Which?", [first, make_source(2, LUNCH)]), read=1), reader)
    assert reader.scored == [LUNCH]
    assert (read.hits[0].reading, read.read) == (known, 2)
    again = read_passages(read, reader)
    assert (reader.scored, again) == ([LUNCH], read)


def test_a_long_passage_is_read_around_its_nearest_sentence_at_the_places_of_its_document() -> None:
    text = LUNCH * 30 + DYKE + LUNCH * 30
    source = make_source(1, text)
    start = source.start + text.index(DYKE)
    near = (NearSentence(start, start + len(DYKE) - 1, 3.0), NearSentence(source.start, source.start + 50, 1.0))
    source = replace(source, sentences=near)
    reader = ReadingByHand(len)
    [hit] = read_passages(make_evidence("Which?", [source]), reader).hits
    [window] = reader.scored
    assert hit.reading is not None
    [(first, last)] = hit.reading.tokens
    assert DYKE.strip() in window
    assert len(window) <= WINDOW
    assert window == text[first - source.start : last - source.start]
