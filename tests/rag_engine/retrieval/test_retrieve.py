"""From a question to the passages that an analyst reads; where meaning decides, by the real encoder."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.engine import Engine
from rag_engine.protocols import Embedder
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.tuning import READ
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Hit, IndexListing
from tests.rag_engine.conftest import AwayEmbedder, CountingEmbedder, unread
from tests.rag_engine.small_collection import ReadingByHand, Written, document_of, indexed

SANDBAGS = "Where do volunteers stack the sandbags?"
FREEBOARD = "Who opens the gate by hand when the lake eats the freeboard?"

# The first answers in one sentence among others, the second only talks of the same topic all the time.
ANSWERS = Written(
    "Town notes",
    (
        "The library lends books for four weeks. Dogs are kept on a leash in the park. Water from the wells must be "
        "boiled for ten minutes before it is drunk. The mayor speaks on Monday.",
    ),
)
TALKS = Written(
    "Leaflet",
    (
        "Wells are an old custom of the hills. Every farm drinks from a well. Painters love the wells. A walk leads "
        "from well to well, and songs praise their water.",
    ),
)
# One decree in two languages, beside other English decrees of the same kind.
EVACUATION = (
    "Hospitals keep a plan for moving patients out. The plan names the vehicles, the hospitals that take the patients "
    "in, and who decides. It is practised once a year together with the fire service."
)
RAEUMUNG = (
    "Krankenhäuser halten einen Plan für die Verlegung der Patienten bereit. Der Plan nennt die Fahrzeuge, die "
    "aufnehmenden Krankenhäuser und wer entscheidet. Er wird einmal im Jahr mit der Feuerwehr geübt."
)
OTHERS = (
    "Schools keep a list of the pupils who are to be fetched. The list is renewed each autumn. Teachers wait with the "
    "pupils until everyone was fetched, and report to the head of the school.",
    "Hospitals keep generators that run for three days. The generators are tested each month under full load, and the "
    "fuel is renewed every second year by a contractor.",
    "Fire services keep boats for floods. The boats lie in trailers, and every volunteer learns how to steer them. "
    "Boats are lent to neighbours who ask for them.",
    "Pharmacies keep a store of medicines for two weeks. The store is counted by an inspector every quarter, who "
    "writes to the ministry what is missing.",
)
DECREES = (
    Written("Evacuation decree", (EVACUATION,)),
    Written("Erlass zur Räumung", (RAEUMUNG,), "de"),
    Written("Hundeverordnung", ("Hunde sind an der Leine zu führen. Der Halter zahlt eine jährliche Steuer.",), "de"),
    *(Written(f"Decree {number}", (text,)) for number, text in enumerate(OTHERS, start=2)),
)

Search = Callable[..., Evidence]


@pytest.fixture(scope="module")
def understanding(meaning: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield a collection indexed by the real encoder."""
    engine = indexed(tmp_path_factory.mktemp("meaning") / "workspace", meaning, (ANSWERS, TALKS, *DECREES), reads=True)
    yield engine
    engine.close()


def titles(evidence: Evidence) -> list[str]:
    return [source.document.metadata.title for source in evidence.sources]


def listed(evidence: Evidence) -> list[Hit]:
    return [hit for source in evidence.sources for hit in source.hits if hit.indexed_under]


def test_a_passage_comes_with_what_it_refers_to(engine: Engine) -> None:
    best = engine.search("How does the authority map every dyke?").sources[0]
    assert best.section == "Article 2"
    [linked] = best.linked
    assert linked.label == "Article 1"
    assert linked.text == engine.catalog.text(linked.document.key)[linked.start : linked.end]
    assert "a wall of earth" in linked.text
    assert engine.search(SANDBAGS).sources[0].linked == ()


def test_every_named_article_is_read_first_whatever_the_cap_and_the_floor(engine: Engine) -> None:
    question = "What do Articles 1, 3 and 4 of the Flood Insurance Act say?"
    found = engine.search(question, retrieval=engine.retrieval(similarity_floor=1.0))
    assert [(source.act, source.section) for source in found.sources][:3] == [
        ("Flood Insurance Act", f"Article {number}") for number in (1, 3, 4)
    ]


def test_a_named_article_is_read_first_and_says_what_it_gained(engine: Engine) -> None:
    best = engine.search("Does Article 3 of the Dyke Protection Act leave what is left of a house to its owners?").hits[
        0
    ]
    assert (best.act, best.section) == ("Dyke Protection Act", "Article 3")
    assert best.provenance == engine.config.retrieval.weights.provenance_weight


def test_a_passage_that_an_index_lists_says_under_which_entry(engine: Engine) -> None:
    [hit] = listed(engine.search(FREEBOARD))
    assert hit.indexed_under == ("listed in the index under “freeboard”",)
    assert hit.page <= 2 <= hit.last_page
    assert "freeboard" not in hit.text
    assert listed(engine.search(FREEBOARD, None, engine.retrieval(index_weight=0.0))) == []


def test_an_entry_that_refers_to_another_leads_there_and_says_so(engine: Engine) -> None:
    [hit] = listed(engine.search("Who opens the gate by hand to keep the safety margin of the lake?"))
    assert hit.indexed_under == ("listed in the index under “freeboard”, to which “safety margin” refers",)


def test_a_source_into_which_an_index_leads_says_so(engine: Engine) -> None:
    [source] = [one for one in engine.search(FREEBOARD).sources if one.listed]
    assert (source.listed, source.index_context) == ((IndexListing("freeboard", 2),), False)


def test_what_an_index_lists_is_read_after_the_best_and_in_nobodys_place(engine: Engine) -> None:
    question = f"{SANDBAGS} Is that of any use for the freeboard?"
    without = engine.search(question, None, engine.retrieval(top_k=2, index_weight=0.0, similarity_floor=0.0))

    found = engine.search(question, None, engine.retrieval(top_k=2, similarity_floor=0.0))

    *best, added = found.sources
    assert [source.text for source in best] == [source.text for source in without.sources]
    assert found.hits == tuple(source.hits[0] for source in best)
    assert (added.n, added.index_context, added.listed) == (3, True, (IndexListing("freeboard", 2),))
    assert added.text == engine.catalog.text(added.document.key)[added.start : added.end]
    assert (added.hits[0].text, added.hits[0].start) == (added.text, added.start)


def test_sources_and_ranks_count_from_one(engine: Engine) -> None:
    evidence = engine.search(SANDBAGS, None, engine.retrieval(similarity_floor=0.0))
    assert [source.n for source in evidence.sources] == list(range(1, len(evidence.sources) + 1))
    assert (evidence.hits[0].dense_rank, evidence.hits[0].sparse_rank) == (1, 1)
    hits = [hit for source in evidence.sources for hit in source.hits]
    assert min(hit.dense_rank for hit in hits if hit.dense_rank is not None) == 1


@pytest.mark.parametrize("profile", ["default", "rrf", "paper"])
def test_every_fusion_finds_the_passage_that_holds_the_words(engine: Engine, profile: str) -> None:
    evidence = engine.search(SANDBAGS, None, engine.retrieval(profile=profile))
    # Words between spaces keep their question mark, so that the paper's recipe misses those of the report.
    expected = ["Notice of May", "Notice of June", "Report"][: 2 if profile == "paper" else 3]
    assert titles(evidence)[: len(expected)] == expected
    fused = [hit.fused for hit in evidence.hits]
    assert fused == sorted(fused, reverse=True)


def test_by_words_alone_only_passages_with_the_words_are_found(engine: Engine) -> None:
    evidence = engine.search(SANDBAGS, None, engine.retrieval(retrievers="sparse"))
    assert set(titles(evidence)) == {"Notice of May", "Notice of June", "Report"}
    assert all(hit.dense_rank is None and hit.cosine == 0.0 for hit in evidence.hits)


def test_by_meaning_alone_no_keyword_is_claimed(engine: Engine) -> None:
    evidence = engine.search(SANDBAGS, None, engine.retrieval(retrievers="dense"))
    assert titles(evidence)[0] == "Notice of May"
    assert all(hit.sparse_rank is None and hit.bm25 is None for hit in evidence.hits)


def reading(engine: Engine, question: str, reader: ReadingByHand, **changes: object) -> Evidence:
    """Return what is found for a question where a reader reads."""
    retrievers = replace(engine.retrievers(), reader=lambda: reader)
    settings = engine.retrieval(**{"rerank": True, "similarity_floor": 0.0, "top_k": 40, **changes})
    return retrieve(QueryPlan(question, "en", (question,)), None, engine.collection.view(), retrievers, settings)


def test_a_passage_that_was_not_read_claims_no_score_and_no_reading(engine: Engine) -> None:
    reader = ReadingByHand(len)
    evidence = reading(engine, SANDBAGS, reader)
    hits = [hit for source in evidence.sources for hit in source.hits]
    assert evidence.read == len(reader.scored) == READ < len(hits)
    assert sum(hit.reading is not None for hit in hits) == READ
    for hit in hits:
        assert hit.reranked == (None if hit.reading is None else hit.reading.relevance)


def test_sentences_and_readings_are_known_by_their_places_in_the_document(engine: Engine) -> None:
    for source in reading(engine, FREEBOARD, ReadingByHand(len)).sources:
        hit = source.hits[0]
        text = engine.catalog.text(hit.document.key)
        assert all(source.start <= one.start < one.end <= source.end for one in source.sentences)
        assert any(hit.start <= one.start < one.end <= hit.end for one in source.sentences)
        if hit.reading is not None:
            [(start, end)] = hit.reading.tokens
            assert hit.start <= start < end <= hit.end
            assert text[start:end] in hit.text
    best = reading(engine, "Who opens the gate by hand?", ReadingByHand(len)).sources[0]
    nearest = max(best.sentences, key=lambda sentence: sentence.nearness)
    assert "gate by hand" in engine.catalog.text(best.document.key)[nearest.start : nearest.end]


def test_a_source_knows_the_sentences_beside_what_was_found(tmp_path: Path) -> None:
    text = "The keeper opens the gate by hand. " * 22 + "Lunch is served in the hall at noon. " * 38
    engine = indexed(tmp_path / "workspace", CountingEmbedder(), (Written("Handbook", (text,)),))
    found = engine.search("Who opens the gate by hand?", retrieval=engine.retrieval(similarity_floor=0.9)).sources
    engine.close()
    [source] = [one for one in found if one.end > max(hit.end for hit in one.hits)]
    assert any(sentence.start > max(hit.end for hit in source.hits) for sentence in source.sentences)


def test_every_source_knows_its_sentences_where_nothing_is_read_and_none_without_the_encoder(engine: Engine) -> None:
    assert all(source.sentences for source in engine.search(FREEBOARD).sources)
    away = replace(engine.retrievers(), embedder=AwayEmbedder)
    plan, view = QueryPlan(SANDBAGS, "en", (SANDBAGS,)), engine.collection.view()
    found = retrieve(plan, None, view, away, engine.retrieval())
    assert found.hits
    assert not any(source.sentences for source in found.sources)


def test_a_document_whose_language_was_corrected_is_found_though_its_sentences_were_cut_by_the_former(
    tmp_path: Path,
) -> None:
    text = "Der Deichgraf prüft am 3. Mai jeden Deich und schreibt einen Bericht. Schäden meldet er sofort der Behörde."
    config = unread(tmp_path / "workspace")
    engine = Engine(replace(config, chunking=replace(config.chunking, header=False)), embedder=CountingEmbedder())
    with engine.indexer() as indexer:
        indexer.add(document_of(Written("Deichordnung", (text,), "en")), "the ordinance")
        indexer.finish()
        [record] = engine.collection.documents()
        indexer.redescribe(record, replace(record.metadata, language="de"), "corrected")
        indexer.finish()
    [source] = engine.search("Wer prüft jeden Deich?").sources
    engine.close()
    [hit] = source.hits
    assert hit.document.metadata.language == "de"
    assert [(one.start, one.end) for one in source.sentences] == [(hit.start, hit.end)]


def test_a_document_erased_at_this_moment_is_passed_over_without_an_error(tmp_path: Path) -> None:
    engine = indexed(tmp_path / "workspace", CountingEmbedder())
    view, plan = engine.collection.view(), engine.plan(SANDBAGS)
    [notice] = [record for record in engine.collection.documents() if record.metadata.title == "Notice of May"]
    engine.writer.erase(notice)
    config = engine.retrieval()
    evidence = retrieve(plan, None, view, engine.retrievers(), config)
    again = engine.search(SANDBAGS, None, config)
    engine.close()
    assert titles(evidence)[0] == "Notice of June"
    assert "Notice of May" not in titles(evidence) + titles(again)
    assert [source.n for source in evidence.sources] == list(range(1, len(evidence.sources) + 1))
    assert evidence.warnings == again.warnings == ()


@pytest.mark.parametrize("profile", ["default", "rrf", "paper", "statutes"])
def test_a_filter_that_leaves_nothing_gives_nothing(engine: Engine, profile: str) -> None:
    view, plan = engine.collection.view(), engine.plan(FREEBOARD)
    evidence = retrieve(plan, frozenset(), view, engine.retrievers(), engine.retrieval(profile=profile))
    assert (evidence.hits, evidence.sources, evidence.warnings) == ((), (), ())


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([SANDBAGS, FREEBOARD, "Article 3 of the Dyke Protection Act", "Wer füllt Sandsäcke?", "alarm"]),
    st.sets(st.integers(1, 9)),
    st.sampled_from(["default", "rrf", "paper", "statutes"]),
    st.sampled_from(["both", "dense", "sparse"]),
    st.booleans(),
    st.integers(1, 10),
)
def test_no_source_leaves_the_filter_and_each_passage_is_there_once(
    engine: Engine, question: str, allowed: set[int], profile: str, retrievers: str, mmr: bool, top_k: int
) -> None:
    config = engine.retrieval(
        profile=profile, retrievers=retrievers, mmr_lambda=0.5 if mmr else None, top_k=top_k, similarity_floor=0.0,
        rerank=True,
    )  # fmt: skip
    reader = ReadingByHand(len)
    asked = replace(engine.retrievers(), reader=lambda: reader)
    plan = QueryPlan(question, "en", (question,))
    evidence = retrieve(plan, frozenset(allowed), engine.collection.view(), asked, config)
    assert {source.document.key for source in evidence.sources} <= allowed
    assert {linked.document.key for source in evidence.sources for linked in source.linked} <= allowed
    parents = [(source.document.key, source.start) for source in evidence.sources]
    children = [hit.child_id for source in evidence.sources for hit in source.hits]
    assert len(set(parents)) == len(parents) <= top_k
    assert len(set(children)) == len(children)
    for source in evidence.sources:
        text = engine.catalog.text(source.document.key)
        assert source.text == text[source.start : source.end]
        assert all(hit.text == text[hit.start : hit.end] for hit in source.hits)


def test_one_sentence_that_answers_wins_over_a_passage_on_the_same_topic(understanding: Engine) -> None:
    question = "Do we have to boil water from the well before we drink it?"
    whole, near = (
        understanding.retrieval(sentence_share=share, retrievers="dense", rerank=False) for share in (0.0, 0.5)
    )
    assert titles(understanding.search(question, None, whole))[0] == "Leaflet"
    assert titles(understanding.search(question, None, near))[0] == "Town notes"


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who decides on moving patients out of a hospital?", "Evacuation decree", "Erlass zur Räumung"),
        ("Wer entscheidet über die Verlegung der Patienten?", "Erlass zur Räumung", "Evacuation decree"),
    ],
)
def test_the_translation_of_the_best_passage_is_found_next_to_it(
    understanding: Engine, question: str, first: str, second: str
) -> None:
    assert titles(understanding.search(question))[:2] == [first, second]


@pytest.mark.parametrize(
    "question",
    [
        "Who decides on moving patients out of a hospital?",
        "Wer entscheidet, ob Kranke aus einem Krankenhaus verlegt werden?",
    ],
)
def test_the_packaged_reader_reads_passages_of_every_language(understanding: Engine, question: str) -> None:
    settings = understanding.retrieval(rerank=True, rerank_weight=0.3, similarity_floor=0.0)
    evidence = understanding.search(question, None, settings)
    assert evidence.warnings == ()
    assert titles(evidence)[0] in {"Evacuation decree", "Erlass zur Räumung"}
    read = [hit for hit in evidence.hits if hit.reading is not None]
    assert {hit.document.metadata.language for hit in read} == {"en", "de"}
    assert evidence.read == len(read)
    assert all(hit.reranked == hit.reading.relevance for hit in read if hit.reading)
