"""The chance that a passage answers, and what follows from it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rag_engine.answering.chances import chance, chance_model, judge, share_right, signals_of, with_sources
from rag_engine.retrieval.rerank_passages import read_passages
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import PassageReading
from tests.rag_engine.conftest import make_evidence, make_source

TEXT = "The act of 2008 sets five-yearly budgets for emissions."


class SureReader:
    """Reads every passage as sure as it is told."""

    name = execution = "sure"

    def __init__(self, logits: float) -> None:
        self._logits = logits

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        return [PassageReading(self._logits, 0.0, ((0, len(one)),), (self._logits,), (0.0,)) for one in passages]


def found(question: str, **changes: Any) -> Evidence:
    """Return what was found for a question, one hit with some changes."""
    source = make_source(1, TEXT)
    source = replace(source, hits=tuple(replace(hit, **changes) for hit in source.hits))
    return make_evidence(question, [source])


@pytest.mark.parametrize("with_reader", [True, False])
def test_what_is_nearer_shares_more_or_reads_surer_is_likelier_to_answer(with_reader: bool) -> None:
    weights = chance_model(with_reader).weights
    low = dict.fromkeys(weights, 0.0) | {"constant": 1.0, "similarity": 0.4}
    assert 0 < chance(low, weights) < 1
    for name in weights.keys() - {"constant", "constant_foreign", "relevance", "relevance_foreign"}:
        assert chance(low | {name: low[name] + 0.5}, weights) > chance(low, weights)


def test_far_passages_are_no_ground_and_near_ones_are() -> None:
    assert judge(found("How are guitars tuned?", similarity=0.1)).ground == "none"
    near = judge(found("Which budgets for emissions does the act of 2008 set?", similarity=0.95))
    assert near.ground == "enough"
    assert near.hits[0].tier != "weak"
    assert near.sources[0].hits == near.hits


def test_a_reader_that_is_sure_there_is_no_answer_counts() -> None:
    evidence = found("Who sets the budgets?", similarity=0.7)
    sure, unsure = (judge(read_passages(evidence, SureReader(logits))).hits[0].chance for logits in (8.0, -8.0))
    assert sure is not None
    assert unsure is not None
    assert sure > unsure + 0.1


def test_what_is_named_by_number_or_not_compared_is_enough() -> None:
    named = judge(found("How are guitars tuned?", similarity=0.1, named=True))
    assert (named.ground, named.hits[0].tier) == ("enough", "strong")
    # Without an encoder nothing is known of the distance.
    alone = judge(found("How are guitars tuned?", similarity=0.0, dense_rank=None, sparse_rank=1))
    assert (alone.ground, alone.hits[0].chance) == ("enough", None)


def test_nothing_found_is_no_ground() -> None:
    evidence = judge(read_passages(make_evidence("How are guitars tuned?", []), SureReader(0.0)))
    assert (evidence.ground, evidence.read) == ("none", 0)


def test_some_of_the_sources_are_a_ground_of_their_own() -> None:
    near = found("Which budgets for emissions does the act of 2008 set?", similarity=0.95)
    far = make_source(2, "Guitars have six strings.")
    far = replace(far, hits=tuple(replace(hit, child_id="far", similarity=0.0) for hit in far.hits))
    both = judge(replace(near, sources=(*near.sources, far), hits=(*near.hits, *far.hits)))
    alone = with_sources(both, both.sources[1:])
    assert (both.ground, alone.ground) == ("enough", "none")
    assert [hit.child_id for hit in alone.hits] == ["far"]
    assert with_sources(both, ()).ground == "none"


def test_where_passages_were_read_those_that_were_not_are_no_ground() -> None:
    near = found("Which budgets for emissions does the act of 2008 set?", similarity=0.95)
    far = make_source(2, "Guitars have six strings.")
    far = replace(far, hits=tuple(replace(hit, child_id="far", similarity=0.0) for hit in far.hits))
    [read] = read_passages(replace(near, sources=(far,), hits=far.hits), SureReader(-12.0)).sources
    both = replace(near, sources=(*near.sources, read), hits=(*near.hits, *read.hits))
    assert judge(near).ground == "enough"
    assert judge(both).ground == "none"


def test_the_share_of_right_passages_is_of_those_that_were_read_or_not() -> None:
    evidence = found("Which budgets for emissions does the act of 2008 set?", similarity=0.95)
    for with_reader, judged in ((False, judge(evidence)), (True, judge(read_passages(evidence, SureReader(8.0))))):
        [hit] = judged.hits
        measured = chance_model(with_reader).measured
        assert share_right(hit, "en") == measured["same"][hit.tier]
        assert share_right(hit, "pt") == measured["across"].get(hit.tier)


@pytest.mark.parametrize("read", [True, False])
def test_words_are_compared_within_one_language_and_not_missed_across_two(read: bool) -> None:
    evidence = found("Quem define os orçamentos?")
    evidence = read_passages(evidence, SureReader(1.0)) if read else evidence
    own = signals_of(evidence.hits[0], evidence.plan)
    abroad = signals_of(evidence.hits[0], replace(evidence.plan, language="pt"))
    assert own.keys() == {"constant", "similarity", "shared", *(["answer", "relevance"] if read else [])}
    assert abroad.keys() == {f"{name}_foreign" for name in own}


def test_a_reader_is_heard_of_a_passage_in_another_language_too() -> None:
    evidence = found("Quem define os orçamentos?", similarity=0.7)
    evidence = replace(evidence, plan=replace(evidence.plan, language="pt"))
    sure, unsure = (judge(read_passages(evidence, SureReader(logits))).hits[0].chance for logits in (8.0, -8.0))
    assert sure is not None
    assert unsure is not None
    assert sure > unsure


@pytest.mark.parametrize(("tier", "language", "ground"), [
    ("moderate", "en", "enough"), ("moderate", "pt", "doubtful"), ("strong", "pt", "enough"),
])  # fmt: skip
def test_a_moderate_passage_in_another_language_alone_leaves_doubt(tier: str, language: str, ground: str) -> None:
    evidence = found("Quem define os orçamentos?", chance=0.2, tier=tier)
    evidence = replace(evidence, plan=replace(evidence.plan, language=language))
    assert with_sources(evidence, evidence.sources).ground == ground
