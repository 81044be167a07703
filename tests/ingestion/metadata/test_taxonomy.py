from __future__ import annotations

import pytest

from ingestion.metadata.taxonomy import load_taxonomy, term_table
from ingestion.metadata.term_matching import cut_words, find_terms


def test_labels_are_those_of_the_paper() -> None:
    taxonomy = load_taxonomy()
    assert taxonomy.labels("hazards") == (
        "Flood", "Earthquake", "Landslide", "Wildfire", "Heatwaves", "Climate change", "Multi-hazard", "Other",
    )  # fmt: skip
    assert taxonomy.labels("key_criteria") == (
        "Adaptive governance", "Health and wellbeing", "Active memory", "Social interaction and inclusiveness",
        "Socio-economic resilience",
    )  # fmt: skip
    assert set(taxonomy.labels("document_type")) == {
        "Policy brief", "Report", "Law", "Glossary", "Academic paper", "Recommendation", "Guidelines", "Framework",
        "Dataset", "Other",
    }  # fmt: skip
    assert "National" in taxonomy.labels("geographical_level")


@pytest.mark.parametrize(
    ("language", "text", "hazard"),
    [
        ("en", "The river flooded the town.", "Flood"),
        ("it", "Le inondazioni del 1966", "Flood"),
        ("de", "Das Jahrhunderthochwasser an der Elbe", "Flood"),
        ("nl", "de overstromingen in Limburg", "Flood"),
        ("tr", "Depremde hasar gören binalar", "Earthquake"),
        ("fr", "le glissement de terrain de Menton", "Landslide"),
        ("no", "et stort leirskred ved Gjerdrum", "Landslide"),
        ("pt", "os incêndios florestais de Pedrógão", "Wildfire"),
        ("es", "las olas de calor de 2003", "Heatwaves"),
        ("tr", "iklim değişikliğine uyum", "Climate change"),
        ("de", "Gesetz über den Katastrophenschutz", "Multi-hazard"),
        ("it", "la protezione civile", "Multi-hazard"),
        ("es", "la sequía de 2022", "Other"),
    ],
)
def test_hazards_are_known_in_many_languages(language: str, text: str, hazard: str) -> None:
    assert hazard in {mention.label for mention in find_terms(cut_words(text), term_table(language, "hazards"))}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Each year the town commemorates the flood of 1953."),
        ("en", "It draws on the local knowledge of herders."),
        ("it", "la memoria storica delle alluvioni"),
        ("fr", "les repères de crues et la mémoire du risque"),
        ("de", "die Lehren aus der Vergangenheit"),
        ("es", "los saberes ancestrales"),
    ],
)
def test_active_memory_is_seen_when_other_words_are_used(language: str, text: str) -> None:
    assert find_terms(cut_words(text), term_table(language, "key_criteria"))[0].label == "Active memory"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "museums and archives"),
        ("it", "i centri storici"),
        ("de", "der Kulturgutschutz"),
        ("tr", "kültür varlıkları"),
    ],
)
def test_heritage_is_seen_when_other_words_are_used(language: str, text: str) -> None:
    assert find_terms(cut_words(text), term_table(language, "tags"))[0].label == "Culture and Heritage"


def test_a_language_without_terms_is_searched_in_all() -> None:
    found = find_terms(cut_words("terremoto och hochwasser"), term_table("xx", "hazards"))
    assert {mention.label for mention in found} == {"Earthquake", "Flood"}
