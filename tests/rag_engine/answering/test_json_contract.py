from __future__ import annotations

import json
from collections.abc import Callable

import jsonschema

from rag_engine.answering.json_contract import answer_json
from rag_engine.answering.support.labels import fitted_support
from rag_engine.types import Answer, Evidence, SentenceSupport, Source, SupportJudge
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "data" / "contract.schema.json").read_text())


def test_the_support_of_each_sentence_is_in_the_json_with_its_words_and_how_often_such_labels_are_right(
    make_source: Callable[..., Source], make_evidence: Callable[..., Evidence]
) -> None:
    evidence = make_evidence("Which dykes?", [make_source(1, "The dyke was raised.")])
    support = SentenceSupport(0, 16, "unsupported", ("number 9 is not in the passage",))
    reply = answer_json(Answer("answered", "Nine dykes rose. So.", (), evidence, "model", support=(support,)))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert reply["support"] == [
        {
            "start": 0,
            "end": 16,
            "sentence": "Nine dykes rose.",
            "label": "unsupported",
            "reasons": ["number 9 is not in the passage"],
        }
    ]
    assert reply["support_accuracy"] == fitted_support().right


def test_no_accuracy_is_stated_where_nothing_was_labelled(
    make_source: Callable[..., Source], make_evidence: Callable[..., Evidence]
) -> None:
    evidence = make_evidence("Which dykes?", [make_source(1, "The dyke was raised.")])
    reply = answer_json(Answer("insufficient_evidence", "None.", (), evidence, "model", withheld="Some dykes."))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert (reply["support"], reply["support_accuracy"], reply["withheld"]) == ([], None, "Some dykes.")


def test_no_accuracy_is_stated_for_the_labels_of_a_judge(
    make_source: Callable[..., Source], make_evidence: Callable[..., Evidence]
) -> None:
    evidence = make_evidence("Which dykes?", [make_source(1, "The dyke was raised.")])
    support = (SentenceSupport(0, 5, "supported"),)
    judge = SupportJudge("qwen3:8b")
    reply = answer_json(Answer("answered", "Dykes.", (), evidence, "model", support=support, judge=judge))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert (reply["judge"], reply["support_accuracy"]) == ({"name": "qwen3:8b", "failed": False}, None)
