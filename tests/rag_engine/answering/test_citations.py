import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.citations import answer_sentences, cite
from rag_engine.answering.replies import check_marks, without_references
from tests.rag_engine.conftest import CountingEmbedder, make_source

TEXT = (
    "The ministry keeps the register of dams. Local authorities inspect every dyke once a year. "
    "Flood maps are renewed every six years under Directive 2007/60/EC. Private insurers may read them."
)


def page_of(document: int, offset: int) -> int:
    return 1 + offset // 100


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Dykes [Source 3].", "Dykes [Source 3]."),
        ("Dykes [source 3].", "Dykes [Source 3]."),
        ("Dykes 【Source 2】.", "Dykes [Source 2]."),
        ("Dykes [Source 1, 2].", "Dykes [Source 1][Source 2]."),
        ("Dykes [Sources 1 and 4].", "Dykes [Source 1][Source 4]."),
        ("Dykes [Sources 1-3].", "Dykes [Source 1][Source 2][Source 3]."),
        ("Dykes [Source 1; Source 4].", "Dykes [Source 1][Source 4]."),
        ("Dykes [Source: 2].", "Dykes [Source 2]."),
        ("Dykes (Source 2).", "Dykes [Source 2]."),
        ("Dykes [Source 2, p. 14].", "Dykes [Source 2]."),
        ("Dykes [Source 2: Flood act, 2020].", "Dykes [Source 2]."),
        ("Deiche [Quelle 2 und 3].", "Deiche [Source 2][Source 3]."),
        ("Argini [Fonti 1 e 2].", "Argini [Source 1][Source 2]."),
        ("Dykes [1].", "Dykes [Source 1]."),
        ("Dykes [1, 3].", "Dykes [Source 1][Source 3]."),
        ("Dykes [^2].", "Dykes [Source 2]."),
        ("Dykes 【1】.", "Dykes [Source 1]."),
        ("Dykes 【4†source】.", "Dykes [Source 4]."),
        ("According to Source 1, dykes broke.", "According to [Source 1], dykes broke."),
        ("Dykes broke, as Sources 1 and 2 say.", "Dykes broke, as [Source 1][Source 2] say."),
        ("Dykes broke (see Source 1).", "Dykes broke [Source 1]."),
        ("**Source 1** Dykes broke.", "[Source 1] Dykes broke."),
        ("Dykes [S1].", "Dykes [Source 1]."),
        ("Dykes [Doc 1]. Dams [Document 2].", "Dykes [Source 1]. Dams [Source 2]."),
        ("Dykes [Source no. 1].", "Dykes [Source 1]."),
        ("Dykes [1, p. 3].", "Dykes [Source 1]."),
        ("Dykes [citation:1].", "Dykes [Source 1]."),
        ("Dykes [^1^].", "Dykes [Source 1]."),
        (r"Dykes \[1\].", "Dykes [Source 1]."),
        ("Dykes {Source 1}.", "Dykes [Source 1]."),
        ("Dykes [Sources 1 through 3].", "Dykes [Source 1][Source 2][Source 3]."),
        ("Dykes [Source 1 to 3].", "Dykes [Source 1][Source 2][Source 3]."),
        ("Dykes (Source 1: Ministry (2020)).", "Dykes [Source 1]."),
        ("Secondo la fonte 1, gli argini (vedi fonte 2).", "Secondo la [Source 1], gli argini [Source 2]."),
        ("Selon la source 1, les digues (voir source 2).", "Selon la [Source 1], les digues [Source 2]."),
        (
            "D’après la source 1 les digues, comme l’indique la source 2.",
            "D’après la [Source 1] les digues, comme l’indique la [Source 2].",
        ),
        ("Según la fuente 1, los diques (véase la fuente 2).", "Según la [Source 1], los diques [Source 2]."),
        (
            "Laut Quelle 1 sind Deiche, wie Quelle 2 zeigt (siehe Quelle 3).",
            "Laut [Source 1] sind Deiche, wie [Source 2] zeigt [Source 3].",
        ),
        ("Segundo a fonte 1, os diques (ver fonte 2).", "Segundo a [Source 1], os diques [Source 2]."),
        ("Kaynak 1’e göre setler (bkz. Kaynak 2).", "[Source 1]’e göre setler [Source 2]."),
        ("Dykes (Source 1). Dams [2].", "Dykes [Source 1]. Dams [Source 2]."),
    ],
)
def test_every_form_of_citation_is_written_as_source_n(written: str, expected: str) -> None:
    assert check_marks(written, {1, 2, 3, 4}).text == expected


def test_a_source_that_does_not_exist_is_removed_and_named() -> None:
    checked = check_marks("Dykes broke [Source 9]. Dams held [Source 1, 12].", {1, 2})
    assert checked.text == "Dykes broke. Dams held [Source 1]."
    assert (checked.cited, checked.removed) == ((1,), (9, 12))
    assert "not given (9, 12)" in checked.warnings[0]


def test_a_number_alone_in_brackets_is_no_citation_in_a_quotation_a_link_or_beside_full_ones() -> None:
    quoted = "The report says “dykes broke [1] in three places” [Source 2]."
    assert check_marks(quoted, {1, 2}).text == quoted
    assert check_marks("See [1](https://example.org) and the act of [1998].", {1}).text.startswith("See [1](https")
    beside = check_marks("Dykes [Source 1]. The list of works [9].", {1})
    assert (beside.text, beside.removed) == ("Dykes [Source 1]. The list of works [9].", ())
    alone = check_marks("Dykes [1]. Dams [9].", {1})
    assert (alone.text, alone.removed) == ("Dykes [Source 1]. Dams.", (9,))


@pytest.mark.parametrize(
    "listed",
    [
        "References:\n[Ministry, Flood Act, 2020]\n- [Source 2] Agency, Dams, 2019",
        "**Sources**\n\n1. Ministry, Flood Act, 2020",
        "### Quellen\n* [Source 1]",
        "List of references:\n[Source 1] Ministry, Flood Act",
        "Sources used: Invented Body, 1999, page 77",
        "**References:** [Ministry, Flood Act, 2020]",
        "Bibliography\nMinistry of Water, Flood Act, 2020\nSmith (2019). Dams. https://example.org",
        "Quellenverzeichnis\nMinisterium, Hochwassergesetz, S. 12",
        "Elenco delle fonti\n- Ministero, 2020",
        "Liste des sources :\nMinistère de l’Eau, Loi sur les digues",
        "5. Works cited\n\n1. Ministry, Flood Act",
        "Kaynakça:\n- Bakanlık, 2020",
        "[Source 1] Ministry, Flood Act, 2020\n[Source 2] Agency, Dams, p. 3",
        "Sources\n- [Source 1]\n\nBibliography\n- [Source 2]",
    ],
)
def test_a_list_of_references_that_a_model_writes_is_dropped(listed: str) -> None:
    assert without_references(f"Dykes are inspected [Source 1].\n\n{listed}") == "Dykes are inspected [Source 1]."


def test_what_follows_a_list_of_references_stays_and_so_does_a_text_without_one() -> None:
    text = "Dykes [Source 1].\n\nReferences\n- [Source 1]\nNothing is said of dams."
    assert without_references(text) == "Dykes [Source 1].\n\nNothing is said of dams."
    for kept in (
        "References to dykes [Source 1].",
        "Sources: lightning and campers [Source 1].\nMore is not known.",
        "Dykes hold.\n[Source 1] After the rain, the dam broke on 3 May, 2020.",
        "Dykes hold.\n\n- [Source 1] Insurers may read them, and owners.",
        "Dykes hold.\n[Source 1]",
        "Sources:\n- [Source 1] Ministry, Flood Act, 2020",
    ):
        assert without_references(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "[12]",
        "(Source: Eurostat 2019)",
        "a [source] of heat",
        "[Source 2020]",
        "Source 1",
        "Source 1 emissions fell (Source 1 emissions), and so did Scope 1.",
        "According to Source 1 emissions data, the noise from source 1, a mill, fell.",
        "See source 1 emissions.",
        "The fumes come from source 1, a mill. Agit comme une source 1, ou como una fuente 1, o come una fonte 1.",
        "“According to Source 1, dykes broke.”",
        "BVerfG, decision of [1] BvR 2656/18",
        "document 1 of the annex, (document 1 of the annex), [document 1 of the annex], [Document 1/2019]",
        "Seite [S. 1]",
        "La source 1 de bruit, la fonte 1 di rumore, la fuente 1 de ruido, Quelle 1 des Lärms, kaynak 1 gürültü",
    ],
)
def test_other_brackets_and_sources_of_something_stay(text: str) -> None:
    assert check_marks(text, {1}).text == text


@given(st.text(alphabet=st.sampled_from("[]() Source123,;-and.\n"), max_size=80), st.sets(st.integers(1, 12)))
def test_checked_text_cites_only_what_exists_and_checking_again_changes_nothing(text: str, numbers: set[int]) -> None:
    checked = check_marks(text, numbers)
    assert set(checked.cited) <= numbers
    assert not set(checked.removed) & numbers
    again = check_marks(checked.text, numbers)
    assert set(again.cited) >= set(checked.cited)


def test_a_citation_points_to_the_sentence_that_supports_the_claim(embedder: CountingEmbedder) -> None:
    source = make_source(2, TEXT, hits=[(0, 40), (41, len(TEXT))])
    answer = "Every six years the flood maps are renewed [Source 2]. Nobody knows more."
    (citation,) = cite(answer, "en", [source], embedder=embedder, page_of=page_of)
    assert citation.quote == "Flood maps are renewed every six years under Directive 2007/60/EC."
    assert TEXT[citation.start - source.start : citation.end - source.start] == citation.quote
    assert citation.page == page_of(2, citation.start)
    assert citation.child_id == source.hits[1].child_id


def test_a_mark_after_the_full_stop_or_on_a_line_of_its_own_belongs_to_the_sentence_before(
    embedder: CountingEmbedder,
) -> None:
    source = make_source(1, TEXT)
    for answer in (
        "Insurers may read them. [Source 1] Dykes are seen to.",
        "Private insurers may read maps.\n[Source 1]",
        "Dykes.\n\n- [Source 1] Private insurers may read them.",
    ):
        (citation,) = cite(answer, "en", [source], embedder=embedder, page_of=page_of)
        assert citation.quote == "Private insurers may read them.", answer


def test_two_claims_from_one_source_give_two_quotes_and_the_list_of_references_none(embedder: CountingEmbedder) -> None:
    answer = (
        "The ministry keeps a register of dams [Source 1]. Dykes are inspected once a year [Source 1].\n\n"
        "**References:**\n[Source 1] Ministry, Flood maps, 2020"
    )
    citations = cite(answer, "en", [make_source(1, TEXT)], embedder=embedder, page_of=page_of)
    assert [citation.quote[:9] for citation in citations] == ["The minis", "Local aut"]


def test_a_claim_in_another_language_still_gets_a_quote_from_what_was_found(embedder: CountingEmbedder) -> None:
    source = make_source(1, TEXT, hits=[(41, 91)])
    citations = cite("Ogni argine viene controllato [Source 1].", "it", [source], embedder=embedder, page_of=page_of)
    assert [citation.n for citation in citations] == [1]


def test_a_claim_in_a_sentences_own_words_needs_no_encoder(embedder: CountingEmbedder) -> None:
    answer = "“Private insurers may read them.” [Source 1]"
    cite(answer, "en", [make_source(1, TEXT)], embedder=embedder, page_of=page_of)
    assert embedder.encoded == 0


def test_few_sentences_are_encoded_however_many_sources_are_cited(embedder: CountingEmbedder) -> None:
    sources = [make_source(n, TEXT * 10) for n in range(1, 16)]
    answer = " ".join(f"Maps number {n} cover dams [Source {n}]." for n in range(1, 16))
    citations = cite(answer, "en", sources, embedder=embedder, page_of=page_of)
    assert {citation.n for citation in citations} == set(range(1, 16))
    assert embedder.encoded <= 48 + 15


def test_a_line_break_ends_a_sentence_of_an_answer() -> None:
    # As smollm2:135m wrote it, without a full stop.
    text = "[Source 1] The guide of the council (2023)\nThis document lists objects [Source 2]"
    assert [(one.text, one.numbers) for one in answer_sentences(text, "en")] == [
        ("The guide of the council (2023)", (1,)),
        ("This document lists objects", (2,)),
    ]
