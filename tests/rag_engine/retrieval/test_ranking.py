"""The order of children: what the question names, what refers, what a reader or a reranker thinks."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.protocols import PassageReader, Reranker
from rag_engine.retrieval.ranking import Ranked, rank
from rag_engine.retrieval.scores import near_sentences
from rag_engine.retrieval.tuning import READ, READ_AFTER, READ_WHOLE, WINDOW
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.passage import IndexListing
from tests.rag_engine.conftest import AwayEmbedder, CountingEmbedder
from tests.rag_engine.small_collection import ByHand, ReadingByHand, Written, indexed

SANDBAGS = "Where do volunteers stack the sandbags?"
NAMED = "Does Article 3 of the Dyke Protection Act leave what is left of a house to its owners?"

DYKES, INSURANCE = "Dyke Protection Act", "Flood Insurance Act"
Rank = Callable[..., Ranked]


@pytest.fixture(scope="module")
def ranked(engine: Engine) -> Rank:
    """Return the ranking of a question, with changed settings and with models if given."""

    def ranking(
        question: str,
        *,
        language: str = "en",
        reranker: Reranker | None = None,
        reader: PassageReader | None = None,
        allowed: frozenset[int] | None = None,
        of: Engine = engine,
        **changes: object,
    ) -> Ranked:
        asked = replace(
            of.retrievers(),
            reranker=lambda: reranker,
            reader=lambda: reader,
        )
        changes = {"rerank": bool(reranker or reader), **changes}
        plan = QueryPlan(question, language, (question,))
        return rank(plan, allowed, of.collection.view(), asked, of.retrieval(**changes))

    return ranking


@pytest.fixture(scope="module")
def place_of(engine: Engine) -> Callable[[int], str]:
    """Document and section of a child."""

    def place(key: int) -> str:
        child = engine.catalog.children([key])[key]
        title = engine.collection.snapshot().documents[child.document_key].metadata.title
        return f"{title}, {child.parent.section}" if child.parent.section else title

    return place


@pytest.fixture(scope="module")
def order(ranked: Rank, place_of: Callable[[int], str]) -> Callable[..., list[str]]:
    """Document and section of every child of the ranking, best first."""
    return lambda question, **changes: [place_of(key) for key in ranked(question, **changes).keys.tolist()]


@pytest.fixture(scope="module")
def gained(ranked: Rank, place_of: Callable[[int], str]) -> Callable[..., dict[str, float]]:
    """Score of each child of the ranking."""

    def scores(question: str, **changes: object) -> dict[str, float]:
        found = ranked(question, **changes)
        return {place_of(key): score for key, score in zip(found.keys.tolist(), found.scores.tolist(), strict=True)}

    return scores


def test_the_article_that_the_question_names_comes_before_one_that_shares_more_words(
    order: Callable[..., list[str]],
) -> None:
    assert order(NAMED, provenance_weight=0.0)[0] == f"{INSURANCE}, Article 3"
    assert order(NAMED)[0] == f"{DYKES}, Article 3"


def test_the_article_of_that_number_in_another_act_gains_nothing(
    ranked: Rank, place_of: Callable[[int], str], gained: Callable[..., dict[str, float]]
) -> None:
    bonus = {place_of(key): value for key, value in ranked(NAMED, provenance_weight=0.2).provenance.items()}
    assert bonus[f"{DYKES}, Article 3"] == pytest.approx(0.2)
    assert bonus[f"{DYKES}, Article 1"] == pytest.approx(0.1)
    assert not any(place.startswith(INSURANCE) for place in bonus)
    before, after = gained(NAMED, provenance_weight=0.0), gained(NAMED)
    assert after[f"{INSURANCE}, Article 3"] == before[f"{INSURANCE}, Article 3"]


def test_an_article_named_without_its_act_gains_in_every_act(ranked: Rank, place_of: Callable[[int], str]) -> None:
    bonus = {place_of(key) for key in ranked("What does Article 4 say?").provenance}
    assert bonus == {f"{DYKES}, Article 4", f"{INSURANCE}, Article 4"}


def test_an_article_of_an_act_that_was_not_found_is_none_of_those_that_were(engine: Engine) -> None:
    [dykes] = [record.key for record in engine.collection.documents() if record.metadata.title == DYKES]
    question = "What does Article 4 of the Flood Insurance Act say?"
    plan, view = QueryPlan(question, "en", (question,)), engine.collection.view()
    found = rank(plan, {dykes}, view, engine.retrievers(), engine.retrieval(rerank=False))
    assert len(found.keys)
    assert found.provenance == {}


def test_a_question_that_names_nothing_leaves_every_score_alone(gained: Callable[..., dict[str, float]]) -> None:
    assert gained(SANDBAGS) == gained(SANDBAGS, provenance_weight=0.0, index_weight=0.0)


@pytest.mark.parametrize("profile", ["default", "rrf"])
def test_what_an_index_lists_gains_its_weight_on_a_scale_on_which_the_best_has_one(ranked: Rank, profile: str) -> None:
    question = "Where do volunteers stack the sandbags below the freeboard?"
    plain, found = (
        ranked(question, profile=profile, index_weight=0.0),
        ranked(question, profile=profile, index_weight=0.1),
    )
    [key] = found.listed
    assert plain.scores[0] == pytest.approx(1.0)
    before = dict(zip(plain.keys.tolist(), plain.scores.tolist(), strict=True))
    after = dict(zip(found.keys.tolist(), found.scores.tolist(), strict=True))
    assert after[key] - before[key] == pytest.approx(0.1)
    assert found.keys[0] == plain.keys[0] != key, "a passage that answers stays before one that is only listed"


def test_a_passage_elsewhere_on_a_listed_page_gains_half(ranked: Rank, engine: Engine) -> None:
    question = "What does the siren on the roof tell the keeper of the freeboard?"
    plain, found = ranked(question, index_weight=0.0), ranked(question, index_weight=0.2)
    before = dict(zip(plain.keys.tolist(), plain.scores.tolist(), strict=True))
    rise = {
        key: round(score - before[key], 6)
        for key, score in zip(found.keys.tolist(), found.scores.tolist(), strict=True)
    }
    [listed] = found.listed
    beside = [key for key, gain in rise.items() if gain == pytest.approx(0.1)]
    pages = {key: (record.page, record.last_page) for key, record in engine.catalog.children(rise).items()}
    assert rise[listed] == pytest.approx(0.2)
    assert beside
    assert all(pages[key][0] <= 2 <= pages[key][1] for key in beside)
    assert sum(gain != 0.0 for gain in rise.values()) == 1 + len(beside)


def test_a_long_question_is_answered_by_what_answers_one_piece_of_it(order: Callable[..., list[str]]) -> None:
    facts = "The court heard that the tenant of the mill had left the district before the harvest. " * 40
    asked = "The tenant asks where volunteers stack the sandbags by the bridge. " * 20
    assert order(facts + asked, retrievers="dense")[0] == "Notice of May"


def test_what_no_retriever_finds_is_found_where_an_index_lists_it(ranked: Rank, engine: Engine) -> None:
    found = ranked("freeboard", retrievers="sparse")
    [key] = found.keys.tolist()
    assert "the keeper opens the gate" in engine.catalog.children([key])[key].text
    assert [place.listing for place in found.listed[key]] == [IndexListing("freeboard", 2)]
    assert ranked("freeboard", retrievers="sparse", index_weight=0.0).keys.tolist() == []


def test_of_two_passages_that_say_the_same_one_comes_later_with_mmr(order: Callable[..., list[str]]) -> None:
    assert order(SANDBAGS)[:3] == ["Notice of May", "Notice of June", "Report"]
    assert order(SANDBAGS, mmr_lambda=0.5)[:3] == ["Notice of May", "Report", "Notice of June"]
    assert order(SANDBAGS, mmr_lambda=1.0) == order(SANDBAGS)


def reads_reports(text: str) -> float:
    return 1.0 if "half had burst" in text else 0.0


def test_what_the_reranker_thinks_better_rises_by_its_weight(order: Callable[..., list[str]], ranked: Rank) -> None:
    reader = ByHand(reads_reports)
    assert order(SANDBAGS, reranker=reader, rerank_weight=0.9)[0] == "Report"
    assert order(SANDBAGS, reranker=reader, rerank_weight=0.1)[0] == "Notice of May"
    found = ranked(SANDBAGS, reranker=reader, rerank_weight=0.1)
    assert sorted(found.reranked.values())[-2:] == [0.0, 1.0], "its own scores, not the mix"
    assert found.warnings == ()


def test_a_reader_orders_where_no_cross_encoder_does(order: Callable[..., list[str]], ranked: Rank) -> None:
    reader = ReadingByHand(reads_reports)
    assert order(SANDBAGS, reader=reader, rerank_weight=0.9)[0] == "Report"
    assert order(SANDBAGS, reader=reader, rerank_weight=0.1)[0] == "Notice of May"
    found = ranked(SANDBAGS, reader=reader, rerank_weight=0.1)
    assert found.reranked == {key: reading.relevance for key, reading in found.readings.items()}
    assert found.warnings == ()


def test_the_reader_reads_the_best_once(ranked: Rank) -> None:
    reader = ReadingByHand(len)
    found = ranked(SANDBAGS, reader=reader)
    assert len(found.keys) > READ
    assert len(reader.scored) == len(set(reader.scored)) == len(found.readings) == READ
    assert found.readings.keys() == set(ranked(SANDBAGS).keys[:READ].tolist())


def test_after_a_cross_encoder_has_ordered_the_reader_reads_the_best_eight(
    order: Callable[..., list[str]], ranked: Rank, engine: Engine
) -> None:
    crossing, reader = ByHand(reads_reports), ReadingByHand(lambda text: float("Volunteers" in text))
    models = {"reranker": crossing, "reader": reader, "rerank_weight": 0.9}
    assert order(SANDBAGS, **models)[0] == order(SANDBAGS, reranker=crossing, rerank_weight=0.9)[0] == "Report"
    reader.scored.clear()
    found = ranked(SANDBAGS, **models)
    assert len(reader.scored) == READ_AFTER
    assert set(found.readings) == set(found.keys[:READ_AFTER].tolist())
    assert sorted(set(found.reranked.values())) == [0.0, 1.0], "the cross-encoder's scores, not the reader's"


def test_of_a_long_passage_the_reader_reads_what_is_around_its_nearest_sentence(ranked: Rank, engine: Engine) -> None:
    reader = ReadingByHand(len)
    found = ranked("When does the keeper open the gate by hand?", reader=reader)
    children = engine.catalog.children(found.readings)
    long = {key: child for key, child in children.items() if len(child.text) > WINDOW}
    assert long
    for key, child in long.items():
        [(start, end)] = found.readings[key].tokens
        begin = child.parent.start + child.start
        near = near_sentences(found.found.of_question(), "en", [child], engine.collection.view())
        nearest = max(near[key], key=lambda sentence: sentence.nearness)
        assert begin <= start <= nearest.start < nearest.end <= end <= begin + len(child.text)
        assert end - start <= WINDOW
        assert engine.catalog.text(child.document_key)[start:end] in reader.scored


@pytest.fixture(scope="module")
def long_document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield an engine over a document of more passages than are read, and another document."""
    pages = tuple(f"Section {n} tells how gate number {n} of the dyke is opened. " * 30 for n in range(60))
    written = (Written("Handbook", pages), Written("Leaflet", ("The dyke has gates.",)))
    engine = indexed(tmp_path_factory.mktemp("long") / "workspace", CountingEmbedder(), written)
    yield engine
    engine.close()


def test_a_document_that_is_asked_by_itself_is_read_to_its_end(ranked: Rank, engine: Engine) -> None:
    for record in engine.collection.documents():
        reader = ReadingByHand(len)
        found = ranked(SANDBAGS, reader=reader, allowed=frozenset({record.key}))
        texts = [child.text for child in engine.catalog.document_children(record.key)]
        assert sorted(reader.scored) == sorted(texts), "each passage whole, however long"
        assert len(found.readings) == record.children == len(texts)


def test_of_a_long_document_the_best_forty_passages_are_read(ranked: Rank, long_document: Engine) -> None:
    [handbook] = [one for one in long_document.collection.documents() if one.metadata.title == "Handbook"]
    assert handbook.children > READ_WHOLE
    reader = ReadingByHand(len)
    question = "How is gate number 7 opened?"
    found = ranked(question, reader=reader, of=long_document, allowed=frozenset({handbook.key}))
    assert len(reader.scored) == len(found.readings) == READ_WHOLE
    both = ranked(question, reader=reader, of=long_document)
    assert len(both.readings) == READ


def test_a_reranker_that_is_nowhere_leaves_the_order_and_it_is_said(engine: Engine, ranked: Rank) -> None:
    def nowhere() -> Reranker:
        raise BackendError("Reranker 'x' is nowhere.", help="Give another.")

    retrievers = replace(engine.retrievers(), reranker=nowhere)
    plan, view = QueryPlan(SANDBAGS, "en", (SANDBAGS,)), engine.collection.view()
    found = rank(plan, None, view, retrievers, engine.retrieval(rerank=True))
    assert found.keys.tolist() == ranked(SANDBAGS).keys.tolist()
    assert found.warnings == ("Not reranked: Reranker 'x' is nowhere. Give another.",)


def breaks_off(text: str) -> float:
    raise BackendError("Reranker by hand broke off.")


def dies(text: str) -> float:
    raise RuntimeError("Infer Request is busy")


def gives_nothing(text: str) -> float:
    return float("nan")


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (breaks_off, "Reranker by hand broke off."),
        (dies, "Infer Request is busy"),
        (gives_nothing, "by hand did not give one number for each passage."),
    ],
)
def test_where_a_cross_encoder_fails_the_reader_orders_and_it_is_said(
    ranked: Rank, of: Callable[[str], float], why: str
) -> None:
    reader = ReadingByHand(reads_reports)
    found = ranked(SANDBAGS, reranker=ByHand(of), reader=reader, rerank_weight=0.9)
    assert found.keys.tolist() == ranked(SANDBAGS, reader=reader, rerank_weight=0.9).keys.tolist()
    assert found.warnings == (f"Not reranked: {why}",)
    alone = ranked(SANDBAGS, reranker=ByHand(of), rerank_weight=0.9)
    assert alone.keys.tolist() == ranked(SANDBAGS).keys.tolist()
    assert alone.warnings == (f"Not reranked: {why}",)


@pytest.mark.parametrize(("of", "why"), [(breaks_off, "Reranker by hand broke off."), (dies, "Infer Request is busy")])
def test_where_the_reader_fails_the_order_stays_and_it_is_said(
    ranked: Rank, of: Callable[[str], float], why: str
) -> None:
    said = (f"The passages were not read closely: {why}",)
    found = ranked(SANDBAGS, reader=ReadingByHand(of))
    assert (found.keys.tolist(), found.readings) == (ranked(SANDBAGS).keys.tolist(), {})
    assert found.warnings == said
    crossing = ByHand(reads_reports)
    crossed = ranked(SANDBAGS, reranker=crossing, reader=ReadingByHand(of), rerank_weight=0.9)
    assert crossed.keys.tolist() == ranked(SANDBAGS, reranker=crossing, rerank_weight=0.9).keys.tolist()
    assert crossed.warnings == said


@pytest.mark.parametrize("language", ["en", "de"])
def test_passages_in_every_language_are_read_whatever_the_questions_is(
    ranked: Rank, place_of: Callable[[int], str], language: str
) -> None:
    question = "Who fills Sandsäcke at the Rathaus? Wer füllt die Sandsäcke?"
    for models in ({"reader": ReadingByHand(len)}, {"reranker": ByHand(len)}):
        found = ranked(question, language=language, **models)
        assert {"Merkblatt", "Notice of May"} <= {place_of(key) for key in found.reranked}


def test_the_paper_recipe_asks_neither_an_index_nor_a_reranker(ranked: Rank) -> None:
    question = "Where do volunteers stack the sandbags, freeboard, Article 3?"
    crossing, reader = ByHand(reads_reports), ReadingByHand(reads_reports)
    found = ranked(question, reranker=crossing, reader=reader, profile="paper")
    assert crossing.scored == reader.scored == []
    assert (found.listed, found.provenance, found.reranked, found.readings) == ({}, {}, {}, {})


def test_without_the_encoder_what_is_named_still_leads(engine: Engine, place_of: Callable[[int], str]) -> None:
    retrievers = replace(engine.retrievers(), embedder=AwayEmbedder)
    found = rank(QueryPlan(NAMED, "en", (NAMED,)), None, engine.collection.view(), retrievers, engine.retrieval())
    assert place_of(int(found.keys[0])) == f"{DYKES}, Article 3"
    assert found.cosines.tolist() == [0.0] * len(found.keys)


WORDS = "dyke|map|sandbags|volunteers|freeboard|alarm|house|premium|siren|Rathaus|Sandsäcke|WHO|%|ß|" + (
    'Article 3|Dyke Protection Act|safety margin|"stacked in May"'
)
words = st.lists(st.sampled_from(WORDS.split("|")), max_size=6).map(" ".join)
settings_of_retrieval = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(["default", "rrf", "paper"]),
        "retrievers": st.sampled_from(["both", "dense", "sparse"]),
        "candidates": st.integers(1, 12),
        "top_k": st.integers(1, 5),
        "language_scale": st.booleans(),
        "rerank": st.booleans(),
    }
)


@settings(max_examples=60, deadline=None)
@given(words, st.sets(st.integers(1, 9)), st.booleans(), settings_of_retrieval, st.sampled_from(["en", "de", "tr"]))
def test_every_ranking_keeps_to_the_filter_and_descends_with_each_child_once(
    engine: Engine, question: str, chosen: set[int], filtered: bool, changes: dict[str, object], language: str
) -> None:
    plan = QueryPlan(question, language, (question or "dyke",), keywords=("Act",))
    allowed = frozenset(chosen) if filtered else None
    reader = ReadingByHand(len)
    asked = replace(engine.retrievers(), reader=lambda: reader)
    found = rank(plan, allowed, engine.collection.view(), asked, engine.retrieval(**changes))
    keys, scores = found.keys.tolist(), found.scores.tolist()
    assert len(set(keys)) == len(keys) == len(scores) == len(found.owners) == len(found.cosines)
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()
    assert allowed is None or set(found.owners.tolist()) <= allowed
    assert found.listed.keys() <= set(keys)
    assert found.readings.keys() <= set(keys)
    assert len(found.readings) == len(reader.scored) <= READ
    assert found.warnings == ()
