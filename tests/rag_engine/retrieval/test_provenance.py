"""Provenance: the bonus of a passage from the act that a question names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.provenance import named_acts, provenance_bonus

PENAL, PROCEDURE = "Indian Penal Code, 1860", "THE CODE OF CRIMINAL PROCEDURE, 1973"
CONSTITUTION, COSTITUZIONE = "The Constitution of India", "Costituzione della Repubblica Italiana"
GRUNDGESETZ, STRAFGESETZBUCH = "Grundgesetz für die Bundesrepublik Deutschland", "Strafgesetzbuch"
ZSKG = (
    "Gesetz über den Zivilschutz und die Katastrophenhilfe des Bundes "
    "(Zivilschutz- und Katastrophenhilfegesetz - ZSKG) vom 25. März 1997"
)
ZSKG_SHORT = "Gesetz über den Zivilschutz (Zivilschutz- und Katastrophenhilfegesetz - ZSKG)"
CLIMATE = "Regulation (EU) 2021/1119 of 30 June 2021 (European Climate Law)"
LGPD, LEI = "Lei Geral de Proteção de Dados Pessoais (LGPD)", "Lei nº 13.709, de 14 de agosto de 2018"
KMK = "634 Sayılı Kat Mülkiyeti Kanunu"
PARIS, GUIDELINES = "Paris Agreement", "Guidelines"
ACTS = (
    PENAL, PROCEDURE, CONSTITUTION, COSTITUZIONE, GRUNDGESETZ, STRAFGESETZBUCH, ZSKG, ZSKG_SHORT, CLIMATE, LGPD, LEI,
    KMK, PARIS, GUIDELINES,
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "language", "acts"),
    [
        ("What is the punishment under Section 302 of the Indian Penal Code?", "en", {PENAL}),
        ("302 IPC", "en", {PENAL}),
        ("WHAT DOES SECTION 302 OF THE INDIAN PENAL CODE SAY?", "en", {PENAL}),
        ("When may the police arrest under the Code of Criminal Procedure?", "en", {PROCEDURE}),
        ("Section 154 of the Criminal Procedure Code", "en", {PROCEDURE}),
        ("CrPC section 154", "en", {PROCEDURE}),
        ("Which rights does Article 21 of the Constitution protect?", "en", {CONSTITUTION}),
        ("Cosa dice l'articolo 3 della Costituzione?", "it", {COSTITUZIONE}),
        ("Was sagt Art. 3 GG?", "de", {GRUNDGESETZ}),
        ("Wen schützt Artikel 5 des Grundgesetzes?", "de", {GRUNDGESETZ}),
        ("§ 211 StGB", "de", {STRAFGESETZBUCH}),
        ("§ 5 ZSKG", "de", {ZSKG, ZSKG_SHORT}),
        ("What is the European Climate Law's aim?", "en", {CLIMATE}),
        ("Article 4 of Regulation (EU) 2021/1119", "en", {CLIMATE}),
        ("O que a LGPD diz sobre dados sensíveis?", "pt", {LGPD}),
        ("Lei 13.709/2018, art. 5", "pt", {LEI}),
        ("KMK madde 5 ne diyor?", "tr", {KMK}),
        ("Kat Mülkiyeti Kanununun 5. maddesi", "tr", {KMK}),
        ("Kat Mülkiyeti Kanunu'nun 5. maddesi", "tr", {KMK}),
        ("article 4 of the Paris Agreement", "en", {PARIS}),
    ],
)
def test_an_act_is_named_by_its_name_its_abbreviation_or_its_number(
    question: str, language: str, acts: set[str]
) -> None:
    assert named_acts(question, language, ACTS) == acts


@pytest.mark.parametrize(
    "question",
    [
        "What do EU law and the guidelines say about floods?",
        "Which evidence of floods is there in India?",
        "Who agreed on the plan in Paris?",
        "What is the code of the alarm?",
        "Which articles did WHO publish in 2018?",
        "",
    ],
)
def test_words_that_an_act_only_shares_do_not_name_it(question: str) -> None:
    assert named_acts(question, "en", ACTS) == frozenset()


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=5), st.sampled_from(["en", "de", "tr", ""]))
def test_any_text_is_read_and_only_what_was_given_is_named(question: str, acts: list[str], language: str) -> None:
    assert named_acts(question, language, acts) <= set(acts)


def test_a_named_section_gains_more_than_a_named_act() -> None:
    sections = ("section 302",)
    assert provenance_bonus(sections, {PENAL}, PENAL, "Section 302", "") == 1.0
    assert provenance_bonus(sections, {PENAL}, PENAL, "Section 303", "") == 0.5
    assert provenance_bonus(sections, {PENAL}, PENAL, "", "") == 0.5


def test_a_section_of_that_number_in_another_act_gains_nothing_where_an_act_is_named() -> None:
    assert provenance_bonus(("section 302",), {PENAL}, PROCEDURE, "S. 302", "") == 0.0
    assert provenance_bonus(("section 302",), {PENAL}, "", "Section 302", "Some title") == 0.0


def test_without_a_named_act_a_section_of_that_number_gains_in_every_act() -> None:
    assert provenance_bonus(("section 302",), (), PENAL, "Section 302", "") == 1.0
    assert provenance_bonus(("section 302",), (), PROCEDURE, "S. 302", "") == 1.0


def test_the_title_of_a_document_names_its_act() -> None:
    assert provenance_bonus((), {PARIS}, "", "Art. 4", PARIS) == 0.5
    assert provenance_bonus(("article 4",), {PARIS}, "", "Art. 4", PARIS) == 1.0


def test_nothing_named_gains_nothing() -> None:
    assert provenance_bonus((), (), PENAL, "Section 302", "A title") == 0.0
    assert provenance_bonus((), (), "", "", "") == 0.0
