import json
from dataclasses import replace

import jsonschema
import pytest

from rag_engine.answering.chances import chance_model
from rag_engine.answering.json_contract import answer_json
from rag_engine.answering.support import fitted_support
from rag_engine.types.answer import Answer, SentenceSupport, SupportJudge
from rag_engine.types.passage import PassageReading
from tests.conftest import ROOT
from tests.rag_engine.conftest import make_evidence, make_source

SCHEMA = json.loads((ROOT / "data" / "contract.schema.json").read_text())


def test_the_support_of_each_sentence_is_in_the_json_with_its_words_and_how_often_such_labels_are_right() -> None:
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
    assert reply["support_accuracy"] == fitted_support().balanced


def test_no_accuracy_is_stated_where_nothing_was_labelled_or_a_judge_gave_the_labels() -> None:
    evidence = make_evidence("Which dykes?", [make_source(1, "The dyke was raised.")])
    reply = answer_json(Answer("insufficient_evidence", "None.", (), evidence, "model", withheld="Some dykes."))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert (reply["support"], reply["support_accuracy"], reply["withheld"]) == ([], None, "Some dykes.")
    support, judge = (SentenceSupport(0, 5, "supported"),), SupportJudge("qwen3:8b")
    reply = answer_json(Answer("answered", "Dykes.", (), evidence, "model", support=support, judge=judge))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert (reply["judge"], reply["support_accuracy"]) == ({"name": "qwen3:8b", "failed": False}, None)


def test_whether_the_passages_are_a_ground_and_what_their_tiers_mean_is_in_the_json() -> None:
    source = make_source(1, "The dyke was raised.")
    read = PassageReading(0.0, 0.0, (), (), ())
    source = replace(source, hits=tuple(replace(hit, tier="weak", chance=0.1, reading=read) for hit in source.hits))
    evidence = replace(make_evidence("Which dykes?", [source]), ground="doubtful", read=1)
    reply = answer_json(Answer("answered", "The dyke was raised [Source 1].", (), evidence, "extractive"))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    assert (reply["ground"], reply["refusal_rates"]) == ("doubtful", None)
    [shown] = reply["evidence"]
    assert (shown["tier"], shown["tier_share"]) == ("weak", chance_model(True).measured["same"]["weak"])


@pytest.mark.parametrize(("seconds", "stated"), [({"answer": 0.1}, True), ({"prompt": 0.1, "answer": 3.0}, False)])
def test_how_often_refusing_is_right_is_in_the_json_of_a_refusal_that_no_model_gave(
    seconds: dict[str, float], stated: bool
) -> None:
    evidence = replace(make_evidence("Which dykes?", [make_source(1, "Lunch.")]), ground="none", read=True)
    reply = answer_json(Answer("insufficient_evidence", "None.", (), evidence, "model", seconds=seconds))
    jsonschema.validate(reply, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/ask"}]})
    rates = reply["refusal_rates"]
    assert (rates is not None) == stated
    assert rates is None or 0 <= rates["mistaken"] < 0.1 < rates["caught"] <= 1
