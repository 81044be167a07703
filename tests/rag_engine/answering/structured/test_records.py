"""Which records of a reply are kept, where each is quoted, and what is said of the others."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_engine.answering.structured.answer_schema import AnswerSchema, parse_schema, read_schema, shipped_schemas
from rag_engine.answering.structured.records import BoundReply, bind_reply
from rag_engine.types.answer import NOT_STATED, AttributeContent
from rag_engine.types.passage import Source
from tests.rag_engine.conftest import make_source

POLICY, STATUTORY = (read_schema(file) for file in shipped_schemas())
FLOODS = (
    "The River Authority publishes flood hazard maps by 2027. The mayor orders the evacuation of Milltown. "
    "The plan was adopted in May."
)
THEFT = (
    "Section 303. Whoever takes movable property dishonestly commits theft. The offence is cognizable. "
    "Section 304. Whoever snatches property commits snatching."
)
SOURCES = (make_source(1, FLOODS, title="Flood plan"), make_source(2, THEFT, title="Penal Code"))


def bind(
    reply: dict[str, Any],
    schema: AnswerSchema = POLICY,
    question: str = "What is planned?",
    sources: Sequence[Source] = SOURCES,
) -> BoundReply:
    """Return what is left of a reply over these sources."""
    return bind_reply(
        reply,
        schema,
        sources,
        question=question,
        language="en",
        page_of=lambda key, offset: key * 100 + offset,
        child_of=lambda document, start, end: f"child of {document.file} at {start}",
    )


def measure(citation: object = 1, **given: object) -> dict[str, object]:
    return {"measure": "publish flood hazard maps", "citation": citation, **given}


def value(bound: BoundReply, name: str) -> AttributeContent:
    """Return an attribute of the first record."""
    return next(one.value for one in bound.records[0].attributes if one.name == name)


def test_a_record_is_quoted_with_the_sentence_that_states_it_and_its_page() -> None:
    bound = bind({"measures": [measure(actor="River Authority", target_year=2027)]})
    [record] = bound.records
    assert record.citation.quote == "The River Authority publishes flood hazard maps by 2027."
    assert (record.citation.n, record.citation.page) == (1, 1100)
    assert [one.value for one in record.attributes][:4] == ["publish flood hazard maps", "River Authority", None, 2027]
    assert bound.warnings == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (measure(9), r"measures 1 \(“publish flood hazard maps”\) was left out of the list: it cites \[Source 9\]"),
        (measure(None), "cites no source"),
        (measure(True), "which the model was not given"),
        (measure("1"), "which the model was not given"),
        (measure(2), r"\[Source 2\] does not support “publish flood hazard maps”: its words are others"),
        (measure(measure="maps by 2035"), "no number 2035"),
        (measure(measure="evacuation of Dublin"), "not name Dublin"),
        (measure(measure=None), "measure: it is missing"),
        (measure(measure="n/a"), "measure: it is missing"),
        ("no record", "cites no source"),
    ],
)
def test_a_record_that_its_source_does_not_support_is_left_out_with_the_reason(given: object, said: str) -> None:
    bound = bind({"measures": [given]})
    assert bound.records == ()
    [warning] = bound.warnings
    assert re.search(said, warning), warning


def test_an_optional_value_that_is_not_there_is_left_empty_and_the_record_stays() -> None:
    bound = bind({"measures": [measure(actor="Ministry of the Sea", target_year=2030)]})
    assert (value(bound, "actor"), value(bound, "target_year")) == (None, None)
    assert len(bound.warnings) == 2
    assert "actor was left empty: [Source 1] does not support “Ministry of the Sea”" in bound.warnings[0]
    assert "it has no number 2030" in bound.warnings[1]


def test_a_title_supports_what_the_text_leaves_to_it() -> None:
    assert value(bind({"measures": [measure(instrument="Flood plan")]}), "instrument") == "Flood plan"


def test_a_record_that_only_the_title_supports_has_no_sentence_and_goes() -> None:
    bound = bind({"measures": [measure(2, measure="Penal Code")]})
    assert bound.records == ()
    assert "no sentence of [Source 2] states it" in bound.warnings[0]


def test_the_same_record_twice_is_kept_once() -> None:
    bound = bind({"measures": [measure(), measure()]})
    assert len(bound.records) == 1
    assert "it is there already" in bound.warnings[0]


def charge(**given: object) -> dict[str, object]:
    return {
        "law": "Penal Code, Section 303",
        "description": "takes movable property dishonestly",
        "citation": 2,
        **given,
    }


@pytest.mark.parametrize(
    ("written", "kept"), [("yes", True), (True, True), ("no", NOT_STATED), ("not stated", NOT_STATED), (3, NOT_STATED)]
)
def test_a_yes_or_no_stays_where_the_source_states_it(written: object, kept: object) -> None:
    assert value(bind({"charges": [charge(cognizable=written)]}, STATUTORY), "cognizable") == kept


def test_a_model_does_not_decide_what_the_source_leaves_open() -> None:
    bound = bind({"charges": [charge(bailable="no", cognizable="yes")]}, STATUTORY)
    assert value(bound, "bailable") == NOT_STATED
    [warning] = bound.warnings
    assert "bailable was left not stated: [Source 2] does not state it" in warning


def test_entities_come_from_the_question_or_a_source() -> None:
    reply = {"victim": "Anna Berg", "culprit": "Karl Vos", "charges": [charge()]}
    bound = bind(reply, STATUTORY, "A man took the bicycle of Anna Berg.")
    assert [one.value for one in bound.entities] == ["Anna Berg", None, None]
    assert bound.warnings == ("culprit: “Karl Vos” was left out: neither the question nor a source has it.",)


def test_a_note_keeps_the_sentences_whose_numbers_and_names_are_known() -> None:
    note = "The maps are due by 2027. By 2040 Dublin follows."
    bound = bind({"measures": [measure()], "note": note})
    assert bound.entities[-1].value == "The maps are due by 2027."
    assert "no source has 2040" in bound.warnings[0]


def test_without_records_there_are_no_entities_and_no_note() -> None:
    assert bind({"victim": "Anna", "charges": [], "note": "None."}, STATUTORY).entities == ()


def test_a_value_outside_a_closed_list_or_its_pattern_is_left_empty() -> None:
    text = json.dumps(
        {
            "type": "object",
            "properties": {
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "what": {"type": "string"},
                            "step": {"enum": ["publishes", "planned"]},
                            "year": {"type": "integer", "minimum": 2028},
                            "places": {"type": "array", "items": {"type": "string"}},
                            "citation": {"type": "integer"},
                        },
                    },
                }
            },
        }
    )
    schema = parse_schema(text, "mine.json")
    row = {"what": "flood hazard maps", "step": "publishes", "year": 2027, "places": ["River", "Cork"], "citation": 1}
    bound = bind({"rows": [row]}, schema)
    assert [one.value for one in bound.records[0].attributes] == ["flood hazard maps", "publishes", None, ("River",)]
    assert "breaks the schema (2027 is less than the minimum of 2028)" in bound.warnings[0]
    assert "places was shortened: [Source 1] does not have “Cork”" in bound.warnings[1]
    assert value(bind({"rows": [row | {"step": "planned"}]}, schema), "step") is None
    assert value(bind({"rows": [row | {"step": "in May"}]}, schema), "step") is None


def bound_to(source: Source, reply: dict[str, Any], schema: AnswerSchema = POLICY) -> BoundReply:
    """Return what is left of a reply over one source."""
    return bind(reply, schema, sources=[source])


def dykes(**given: object) -> dict[str, Any]:
    return {"measures": [{"measure": "raises the dykes", "citation": 1, **given}]}


def test_values_of_a_sentence_about_something_else_are_left_empty() -> None:
    text = "The council raises the dykes. The ministry of water was founded in 1950."
    bound = bound_to(make_source(1, text), dykes(actor="ministry of water", target_year=1950))
    assert (value(bound, "actor"), value(bound, "target_year")) == (None, None)
    assert bound.records[0].citation.quote == "The council raises the dykes."
    assert "“ministry of water” elsewhere, not where it states the rest" in bound.warnings[0]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The ministry of water is responsible. It raises the dykes by 2030. Cats sleep.", (0, 2)),
        ("The ministry of water raises the dykes. They are finished by 2030. Cats sleep.", (0, 2)),
        ("Cats sleep. The ministry of water raises the dykes. The dykes are done by 2030.", (1, 3)),
        ("Cats sleep. The ministry of water raises the dykes by 2030. Dogs bark.", (1, 2)),
    ],
)
def test_sentences_beside_one_give_values_and_are_quoted_with_it(text: str, quote: tuple[int, int]) -> None:
    bound = bound_to(make_source(1, text), dykes(actor="ministry of water", target_year=2030))
    assert (value(bound, "actor"), value(bound, "target_year")) == ("ministry of water", 2030)
    sentences = [f"{one.rstrip('.')}." for one in text.split(". ")]
    assert bound.records[0].citation.quote == " ".join(sentences[slice(*quote)])
    assert bound.warnings == ()


def test_a_record_that_no_sentence_states_is_left_out() -> None:
    apart = f"The council publishes 40 maps. {'Cats sleep in the sun all day long. ' * 4}The old dykes are green."
    bound = bound_to(make_source(1, apart), {"measures": [{"measure": "40 green dykes", "citation": 1}]})
    assert bound.records == ()
    assert "elsewhere, not where it states the rest" in bound.warnings[0]


def test_items_and_rows_take_nothing_from_their_neighbours_and_all_from_what_is_above() -> None:
    listed = "The ministry of water does the following:\n\n• raises the dykes by 2030;\n\n• plants forests by 2027;"
    bound = bound_to(make_source(1, listed), dykes(actor="ministry of water", target_year=2027))
    assert (value(bound, "actor"), value(bound, "target_year")) == ("ministry of water", None)
    table = (
        "Table 4. Works of the ministry of water\n\nMeasure: raises the dykes; Year: 2030; State: planned\n\n"
        "Measure: plants forests; Year: 2027; State: adopted"
    )
    bound = bound_to(make_source(1, table), dykes(actor="ministry of water", target_year=2030, status="adopted"))
    assert [value(bound, name) for name in ("actor", "target_year", "status")] == ["ministry of water", 2030, None]


def test_the_number_of_a_section_is_known_to_all_that_it_heads() -> None:
    numbered = (
        "303. Theft.— (1) Whoever takes movable property commits theft.\n\n(2) Whoever plans it is punished.\n\n"
        "(3) Whoever receives stolen property dishonestly is punished too.\n\n304. Snatching.— Whoever snatches it."
    )
    for text in (numbered, numbered.replace("303", "Section 303").replace("304", "Section 304")):
        asked = {"law": "Penal Code, 303", "description": "receives stolen property dishonestly", "citation": 1}
        bound = bound_to(make_source(1, text, title="Penal Code"), {"charges": [asked]}, STATUTORY)
        assert value(bound, "law") == "Penal Code, 303"
        other = {"charges": [asked | {"law": "Penal Code, 304"}]}
        assert bound_to(make_source(1, text, title="Penal Code"), other, STATUTORY).records == ()


@pytest.mark.parametrize(
    ("text", "written", "kept"),
    [
        ("Theft is bailable. Cats sleep. Murder is non-bailable.", "yes", True),
        ("Theft is bailable. Cats sleep. Murder is non-bailable.", "no", NOT_STATED),
        ("Theft is a crime. Cats sleep. Dogs bark. Murder is non-bailable.", "no", NOT_STATED),
        ("Some theft is bailable, other theft is non-bailable.", "yes", NOT_STATED),
        ("Theft is a crime. It is bailable.", "yes", True),
        ("Offence: Theft; Bailable: yes; Fine: 3\n\nOffence: Murder; Bailable: no; Fine: 4", "no", NOT_STATED),
        ("Offence: Theft; Bailable: yes; Fine: 3\n\nOffence: Murder; Bailable: no; Fine: 4", "yes", True),
    ],
)
def test_a_yes_or_no_is_judged_where_the_record_is_stated(text: str, written: str, kept: object) -> None:
    reply = {"charges": [{"law": "Penal Code", "description": "theft", "bailable": written, "citation": 1}]}
    assert value(bound_to(make_source(1, text, title="Penal Code"), reply, STATUTORY), "bailable") == kept


def test_a_single_section_is_about_one_matter_as_a_whole() -> None:
    text = "Whoever takes movable property commits theft. Cats sleep. Dogs bark. Every offence here is bailable."
    reply = {"charges": [{"law": "Penal Code", "description": "theft", "bailable": "yes", "citation": 1}]}
    source = make_source(1, text, title="Penal Code")
    assert value(bound_to(source, reply, STATUTORY), "bailable") == NOT_STATED
    section = bound_to(replace(source, section="Section 303"), reply, STATUTORY)
    assert value(section, "bailable") is True
    assert section.records[0].citation.quote == "Whoever takes movable property commits theft."


def test_a_yes_or_no_of_the_whole_that_sources_state_both_ways_is_open() -> None:
    items = {"type": "object", "properties": {"what": {"type": "string"}, "citation": {"type": "integer"}}}
    whole = {"binding": {"type": "boolean"}, "rows": {"type": "array", "items": items}}
    schema = parse_schema(json.dumps({"type": "object", "properties": whole}), "mine.json")
    sources = [make_source(1, "The plan is binding."), make_source(2, "The guide is not binding.")]
    reply = {"binding": "yes", "rows": [{"what": "plan", "citation": 1}]}
    bound = bind(reply, schema, "?", sources)
    assert bound.entities[0].value == NOT_STATED
    assert "both are stated" in bound.warnings[0]


def test_the_cited_passage_holds_the_quote_even_where_it_was_not_found_by_itself() -> None:
    """The passage found may be another part of the text that was read."""
    text = "Cats sleep in the sun. The council raises the dykes."
    source = make_source(1, text, hits=[(0, 22)])
    [record] = bound_to(source, dykes()).records
    assert record.citation.child_id == "child of 1.pdf at 1023"
    [record] = bound_to(make_source(1, text, hits=[(0, 22), (23, len(text))]), dykes()).records
    assert record.citation.child_id == "000000000001_p0_c1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.fixed_dictionaries(
    {"citation": JSON | st.just(1)},
    optional={name: JSON | st.just("flood hazard maps") for name in ("measure", "actor", "target_year", "status")},
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({"measures": st.lists(RECORDS, max_size=4) | JSON, "note": JSON}))
def test_whatever_a_model_writes_only_quoted_records_are_kept(reply: dict[str, Any]) -> None:
    bound = bind(reply)
    given_records = reply["measures"] if isinstance(reply["measures"], list) else []
    assert len(bound.records) <= len(given_records)
    for record in bound.records:
        assert record.citation.quote in FLOODS + THEFT
    if len(bound.records) < len(given_records):
        assert bound.warnings
