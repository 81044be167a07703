from __future__ import annotations

from ingestion.metadata.sidecar import describe
from rag_engine.types.document import ExtractedText
from tests.ingestion.texts import extracted_from

EXTRACTED = ExtractedText("Text", 1, (), (), "text/plain", title="A title of its own")


def test_what_was_given_wins_and_the_text_fills_the_rest() -> None:
    given = {"hazards": ["Flood"], "countries": ["Italia"], "date": "2019-05-02"}
    metadata, _ = describe(given, EXTRACTED, "it")
    assert metadata.title == "A title of its own"
    assert metadata.countries == ("Italy",)
    assert metadata.year == 2019
    assert metadata.hazards == ("Flood",)


DECREE = (
    "LEY 1523 DE 2012\n\n"
    "Por la cual se adopta la política nacional de gestión del riesgo de desastres en Colombia.\n\n"
    "El Congreso de Colombia decreta: Las inundaciones en Colombia obligan a las autoridades a prevenir inundaciones. "
    "La República de Colombia previene el riesgo de inundación en todos los municipios de Colombia.\n"
)


def test_rules_describe_what_nobody_described() -> None:
    extracted = extracted_from(DECREE)
    metadata, _ = describe({}, extracted, "es", file="ley_1523.txt")
    assert metadata.document_type == "Law"
    assert metadata.countries == ("Colombia",)
    assert metadata.geographical_level == "National"
    assert "Flood" in metadata.hazards
    assert metadata.notes.startswith("Metadata extracted automatically.")


def test_a_place_or_a_year_that_is_given_is_not_added_to_by_rules() -> None:
    given = {"countries": ["Peru"], "year": 1999}
    metadata, _ = describe(given, extracted_from(DECREE), "es", file="ley_1523.txt")
    assert (metadata.countries, metadata.geographical_level) == (("Peru",), "")
    assert (metadata.year, metadata.date) == (1999, "")


def test_a_language_left_empty_is_told_from_the_text() -> None:
    assert describe({"language": ""}, EXTRACTED, "it")[0].language == "it"
