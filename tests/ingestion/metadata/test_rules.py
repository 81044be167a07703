from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from ingestion.file_reading import FileProperties
from ingestion.metadata.issuers import find_issuers
from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import describe_by_rules, notes_on
from ingestion.metadata.summary import summarise
from ingestion.types.description import FieldName, FieldValue
from ingestion.types.source import ListedSource
from rag_engine.types.document import ExtractedText, Line
from tests.ingestion.texts import extracted_from

FLOOD = """# Flood plan of Milltown

Published by the Environment Agency

This plan applies to all residents of the valley and to the fire service, which carries it out with volunteers.

The river flooded the town in 1953 and again in 2007, and each year the town commemorates the flood at the memorial.

Museums move their collections to the upper floors twelve hours before the flood peak, as the heritage office asks.

Lessons of past floods are kept in the archives of the town hall, and the oral history of the oldest is recorded.

Flood warnings are sent by telephone to every household, and the flood siren is tested on the first Monday of a month.

The monument at the bridge shows the height of the water, and the museum teaches children what a flood is like.
"""


def _describe(
    extracted: ExtractedText,
    language: str = "en",
    *,
    source: ListedSource | None = None,
    title: str = "",
) -> list[FieldValue]:
    titles = [FieldValue("title", title, "rule", "", 1, 0.8)] if title else []
    text, today = document_text(extracted, language), date(2026, 3, 2)
    return describe_by_rules(source or ListedSource("A1"), text, FileProperties(), titles, today=today)


def _of(values: Sequence[FieldValue], field: FieldName) -> list[str]:
    return [value.value for value in values if value.field == field]


def test_a_plan_is_described_and_every_label_has_its_sentence() -> None:
    values = _describe(extracted_from(FLOOD), title="Flood plan of Milltown")
    assert _of(values, "hazards") == ["Flood"]
    assert _of(values, "authority") == ["Environment Agency (England)"]
    assert _of(values, "countries") == ["United Kingdom"]
    assert _of(values, "key_criteria") == ["Active memory"]
    assert "Culture and Heritage" in _of(values, "tags")
    assert _of(values, "language") == ["en"]
    for value in values:
        if value.field in ("hazards", "key_criteria", "tags", "authority"):
            assert " ".join(value.sentence.split()) in " ".join(FLOOD.split())
            assert value.page == 1
            assert 0 < value.confidence <= 1


def test_a_word_said_once_gives_no_criterion_and_no_tag() -> None:
    text = "The office keeps an archive. Governance matters. " + "The pump is switched on in the morning. " * 60
    values = _describe(extracted_from(text))
    assert _of(values, "key_criteria") == []
    assert _of(values, "tags") == []
    assert _of(values, "hazards") == []


def test_mentions_in_one_place_alone_give_no_criterion() -> None:
    text = "health health health health health health " + "The pump is switched on in the morning. " * 100
    assert "Health and wellbeing" not in _of(_describe(extracted_from(text)), "key_criteria")


def test_three_hazards_side_by_side_are_multi_hazard_too() -> None:
    text = "\n\n".join(["A flood comes. An earthquake shakes. A landslide falls. A wildfire burns."] * 8)
    assert set(_of(_describe(extracted_from(text)), "hazards")) == {
        "Flood", "Earthquake", "Landslide", "Wildfire", "Multi-hazard",
    }  # fmt: skip


def test_a_hazard_mentioned_in_passing_is_left_out() -> None:
    text = "\n\n".join(["The flood came over the dyke."] * 30 + ["An earthquake is rare."])
    assert _of(_describe(extracted_from(text)), "hazards") == ["Flood"]


def test_what_the_list_says_of_the_authority_wins_and_becomes_canonical() -> None:
    source = ListedSource("A1", authority="JRC")
    value = next(v for v in _describe(extracted_from(FLOOD), source=source) if v.field == "authority")
    assert (value.value, value.source, value.confidence) == ("Joint Research Centre", "list", 1.0)
    unknown = ListedSource("A1", authority="Milltown  Parish Council")
    assert _of(_describe(extracted_from(FLOOD), source=unknown), "authority") == ["Milltown Parish Council"]


def test_an_address_speaks_for_the_body_behind_it() -> None:
    source = ListedSource("A1", url="https://www.protezionecivile.gov.it/piano.pdf")
    values = _describe(extracted_from("Il piano. Le persone restano a casa."), "it", source=source)
    assert _of(values, "authority") == ["Dipartimento della Protezione Civile"]
    assert _of(values, "countries") == ["Italy"]


def test_a_description_is_whole_sentences_of_the_right_length() -> None:
    extracted = extracted_from(FLOOD * 3)
    description, _ = summarise(extracted, "en")
    assert 100 <= len(description.value.split()) <= 130
    assert description.value.endswith(".")
    for sentence in description.value.split(". "):
        assert sentence.strip(".") in " ".join(extracted.text.split())


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "This guidance is intended for planners in river towns who have never drawn a hazard map."),
        ("en", "The purpose of this Act is to protect people and heritage from floods in every valley."),
        ("de", "Dieser Leitfaden richtet sich an die Gemeinden, die einen Hitzeaktionsplan aufstellen wollen."),
        ("de", "Zweck dieses Gesetzes ist es, Menschen, Umwelt und Kulturgüter vor Hochwasser zu schützen."),
        ("fr", "Le présent guide s’adresse aux maires et aux services techniques des communes littorales."),
        ("it", "Questo piano si applica ai comuni con meno di cinquemila abitanti della regione."),
        ("es", "Esta guía está dirigida a los equipos municipales que preparan la evacuación de museos."),
        ("pt", "Este manual destina-se aos agentes de proteção civil dos municípios costeiros do país."),
        ("tr", "Bu rehber belediyelerin afet birimleri için yapılacak işleri ve süreleri belirler."),
    ],
)
def test_the_target_is_what_the_document_says_of_itself(language: str, sentence: str) -> None:
    around = "The water rose to the second floor and nobody in the whole valley had expected it to."
    _, target = summarise(extracted_from(f"{around}\n\n(1) {sentence}\n\n{around}"), language)
    assert target.value == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "Dient die Beschränkung dem Schutze der freiheitlichen demokratischen Grundordnung, so kann das Gesetz mehr.",
        "Although this Handbook is not intended to be a complete reference, the duties are set forth in the Code.",
        "For the purpose of this Agreement, the definitions contained in Article 1 of the Convention shall apply.",
        "The campaign is addressed to older people who live alone in the attic flats of the inner city.",
    ],
)
def test_other_sentences_are_no_target(sentence: str) -> None:
    _, target = summarise(extracted_from(sentence), "de" if sentence.startswith("Dient") else "en")
    assert target.value == ""


def test_a_heading_that_has_run_into_its_paragraph_is_no_part_of_a_description() -> None:
    prose = [f"Die Gemeinde {name} prüft den Deich in jedem Frühjahr mit zwei Wärtern." for name in "ABCDEFGHIJKLMN"]
    run_in = "2 Zweck der Zuwendungen Die Zuwendungen sollen den Gemeinden bei der Prüfung der Deiche helfen."
    description, _ = summarise(extracted_from(f"{prose[0]} {run_in} {' '.join(prose[1:])}"), "de")
    assert prose[0] in description.value
    assert "Zweck der Zuwendungen" not in description.value


def test_captions_footnotes_references_and_numbers_are_no_part_of_a_description() -> None:
    prose = [f"The dyke of section {n} is checked each spring by two wardens and a surveyor." for n in range(20)]
    junk = [
        "Figure 3: The dyke is checked each spring by two wardens and a surveyor of the office.",
        "Source: The dyke is checked each spring by two wardens and a surveyor of the office.",
        "1 See the dyke that is checked each spring by two wardens and a surveyor of the office.",
        "Miller, A. et al. (2019). The dyke that is checked each spring by two wardens and a surveyor.",
        "2 Purpose of the dyke The dyke is checked each spring by two wardens and a surveyor.",
        "Printed with the kind permission of the wardens who check the dyke each spring for a surveyor.",
        "Contribution of Working Group II of the wardens of the dyke that a surveyor checks each spring.",
        "II.1 The dyke (article 4) II.2 The wardens of the dyke (article 5) II.3 The surveyor.",
        "The dyke is checked each spring by two wardens (and a surveyor of the office)",
    ]
    text = "\n\n".join(f"({n}) {one}" for n, one in enumerate(prose)) + "\n\n" + "\n\n".join(junk)
    description, _ = summarise(extracted_from(text), "en")
    assert description.value
    assert not [one for one in junk if one in description.value]
    assert "(1)" not in description.value


def test_what_is_printed_smaller_is_no_part_of_a_description() -> None:
    prose = [f"The dyke of section {n} is checked each spring by two wardens and a surveyor." for n in range(20)]
    notes = ["The dyke is checked each spring by two wardens and a surveyor, a note of the editor says here."]
    text = "\n\n".join([*notes, *prose])
    whole = extracted_from(text)
    blocks = tuple(replace(one, font_size=8.0 if one.start == 0 else 10.0) for one in whole.blocks)
    description, _ = summarise(replace(whole, blocks=blocks), "en")
    assert description.value
    assert notes[0] not in description.value


def test_a_text_without_sentences_has_no_description_rather_than_half_a_one() -> None:
    description, target = summarise(extracted_from("id | name\n\nint4 | varchar"), "en")
    assert (description.value, target.value) == ("", "")


def test_the_notes_say_what_was_not_found() -> None:
    notes = notes_on([FieldValue("title", "Plan", "rule", "", None, 0.4)])
    assert "Title uncertain." in notes
    assert "No date found." in notes
    assert "No hazard found." in notes


def test_empty_and_strange_texts_are_described_without_an_error() -> None:
    for text in ("", " ", "\x00\x01", "?" * 5000, "مرحبا بالعالم", "洪水" * 500):
        assert _of(_describe(extracted_from(text), "xx"), "document_type") == ["Other"]


def test_a_sentence_that_begins_a_line_is_no_issuer_and_prepared_by_names_one() -> None:
    text = (
        "Action plan on hail\n\nThis action plan on hail was prepared by the Sample Agency of Canada with the people "
        "who know hail best.\n\nThe River Authority publishes flood hazard maps every six years and reviews them after"
    )
    lines = tuple(Line(found.start(), found.end(), 1, None) for found in re.finditer(r"[^\n]+", text))
    found = find_issuers(document_text(ExtractedText(text, 1, lines, (), "text/plain"), "en"), "")
    names = [one.value for one in found]
    assert names[:1] == ["Sample Agency of Canada"]
    assert not [name for name in names if "publishes" in name]
