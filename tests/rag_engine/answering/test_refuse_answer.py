"""A country or a year that the question names and no source speaks of."""

from dataclasses import replace

import pytest

from rag_engine.answering.refuse_answer import unnamed
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.planning.states import with_states
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source
from tests.rag_engine.conftest import make_evidence, make_source

TEXT = "The act of 2008 sets five-yearly budgets for emissions."


def asked(
    question: str, *, text: str = TEXT, language: str = "en", countries: tuple[str, ...] = (), level: str = ""
) -> Evidence:
    """Return what was found for a question: one source, about the given countries or level."""
    source = make_source(1, text)
    metadata = replace(source.document.metadata, countries=countries, geographical_level=level)
    source = replace(source, document=replace(source.document, metadata=metadata))
    evidence = make_evidence(question, [source], language=language)
    scope = with_states(find_places(question, load_gazetteer(), language), question)
    return replace(evidence, plan=replace(evidence.plan, scope=scope))


@pytest.mark.parametrize(
    ("question", "language", "named"),
    [
        ("What does the climate act of New Zealand set?", "en", "New Zealand"),
        ("Que prévoit la loi belge ?", "fr", "belge"),
        ("Azerbaycan'da bütçeler nasıl?", "tr", "Azerbaycan"),
        ("Chi approva i bilanci in Grecia?", "it", "Grecia"),
    ],
)
def test_a_country_that_no_document_is_about_is_said_in_the_questions_words(
    question: str, language: str, named: str
) -> None:
    evidence = asked(question, language=language, countries=("United Kingdom",), level="National")
    assert unnamed(evidence, load_gazetteer()) == named


def test_a_document_that_may_be_about_the_country_is_not_held_against_the_question() -> None:
    question, gazetteer = "Which budgets does Greece set?", load_gazetteer()
    assert not unnamed(asked(question), gazetteer)
    assert not unnamed(asked(question, level="Global"), gazetteer)
    assert not unnamed(asked(question, countries=("Greece",), level="National"), gazetteer)
    compared = asked(question, text="Unlike Greece, the act sets budgets.", countries=("United Kingdom",))
    assert not unnamed(compared, gazetteer)
    both = asked("Compare Greece and the United Kingdom.", countries=("United Kingdom",), level="National")
    assert not unnamed(both, gazetteer)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which budgets were set in 1911?", "1911"),
        ("Which budgets does the act of 2008 set?", ""),
        ("Which budgets were set in 1911 and 2008?", ""),
        ("What was published in 2020?", ""),
        ("What does Regulation (EU) 1911/1119 say of budgets?", ""),
    ],
)
def test_a_year_that_no_source_has_is_said(question: str, named: str) -> None:
    assert unnamed(asked(question), load_gazetteer()) == named


def test_a_source_that_is_hardly_likely_to_answer_says_nothing_about_the_country() -> None:
    question, gazetteer = "Che cosa fu deciso in Polonia sui bilanci?", load_gazetteer()
    unlikely = asked(question, language="it", countries=("Italy",), level="National")
    likely = asked(question, language="it", level="Global")

    def with_chance(evidence: Evidence, chance: float) -> Source:
        [source] = evidence.sources
        return replace(source, hits=tuple(replace(hit, chance=chance) for hit in source.hits))

    abroad = with_chance(unlikely, 0.1)
    assert unnamed(replace(unlikely, sources=(abroad, abroad)), gazetteer) == "Polonia"
    mixed = (abroad, abroad, with_chance(likely, 0.6))
    assert unnamed(replace(unlikely, sources=mixed), gazetteer) == ""


def in_doubt(evidence: Evidence, *chances: float) -> Evidence:
    """Return the evidence with its one source once for each chance, as doubtful as it can be."""
    [source] = evidence.sources
    sources = tuple(
        replace(source, hits=tuple(replace(hit, chance=chance) for hit in source.hits)) for chance in chances
    )
    return replace(evidence, sources=sources, ground="doubtful")


def test_in_doubt_a_document_on_the_whole_world_has_to_name_the_country() -> None:
    question, gazetteer = "Which budgets does Chile set?", load_gazetteer()
    silent = asked(question, level="Global/Supranational")
    assert unnamed(silent, gazetteer) == ""
    assert unnamed(in_doubt(silent, 0.1), gazetteer) == "Chile"
    naming = asked(question, level="Global/Supranational", text="Chile and Peru set budgets.")
    assert unnamed(in_doubt(naming, 0.1), gazetteer) == ""
    unknown = asked(question)
    assert unnamed(in_doubt(unknown, 0.1), gazetteer) == ""


def test_in_doubt_an_unlikely_source_does_not_vouch_for_the_year() -> None:
    gazetteer = load_gazetteer()
    silent = in_doubt(asked("Which budgets were set in 1930?"), 0.1)
    dated = in_doubt(asked("Which budgets were set in 1930?", text="Budgets were set in 1930."), 0.02)
    both = replace(silent, sources=(*silent.sources, *dated.sources))
    assert unnamed(both, gazetteer) == "1930"
    assert unnamed(replace(both, ground="enough"), gazetteer) == ""


def test_a_document_filed_under_a_region_has_to_name_the_country() -> None:
    question, gazetteer = "By when is Greece climate-neutral?", load_gazetteer()
    silent = asked(question, level="European region")
    assert unnamed(silent, gazetteer) == "Greece"
    named = asked(question, level="European region", text="Greece and Malta report their budgets.")
    assert unnamed(named, gazetteer) == ""


@pytest.mark.parametrize(
    ("question", "language", "named"),
    [
        ("What does Bavaria pay for a fire engine?", "en", "Bavaria"),
        ("Was zahlt der Freistaat Sachsen?", "de", "Freistaat Sachsen"),
        ("What does Germany pay for a fire engine?", "en", ""),
    ],
)
def test_what_a_country_decides_is_not_what_each_of_its_states_does(question: str, language: str, named: str) -> None:
    evidence = asked(question, language=language, countries=("Germany",), level="National")
    assert unnamed(evidence, load_gazetteer()) == named


def test_a_list_of_countries_that_hardly_answers_does_not_speak_of_one() -> None:
    parties = "Chile, Peru, Italy, France, Spain, Greece and Angola pay their shares."
    listed, gazetteer = (
        asked("Who approves plans in Chile?", level="Global/Supranational", text=parties),
        load_gazetteer(),
    )
    assert unnamed(in_doubt(listed, 0.1), gazetteer) == "Chile"
    assert unnamed(in_doubt(listed, 0.3), gazetteer) == ""


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("What does the Montreal Protocol limit?", TEXT, "Montreal Protocol"),
        ("What does the Montreal Protocol limit?", "Under the Montreal Protocol emissions fall.", ""),
        ("Che cosa limita il Protocollo di Montreal?", "Under the Montreal Protocol emissions fall.", ""),
        ("What does the GDPR limit?", TEXT, "GDPR"),
        ("What does the GDPR limit?", "The General Data Protection Regulation sets budgets.", ""),
        ("Which act sets budgets?", TEXT, ""),
        ("What does the Act of 2008 set?", TEXT, ""),
    ],
)
def test_an_act_that_no_source_names_is_said(question: str, text: str, named: str) -> None:
    assert unnamed(asked(question, text=text), load_gazetteer()) == named


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("What is the phone number of the agency?", "The agency sets emissions.", "phone"),
        ("What is the phone number of the agency?", "The agency: Tel. 030 123", ""),
        ("Quale stipendio riceve il presidente?", "Il presidente nomina i giudici.", "stipendio"),
        ("Quale stipendio riceve il presidente?", "The president is paid monthly.", ""),
        ("How many employees does the agency have?", "The agency reports 5 311 cases.", "employees"),
        ("How many employees does the agency have?", "The agency has a staff of 480.", ""),
    ],
)
def test_a_figure_about_another_matter_does_not_state_the_attribute(question: str, text: str, named: str) -> None:
    assert unnamed(asked(question, text=text), load_gazetteer()) == named


@pytest.mark.parametrize(
    ("question", "language", "text", "named"),
    [
        ("What does Annex II say?", "en", TEXT, "Annex II"),
        ("What does Annex II say?", "en", "Emissions are listed in Annex 2.", ""),
        ("O que consta do Anexo II?", "pt", TEXT, "Anexo II"),
        ("EK-1'de neler var?", "tr", TEXT, "EK-1"),
        ("Which budgets does Annex II set?", "en", TEXT, ""),
        ("What does the act say?", "en", TEXT, ""),
    ],
)
def test_a_section_that_no_source_is_of_is_said(question: str, language: str, text: str, named: str) -> None:
    assert unnamed(asked(question, text=text, language=language), load_gazetteer()) == named
