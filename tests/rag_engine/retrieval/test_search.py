"""The retrievers over the real indexes: what each finds, is asked, and says when it is away."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.protocols import SparseIndex
from rag_engine.retrieval.search import Candidates, _pieces, search
from rag_engine.types.evidence import QueryPlan
from tests.rag_engine.conftest import AwayEmbedder

QUESTION = "Where do volunteers stack the sandbags?"
PLAN = QueryPlan(QUESTION, "en", (QUESTION, "volunteers sandbags", "wardens crest storm"))


@dataclass
class Asked:
    """A keyword index that notes the queries it is asked before it asks the real one."""

    real: SparseIndex
    queries: list[str]

    def search(self, query: str, *options: object, **more: object) -> list[tuple[int, float]]:
        self.queries.append(query)
        return self.real.search(query, *options, **more)  # type: ignore[arg-type]

    def ideal(self, query: str, language: str) -> float:
        return self.real.ideal(query, language)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@pytest.fixture
def found_by(engine: Engine) -> Callable[..., Candidates]:
    """Return what the retrievers find for the plan, with changes of the retrieval."""

    def found(allowed: frozenset[int] | None = None, plan: QueryPlan = PLAN, **changes: object) -> Candidates:
        return search(plan, allowed, engine.collection.view(), engine.retrievers(), engine.retrieval(**changes))

    return found


def test_each_retriever_alone_leaves_the_other_unasked(found_by: Callable[..., Candidates]) -> None:
    meaning, words = found_by(retrievers="dense"), found_by(retrievers="sparse")
    assert (bool(meaning.dense), meaning.sparse, meaning.keywords) == (True, (), ())
    assert (words.dense, bool(words.sparse), len(words.queries)) == ((), True, 0)
    assert meaning.warnings == words.warnings == ()
    assert "encode" not in words.seconds
    assert "sparse" not in meaning.seconds


def test_ranks_count_from_one_and_are_the_best_over_the_variants(found_by: Callable[..., Candidates]) -> None:
    found = found_by(profile="rrf")
    first, third = found.dense[0][0], found.dense[2][0]
    assert first != third
    assert found.dense_rank(first) == found.dense_rank(third) == 1
    assert found.sparse_rank(next(iter(found.sparse[2]))) == 1
    assert found.bm25(first) == max(scores[first] for scores in found.sparse if first in scores)
    assert (found.dense_rank(-1), found.sparse_rank(-1), found.bm25(-1)) == (None, None, None)


def test_variants_made_by_rules_are_searched_only_where_asked_for(found_by: Callable[..., Candidates]) -> None:
    assert len(found_by().sparse) == 1
    assert len(found_by(rule_variants=True).sparse) == 3
    assert len(found_by(profile="rrf").sparse) == 3
    assert len(found_by(plan=replace(PLAN, planner="a model")).sparse) == 3
    assert len(found_by(plan=replace(PLAN, planner="a model"), variant_weight=0.0).sparse) == 1


def test_a_quoted_phrase_is_searched_on_its_own_as_it_is_written(found_by: Callable[..., Candidates]) -> None:
    found = found_by(plan=replace(PLAN, keywords=("stacked in May", "stacking in May")))
    assert [len(scores) for scores in found.keywords] == [1, 0]


def test_with_both_retrievers_unavailable_nothing_is_found_and_both_are_said(engine: Engine) -> None:
    def gone() -> SparseIndex:
        raise BackendError("The keyword index is away.")

    retrievers = replace(engine.retrievers(), embedder=AwayEmbedder, sparse=gone)
    found = search(PLAN, None, engine.collection.view(), retrievers, engine.retrieval())
    assert found.keys() == set()
    assert len(found.warnings) == 2


@pytest.mark.parametrize("profile", ["default", "rrf", "paper", "statutes"])
def test_both_retrievers_keep_to_the_filter(engine: Engine, found_by: Callable[..., Candidates], profile: str) -> None:
    [report] = [record for record in engine.collection.documents() if record.metadata.title == "Report"]
    [child] = engine.catalog.document_children(report.key)
    found = found_by(frozenset({report.key}), profile=profile, rule_variants=True)
    assert found.dense == [[child.key]] * (1 if profile == "statutes" else 3)
    assert found.keys() == {child.key}


def test_the_papers_recipe_looks_no_deeper_than_it_says(engine: Engine) -> None:
    keywords = Asked(engine.collection.sparse(), [])
    retrievers = replace(engine.retrievers(), spaces=lambda: keywords)
    view = engine.collection.view()
    plan = replace(PLAN, planner="a model")
    paper = search(plan, None, view, retrievers, engine.retrieval(profile="paper", top_k=1))
    assert keywords.queries == list(PLAN.queries)
    assert [len(ranking) for ranking in paper.dense] == [5, 5, 5]
    deeper = search(PLAN, None, view, retrievers, engine.retrieval(top_k=1, candidates=7))
    assert [len(ranking) for ranking in deeper.dense] == [7]


def test_a_retriever_that_weighs_nothing_is_not_asked(found_by: Callable[..., Candidates]) -> None:
    meaning, words = found_by(dense_weight=1.0), found_by(dense_weight=0.0)
    assert (bool(meaning.dense), meaning.sparse) == (True, ())
    assert (words.dense, bool(words.sparse)) == ((), True)


def test_a_long_question_is_read_to_its_end_in_pieces_between_sentences() -> None:
    facts = [f"The {n}th witness said that the river had risen above the wall of the mill." for n in range(60)]
    pieces = _pieces(" ".join(facts), "en")
    assert 2 < len(pieces) < 10
    assert all(len(piece) <= 1_200 and piece.endswith(".") for piece in pieces)
    assert " ".join(pieces) == " ".join(facts)
    assert _pieces("What is a flood plan?", "en") == ["What is a flood plan?"]
