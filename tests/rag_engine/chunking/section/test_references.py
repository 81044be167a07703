"""References are found in every language, and lead to the section that they name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.chunking.section.chunks import section_chunks
from rag_engine.chunking.section.references import (
    Edge,
    find_references,
    named_sections,
    resolve,
)
from rag_engine.chunking.section.rules import normal_label
from rag_engine.config import ChunkSizes
from rag_engine.types.passage import Parent

NOUNS = [
    "Article", "Articles", "section", "§", "§§", "Art.", "arts.", "madde", "Madde", "Annex", "decision", "Schedule",
]  # fmt: skip
NUMBERS = ["4", "5(2)(a)", "12A", "55-A", "II", "2/CP.19", "1º", "117-bis", "First"]
JOINS = ["and", "und", "to", "–", ",", "nci", "of the Charter", "GG", "."]
WORDS = st.sampled_from([*NOUNS, *NUMBERS, *JOINS])
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)
LANGUAGES = st.sampled_from(["en", "de", "it", "es", "pt", "fr", "tr", "ru"])


def cut(text: str, language: str, title: str = "") -> list[Parent]:
    return section_chunks(text, language, title=title, blocks=(), config=ChunkSizes())


def edges_of(text: str, language: str, title: str = "") -> list[tuple[str, str]]:
    parents = cut(text, language, title)
    edges = resolve(find_references(text, language), parents)
    return [(parents[edge.origin].section, parents[edge.target].section) for edge in edges]


@pytest.mark.parametrize(
    ("language", "text", "labels"),
    [
        ("en", "see Article 9", ["article 9"]),
        ("en", "Articles 4, 7 and 9", ["article 4", "article 7", "article 9"]),
        ("en", "Articles 4 to 6", ["article 4", "article 5", "article 6"]),
        ("en", "under section 5(2) or Annex II", ["section 5", "annex 2"]),
        ("en", "the First Schedule and Schedule 2", ["schedule 1", "schedule 2"]),
        ("en", "as in Annexure-A and Schedule - II, part-time and full-time", ["annex a", "schedule 2"]),
        ("tr", "Ek-1 ve EK-2’de gösterilir", ["annex 1", "annex 2"]),
        ("de", "nach § 12 Abs. 1 und §§ 3 und 4", ["section 12", "section 3", "section 4"]),
        ("de", "die §§ 4 und 13 bis 15", ["section 4", "section 13", "section 14", "section 15"]),
        ("de", "gemäß Artikel 87a Abs. 4 und 5", ["article 87a"]),
        ("pt", "o art. 7º, inciso II, e os arts. 55-A e 11 desta Lei", ["article 7", "article 55a", "article 11"]),
        ("it", "l’articolo 117-bis, comma 2, e gli artt. 3 e 4", ["article 117bis", "article 3", "article 4"]),
        ("es", "los artículos 4 y 5", ["article 4", "article 5"]),
        ("fr", "l’article premier et les articles 4 à 6", ["article 1", "article 4", "article 5", "article 6"]),
        ("tr", "madde 19 uyarınca 12 ve 20 nci maddeler", ["article 19", "article 12", "article 20"]),
        ("tr", "Geçici Madde 2 uyarınca", ["provisional article 2"]),
    ],
)
def test_references_are_found_as_each_language_writes_them(language: str, text: str, labels: list[str]) -> None:
    assert sorted(reference.label for reference in find_references(text, language)) == sorted(labels)


@pytest.mark.parametrize(
    ("language", "text", "act"),
    [
        ("en", "Article 7 of the Charter", "Charter"),
        ("en", "Article 4 of Regulation (EU) 2018/1999", "Regulation (EU) 2018/1999"),
        ("en", "section 5 of this Act", ""),
        ("de", "Artikel 85 Abs. 4 des Grundgesetzes", "Grundgesetzes"),
        ("de", "§ 2 Nr. 2 und 3 des Arbeitssicherstellungsgesetzes", "Arbeitssicherstellungsgesetzes"),
        ("de", "Art. 3 GG", "GG"),
        ("pt", "art. 5º da Lei nº 9.307, de 1996", "Lei nº 9.307"),
        ("pt", "art. 23 desta Lei", ""),
        ("it", "art. 3 della Costituzione", "Costituzione"),
        ("en", "Article 2(1), (2) and (3) of Council Directive 91/271/EEC", "Council Directive 91/271"),
        ("en", "Article 6 thereof", "thereof"),
        ("fr", "l'article 2, paragraphes 1 et 2, de la directive 91/271/CEE", "directive 91/271/CEE"),
        ("fr", "l'article 6 de ladite loi", "de ladite"),
        ("de", "Artikel 5 Absatz 1 Buchstaben a und b der Verordnung (EU) 2020/852", "Verordnung (EU) 2020/852"),
        ("it", "articolo 4, commi 1 e 2, del decreto legislativo 152/2006", "decreto legislativo 152/2006"),
        ("tr", "bu Kanunun 12 nci maddesi", ""),
        ("tr", "Medeni Kanunun 5 inci maddesi", "Medeni Kanunun"),
    ],
)
def test_a_reference_says_which_other_act_it_names(language: str, text: str, act: str) -> None:
    assert [reference.act for reference in find_references(text, language)] == [act]


def test_a_decision_is_kept_by_its_symbol() -> None:
    found = find_references("Recalling decisions 1/CP.16 and 2/CP.18, and decision 2/CP.19, paragraph 5,", "en")
    assert [reference.document for reference in found] == ["1/CP.16", "2/CP.18", "2/CP.19"]


@given(text=TEXTS, language=LANGUAGES)
def test_every_reference_stands_in_the_text_and_names_a_section(text: str, language: str) -> None:
    for reference in find_references(text, language):
        assert 0 <= reference.start < reference.end <= len(text)
        assert reference.label == normal_label(reference.label)


@given(text=TEXTS.flatmap(lambda text: st.just(f"Article 4\n\n{text}\n\nArticle 5\n\n{text}\n\nSection 12A\n\n{text}")))
def test_edges_lead_from_where_they_are_written_to_another_section(text: str) -> None:
    parents = cut(text, "en")
    for edge in resolve(find_references(text, "en"), parents):
        origin = parents[edge.origin]
        assert origin.start <= edge.start < origin.end
        assert origin.section != parents[edge.target].section


def test_a_reference_to_another_act_leads_nowhere_in_this_one() -> None:
    text = (
        "Flood Act\n\nSection 1. Duty\n\nSee section 2 and section 3 of the Water Act.\n\n"
        "Section 2. Maps\n\nSection 2 of this Act and section 1 of the Flood Act apply.\n\nSection 3. End\n\nStop."
    )
    assert edges_of(text, "en", "Flood Act") == [("Section 1", "Section 2"), ("Section 2", "Section 1")]


def test_a_law_is_known_by_its_own_number_and_not_by_those_it_amends() -> None:
    text = (
        "Regulation 2021/1119 amending Regulation 2018/1999\n\n"
        "Article 1\n\nArticle 2 of Regulation 2018/1999 applies.\n\n"
        "Article 2\n\nArticle 1 of Regulation 2021/1119 applies."
    )
    assert edges_of(text, "en", "Regulation 2021/1119 amending Regulation 2018/1999") == [("Article 2", "Article 1")]


def test_a_section_in_several_parts_is_met_at_its_first() -> None:
    text = "Section 1. Duty\n\nSee section 2.\n\nSection 2. Maps\n\n" + "\n\n".join(
        f"({n}) " + "The authority draws maps. " * 60 for n in range(1, 12)
    )
    parents = cut(text, "en")
    assert [parent.section for parent in parents].count("Section 2") > 1
    assert resolve(find_references(text, "en"), parents) == [Edge(0, 1, 21, 30, "section 2")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Section 302", "s. 302"),
        ("sec 302", "SECTION 302"),
        ("Art. 9", "Article 9"),
        ("Artículo 9º", "Artikel 9"),
        ("§ 5", "Paragraf 5"),
        ("§5", "Section 5"),
        ("madde 5", "5. madde"),
        ("Madde 20", "20 nci madde"),
        ("Annex II", "Annex 2"),
        ("THE SECOND SCHEDULE", "Schedule II"),
        ("Art. 55-A", "art. 55a"),
        ("Art. 21¹", "article 21^1"),
        ("Präambel", "Preamble"),
    ],
)
def test_one_section_is_the_same_however_it_is_cited(first: str, second: str) -> None:
    assert normal_label(first) == normal_label(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Section 12", "Section 12A"),
        ("Article 5", "Section 5"),
        ("Madde 1", "Ek Madde 1"),
        ("Annex C", "Annex 100"),
        ("Art. 21¹", "Art. 211"),
        ("Art. 21 1", "Art. 211"),
    ],
)
def test_sections_with_another_number_or_noun_differ(first: str, second: str) -> None:
    assert normal_label(first) != normal_label(second)


@given(st.text(max_size=40))
def test_a_normal_label_is_its_own_normal_form(label: str) -> None:
    assert normal_label(normal_label(label)) == normal_label(label)


@pytest.mark.parametrize(
    ("question", "language", "named"),
    [
        ("What is the punishment under 302 IPC?", "en", ("section 302",)),
        ("What does Section 302 of the Indian Penal Code say?", "en", ("section 302",)),
        ("Compare sec 302 and u/s 376", "en", ("section 302", "section 376")),
        ("Was garantiert Art. 3 GG?", "de", ("article 3",)),
        ("Wer ist nach § 5 ZSKG zuständig?", "de", ("section 5",)),
        ("Cosa dice l’art. 9?", "it", ("article 9",)),
        ("5. madde ne diyor?", "tr", ("article 5",)),
        ("What did EU members decide in 2015 on floods?", "en", ()),
        ("Which floods were named in 2015 EU reports?", "en", ()),
        ("", "en", ()),
    ],
)
def test_a_question_names_sections_in_short_and_in_full(question: str, language: str, named: tuple[str, ...]) -> None:
    assert tuple(reference.label for reference in named_sections(question, language)) == named


def test_the_paris_agreement_refers_to_its_own_articles_and_its_decision_to_them(shared: Path) -> None:
    path = shared / "data" / "corpus" / "en_unfccc_cop21_decision1_paris.pdf"
    found = extract(path, ExtractionLimits(), None)
    parents = section_chunks(found.text, "en", title=found.title, blocks=found.blocks, config=ChunkSizes())
    edges = resolve(find_references(found.text, "en"), parents)
    pairs = {(parents[edge.origin].section, parents[edge.target].section) for edge in edges}
    assert {("Article 3", "Article 13"), ("Article 4", "Article 2"), ("Decision 1/CP.21", "Article 9")} <= pairs
    # "Article 15 of the Convention" is no article of the agreement.
    assert ("Article 22", "Article 15") not in pairs
