"""A search finds every passage with its words, and names the filter that excludes everything."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.answering_documents import live_counts
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import InputError
from rag_engine.filters import Filter
from rag_engine.passage_search.describe import describe_found, describe_matching, describe_refusal
from rag_engine.passage_search.facet_counts import excluding_facets, worded_documents
from rag_engine.passage_search.find import NEAREST, find_passages, in_order
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.passages import citation_of, read_passages
from tests.rag_engine.passage_search.conftest import REPORTS


def files(engine: Engine, query: PassageQuery) -> list[str]:
    return [group.document.file for group in find_passages(engine, query).documents]


def test_every_passage_with_the_words_is_found_without_a_cap(reports: Engine) -> None:
    holding = {
        child.key
        for record in reports.collection.documents()
        for child in reports.catalog.document_children(record.key)
        if "sluice" in child.text
    }
    found = find_passages(reports, PassageQuery("open sluices"))
    assert len(holding) > 50
    assert {match.key for match in found.matches if match.worded} == holding
    assert found.worded == len(holding)
    assert len(found.documents) >= REPORTS
    assert [match.rank for match in found.matches] == list(range(1, len(found) + 1))


def test_what_holds_not_all_of_the_words_is_near_in_meaning_and_limited(reports: Engine) -> None:
    found = find_passages(reports, PassageQuery("grass sluice"))
    assert found.worded == 0
    assert 0 < len(found) <= NEAREST
    assert "No passage contains all of these words." in describe_found(found)
    assert not len(find_passages(reports, PassageQuery("grass sluice", words_only=True)))


def test_a_question_in_another_language_finds_by_meaning(plans: Engine) -> None:
    found = find_passages(plans, PassageQuery("Überflutung und Räumung von Häusern"))
    assert found.language == "de"
    assert not found.documents
    assert found.near[0].document.file == "flood.md"


def test_the_words_are_marked_and_the_nearest_sentence_holds_one(plans: Engine) -> None:
    found = find_passages(plans, PassageQuery("livelli di allerta"))
    [passage] = [one for one in read_passages(plans, found, found.matches) if one.match.worded]
    assert passage.match.rank == 1
    text = passage.hit.text
    assert {text[start:end] for start, end in passage.marks} == {"livelli", "allerta", "livello"}
    assert passage.quote == "Il piano prevede tre livelli di allerta."
    citation = citation_of(plans, passage)
    assert (citation.page, citation.file, citation.quote) == (1, "caldo.md", passage.quote)
    assert plans.catalog.text(passage.hit.document.key)[citation.start : citation.end] == passage.quote


def test_an_excerpt_tells_key_words_and_the_nearest_sentence_apart(plans: Engine) -> None:
    found = find_passages(plans, PassageQuery("livelli di allerta"))
    passage = next(read_passages(plans, found, found.matches))
    pieces = passage.excerpt(10_000)
    assert "".join(text for text, _, _ in pieces) == passage.hit.text
    assert "".join(text for text, _, near in pieces if near) == passage.quote
    assert ("allerta", True, True) in pieces
    assert ("livello", True, False) in pieces


def test_without_words_the_documents_of_a_filter_are_listed_newest_first(plans: Engine) -> None:
    wanted = {"year": ("2010-2025",)}
    assert files(plans, PassageQuery(wanted=wanted)) == ["caldo.md", "flood.md", "duerre.md"]
    found = find_passages(plans, PassageQuery(wanted=wanted | {"dated": ("only",)}))
    assert [group.document.file for group in found.documents] == ["caldo.md", "flood.md"]
    first = [passage.hit.start for passage in read_passages(plans, found, found.matches)]
    assert first == [0, 0]
    assert describe_found(found) == "2 documents, newest first, each with its first passage."
    assert describe_matching(found) == "2 of 3 documents match"


def test_by_date_the_newest_document_with_the_words_comes_first_and_the_merely_near_last(plans: Engine) -> None:
    query = PassageQuery("piano 2015", sort="date")
    assert files(plans, PassageQuery("plan", sort="relevance")) != []
    groups = find_passages(plans, query).groups
    dates = [(group.worded > 0, group.document.metadata.year or 0) for group in groups]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.parametrize("words", ["piano 2015", "plan", ""])
def test_what_was_found_is_put_in_another_order_as_a_search_in_that_order_finds_it(plans: Engine, words: str) -> None:
    near, dated = (PassageQuery(words, {"year": ("1900-2030",)}, sort=sort) for sort in ("relevance", "date"))
    for before, after in ((near, dated), (dated, near)):
        turned, found = in_order(find_passages(plans, before), after), find_passages(plans, after)
        assert turned.documents == found.documents
        assert turned.matches == found.matches


def test_a_filter_holds_and_one_that_excludes_the_words_is_named(plans: Engine) -> None:
    query = PassageQuery("Talsperren", {"language": ("it",)}, words_only=True)
    found = find_passages(plans, query)
    assert not len(found)
    assert found.allowed == 1
    [obstacle] = excluding_facets(plans, query)
    assert (obstacle.name, obstacle.documents) == ("language", 1)
    assert describe_refusal([obstacle], found) == (
        "No passage matches. Language Italian excludes the only document that would match without it."
    )


@pytest.mark.parametrize("words", ["piano", "Überflutung und Räumung von Häusern", "plan"])
@pytest.mark.parametrize("chosen", [{}, {"language": ("it",)}, {"hazard": ("Flood",), "language": ("it",)}])
@pytest.mark.parametrize("words_only", [True, False])
def test_a_count_is_what_is_found_when_the_value_is_chosen(
    plans: Engine, words: str, chosen: Filter, *, words_only: bool
) -> None:
    query, snapshot = PassageQuery(words, chosen, words_only=words_only), plans.collection.snapshot()
    hits = worded_documents(plans, find_passages(plans, query))
    counts = live_counts(chosen, snapshot.facets, snapshot.documents, lambda keys: len(hits.intersection(keys)))
    for name, value in [("language", "en"), ("language", "it"), ("hazard", "Flood")]:
        found = find_passages(plans, query.with_values(name, (value,)))
        assert counts[name].get(value, 0) == len(found.documents) == found.matching


def test_a_filter_that_excludes_every_document_is_named_with_the_others_kept(plans: Engine) -> None:
    query = PassageQuery("plan", {"hazard": ("Flood",), "country": ("Atlantis",)})
    found = find_passages(plans, query)
    obstacles = excluding_facets(plans, query)
    assert not found.allowed
    assert describe_refusal(obstacles, found) == (
        "No document matches your filters. Country Atlantis excludes the only document that would match without it."
    )
    both = PassageQuery("plan", {"hazard": ("Volcano",), "country": ("Atlantis",)})
    assert "No single filter is the reason" in describe_refusal(
        excluding_facets(plans, both), find_passages(plans, both)
    )


def test_an_unknown_filter_and_a_search_without_a_word_are_refused(plans: Engine) -> None:
    with pytest.raises(InputError, match="no filter 'colour'"):
        find_passages(plans, PassageQuery("plan", {"colour": ("red",)}))
    with pytest.raises(InputError, match="no word"):
        find_passages(plans, PassageQuery("?!"))


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(read_config(tmp_path))
    yield engine
    engine.close()


def test_an_empty_collection_has_no_passage(empty: Engine) -> None:
    found = find_passages(empty, PassageQuery("flood"))
    assert (len(found), found.held, found.matches) == (0, 0, ())


def test_without_its_keyword_index_a_search_is_by_meaning_and_says_so(small_workspace: Path, tmp_path: Path) -> None:
    workspace = shutil.copytree(small_workspace, tmp_path / "workspace")
    for file in (workspace / "index").rglob("meta.json"):
        file.unlink()
    engine = open_engine(read_config(workspace))
    found = find_passages(engine, PassageQuery("When do residents near the dyke leave?"))
    engine.close()
    assert found.worded == 0
    assert found.near[0].document.file == "flood.md"
    [warning] = found.warnings
    assert "Searched by meaning only" in warning
