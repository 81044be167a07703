"""The recipes of two papers, to their letter: what is asked, how it is fused, what is admitted."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.protocols import Keys, VectorIndex, Vectors
from rag_engine.retrieval.diversity import Candidate, admit, per_document_cap
from rag_engine.retrieval.ranking import rank, select
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.types.evidence import Evidence, QueryPlan
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import ByHand, indexed

SANDBAGS = "where do volunteers stack the sandbags"
PLAN = QueryPlan(SANDBAGS, "en", (SANDBAGS, "sandbags volunteers", "stack"))
NAMED = "What does Article 3 of the Dyke Protection Act say of shares?"


def of(question: str) -> QueryPlan:
    return QueryPlan(question, "en", (question,))


def paper(engine: Engine, plan: QueryPlan = PLAN, **changes: object) -> Evidence:
    settings = engine.retrieval(**{"profile": "paper", "similarity_floor": 0.0, **changes})
    return retrieve(plan, None, engine.collection.view(), engine.retrievers(), settings)


def statutes(engine: Engine, question: str, reader: ByHand, **changes: object) -> Evidence:
    retrievers = replace(engine.retrievers(), reranker=lambda: reader)
    settings = engine.retrieval(**{"profile": "statutes", "top_k": 5, "rerank": True, **changes})
    return retrieve(of(question), None, engine.collection.view(), retrievers, settings)


def test_ranks_are_fused_by_equation_5_1(engine: Engine) -> None:
    settings = engine.retrieval(profile="paper")
    ranked = rank(of("volunteers"), None, engine.collection.view(), engine.retrievers(), settings)
    ranks = [(ranked.found.dense_rank(key), ranked.found.sparse_rank(key)) for key in ranked.keys.tolist()]
    assert {(dense is None, sparse is None) for dense, sparse in ranks} == {(False, False), (False, True)}
    for (dense, sparse), score in zip(ranks, ranked.scores.tolist(), strict=True):
        by_meaning = 0.6 / (60 + dense) if dense else 0.0
        by_words = (0.6 if dense else 0.4) / (60 + sparse) if sparse else 0.0
        assert score == pytest.approx(by_meaning + by_words)


def test_keywords_are_rank_bm25_over_the_words_between_spaces(engine: Engine) -> None:
    children = [
        child for record in engine.collection.documents() for child in engine.catalog.document_children(record.key)
    ]
    model = BM25Okapi([child.text.lower().split() for child in children])
    scores = dict(zip([child.text for child in children], model.get_scores(SANDBAGS.split()), strict=True))
    found = [hit for hit in paper(engine).hits if hit.bm25 is not None]
    assert found
    assert [hit.bm25 for hit in found] == pytest.approx([scores[hit.text] for hit in found])


def test_what_is_added_or_erased_is_in_the_next_questions_words(tmp_path: Path) -> None:
    engine = indexed(tmp_path / "workspace", CountingEmbedder())
    assert {hit.document.metadata.title for hit in paper(engine, of("volunteers")).hits if hit.bm25} == {
        "Notice of May",
        "Notice of June",
    }
    [may] = [one for one in engine.collection.documents() if one.metadata.title == "Notice of May"]
    engine.writer.erase(may)
    assert {hit.document.metadata.title for hit in paper(engine, of("volunteers")).hits if hit.bm25} == {
        "Notice of June"
    }
    engine.close()


def test_chroma_itself_is_asked_with_the_filter(engine: Engine) -> None:
    asked: list[object] = []

    class Watched:
        def search(self, queries: Vectors, top_k: int, **narrowed: Any) -> list[tuple[Keys, Vectors]]:
            asked.append((len(queries), top_k, narrowed))
            return engine.collection.dense().search(queries, top_k, **narrowed)

    retrievers = replace(engine.retrievers(), dense=lambda: cast(VectorIndex, Watched()))
    settings = engine.retrieval(profile="paper", top_k=15)
    allowed = frozenset({1, 2})
    evidence = retrieve(PLAN, allowed, engine.collection.view(), retrievers, settings)
    # Of the variants only a model's are asked; each for five times as many as are wanted.
    assert asked == [(1, 75, {"facets": {}, "documents": allowed})]
    assert {hit.document.key for hit in evidence.hits} <= allowed
    retrieve(replace(PLAN, planner="a model"), None, engine.collection.view(), retrievers, settings)
    assert asked[1] == (3, 75, {"facets": {}, "documents": None})


def test_nothing_below_the_floor_is_admitted_whatever_the_threshold(engine: Engine) -> None:
    similarities = [hit.similarity for hit in paper(engine, of("premium")).hits]
    assert similarities
    assert min(similarities) >= 0.35
    # A higher threshold spares what was found by its words.
    strict = paper(engine, similarity_floor=1.0).hits
    assert strict
    assert all(hit.bm25 for hit in strict)


def test_two_passages_a_document_up_to_ten_and_three_beyond_however_few_documents_there_are() -> None:
    assert [per_document_cap(top_k) for top_k in (5, 10, 11, 20)] == [2, 2, 3, 3]
    ranked = [Candidate(key, 1, key, 1.0, True, 1.0 / (key + 1)) for key in range(9)]
    assert len(admit(ranked, top_k=15, floor=0.35, keyword_floor=0.35, cap=per_document_cap(15))) == 3


def test_of_one_document_the_papers_recipe_takes_two(engine: Engine) -> None:
    [guide] = [one.key for one in engine.collection.documents() if one.metadata.title == "Guide to small dams"]
    settings = engine.retrieval(profile="paper", similarity_floor=0.0)
    plan, view = of("the keeper of the village opens the gate and trees warns on slope"), engine.collection.view()
    assert len(retrieve(plan, frozenset({guide}), view, engine.retrievers(), settings).sources) == 2


def test_the_cascade_selects_by_score_provenance_and_distance_to_what_is_chosen() -> None:
    # Worked out by hand: after the first, .5 x 1.98 - .5 x .9 = .54 loses against .5 x 1.9 - .5 x .1 = .9.
    vectors = np.array([[1, 0, 0], [0.9, np.sqrt(0.19), 0], [0.1, 0, np.sqrt(0.99)]], np.float32)
    read = np.array([2.0, 1.98, 1.75])
    order, scores = select(np.ones(3), read, np.array([0.0, 0.0, 1.0]), vectors, 2)
    assert order.tolist() == [0, 2]
    assert scores == pytest.approx([2.0, 1.9])


def test_provenance_breaks_a_tie_of_the_cross_encoder_and_no_more() -> None:
    vectors = np.eye(3, dtype=np.float32)
    order, scores = select(np.ones(3), np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0]), vectors, 3)
    assert order.tolist() == [2, 1, 0]
    assert scores == pytest.approx([1.15, 1.075, 1.0])
    order, _ = select(np.ones(3), np.array([1.2, 1.0, 1.0]), np.array([0.0, 0.5, 1.0]), vectors, 3)
    assert order[0] == 0


def test_the_recipe_for_statutes_reads_twenty_and_gives_five(engine: Engine) -> None:
    reader = ByHand(lambda text: 3.0 if "assembly of the district" in text else float(len(text)) / 1000)
    evidence = statutes(engine, NAMED, reader)
    assert len(evidence.sources) == 5
    children = sum(one.children for one in engine.collection.documents())
    assert len(reader.scored) == min(20, children)
    first = evidence.hits[0]
    assert first.section == "Article 3"
    assert first.provenance == pytest.approx(0.15)
    assert first.fused == pytest.approx(3.15)
    assert {hit.provenance for hit in evidence.hits} <= {0.15, 0.075, 0.0}


def test_without_a_cross_encoder_the_recipe_for_statutes_keeps_its_ranks_and_says_so(engine: Engine) -> None:
    evidence = statutes(engine, NAMED, ByHand(lambda text: float("nan")))
    assert evidence.hits
    assert evidence.warnings == ("Not reranked: by hand did not give one number for each passage.",)
    assert statutes(engine, NAMED, ByHand(len), rerank=False).warnings == (
        "Not reranked: The reranker is switched off.",
    )


def test_a_recipe_brings_its_own_number_of_passages_and_its_own_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SEXTANT_CHUNKING", "SEXTANT_EXECUTION", "SEXTANT_RETRIEVAL", "SEXTANT_MMR"):
        monkeypatch.delenv(variable, raising=False)
    paper_config, statutes_config = read_config(profile="paper"), read_config(profile="statutes")
    assert (paper_config.retrieval.top_k, paper_config.chunking.strategy) == (15, "semantic")
    assert paper_config.execution == "torch"
    assert (statutes_config.retrieval.top_k, statutes_config.chunking.strategy) == (5, "section")
    sizes = statutes_config.chunking.sizes
    assert (sizes.child_size / 4, sizes.child_overlap / 4) == (700, 85)
    monkeypatch.setenv("SEXTANT_CHUNKING", "paragraph")
    assert read_config(profile="paper").chunking.strategy == "paragraph"


def test_documents_cut_otherwise_are_said(engine: Engine) -> None:
    evidence = engine.search(SANDBAGS, None, engine.retrieval(profile="statutes", rerank=False))
    [warning] = [one for one in evidence.warnings if "not cut" in one]
    assert warning.startswith("5 of 7 documents are not cut as the recipe 'statutes' cuts them")
    assert not any("not cut" in one for one in engine.search(SANDBAGS).warnings)
