"""Parents are the sections that are cited; children lie within one and say where they stand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.chunking.section.chunks import section_chunks, section_coverage
from rag_engine.config import ChunkSizes
from rag_engine.errors import InputError
from rag_engine.types.document import Block, BlockKind
from rag_engine.types.passage import Parent

DEFAULT = ChunkSizes()
SMALL = replace(DEFAULT, parent_size=400, child_size=200, child_overlap=30, child_minimum=20)

LINES = st.sampled_from(
    [
        "Section 1. Short title",
        "Section 2. Definitions",
        "Section 12A. Powers",
        "Article 3",
        "§ 5 Selbstschutz",
        "Art. 7º O tratamento somente poderá ser realizado:",
        "Madde 9 – Kat mülkiyeti kurulur.",
        "CHAPTER II",
        "PART I General",
        "Annex",
        "THE FIRST SCHEDULE",
        "Preamble",
        "Whereas:",
        "Decision 1/CP.21",
        "I.",
        "II. Adoption",
        "4.1 Scope",
        "(1) The Minister shall publish the plan.",
        "(a) flood maps; and",
        "see Article 9 of the Convention for the rest.",
        "Done at Rome.",
        "Floods are managed by the river authority. It warns the towns downstream in good time. " * 6,
        "word" * 90,
        "字水洪。" * 30,
        " \t ",
    ]
)
SEPARATORS = st.sampled_from(["\n", "\n\n", "\n \n", " "])
TEXTS = st.lists(st.tuples(LINES, SEPARATORS), max_size=24).map(
    lambda parts: "".join(line + separator for line, separator in parts)
)
LANGUAGES = st.sampled_from(["en", "de", "it", "es", "pt", "fr", "tr", "ru"])


def chunks(text: str, language: str = "en", title: str = "", blocks: tuple[Block, ...] = ()) -> list[Parent]:
    return section_chunks(text, language, title=title, blocks=blocks, config=DEFAULT)


def headed(*blocks: tuple[BlockKind, str]) -> tuple[str, tuple[Block, ...]]:
    """Return a text of blocks joined by blank lines, and its blocks."""
    text, found = "", []
    for kind, line in blocks:
        start = len(text) + 2 * bool(text)
        text = f"{text}\n\n{line}" if text else line
        found.append(Block(start, len(text), 1, kind))
    return text, tuple(found)


def sections(parents: list[Parent]) -> list[str]:
    return [parent.section for parent in parents]


def find(parents: list[Parent], section: str) -> Parent:
    return next(parent for parent in parents if parent.section == section)


@given(text=TEXTS, language=LANGUAGES, config=st.sampled_from([DEFAULT, SMALL]))
def test_everything_but_white_space_lies_in_one_parent_and_in_its_children(
    text: str, language: str, config: ChunkSizes
) -> None:
    parents = section_chunks(text, language, title="Flood Act", blocks=(), config=config)
    covered = [False] * len(text)
    end = 0
    for index, parent in enumerate(parents):
        assert parent.index == index
        assert parent.start >= end
        assert parent.text == text[parent.start : parent.end]
        end = parent.end
        for child in parent.children:
            assert child.text == parent.text[child.start : child.end]
            for place in range(parent.start + child.start, parent.start + child.end):
                covered[place] = True
    assert all(covered[place] or letter.isspace() for place, letter in enumerate(text))


@given(text=TEXTS, language=LANGUAGES)
def test_every_parent_stands_under_the_title_at_the_depth_of_its_headings(text: str, language: str) -> None:
    for parent in section_chunks(text, language, title="Flood Act", blocks=(), config=SMALL):
        assert parent.headings[0] == "Flood Act"
        assert parent.depth == len(parent.headings) - 1
        assert not (parent.act and not parent.section) or parent.act in {"Flood Act", *parent.headings}


@given(text=TEXTS)
def test_the_parts_of_a_long_section_are_not_longer_than_its_bound(text: str) -> None:
    for parent in section_chunks(text * 9, "en", title="", blocks=(), config=DEFAULT):
        assert len(parent.text) <= ChunkSizes().section_size


@given(count=st.integers(2, 30), noun=st.sampled_from(["Section", "Article", "Rule", "Clause"]))
def test_no_child_reaches_into_another_section(count: int, noun: str) -> None:
    text = "\n\n".join(
        f"{noun} {n}. Duty number {n}\n\n" + f"The owner keeps dyke {n} in repair. " * 40 for n in range(1, count)
    )
    parents = chunks(text)
    assert list(dict.fromkeys(sections(parents))) == [f"{noun} {n}" for n in range(1, count)]
    for parent in parents:
        for child in parent.children:
            assert f"{noun} {int(parent.section.split()[1]) + 1}. " not in child.text


def test_a_reference_at_the_start_of_a_paragraph_opens_no_section() -> None:
    text = (
        "Article 1\n\nThe plan is published.\n\nArticle 9 of the Convention applies to it.\n\n"
        "Article 4, paragraph 2, is not affected.\n\nSection 5(2) remains in force.\n\nArticle 2\n\nIt is reviewed."
    )
    assert sections(chunks(text)) == ["Article 1", "Article 2"]


def test_a_german_reference_by_paragraph_opens_no_section() -> None:
    text = (
        "§ 1 Zweck\n\n§ 5 Absatz 2 gilt entsprechend.\n\n§ 7 Abs. 1 Satz 2 bleibt unberührt.\n\n§ 2 Aufgaben\n\nText."
    )
    assert sections(chunks(text, "de")) == ["§ 1", "§ 2"]


def test_a_table_of_contents_opens_no_section() -> None:
    contents = "\n\n".join(f"Section {n}. Duty {n}" for n in range(1, 6))
    body = "\n\n".join(f"Section {n}. Duty {n}\n\nThe owner shall do duty {n}." for n in range(1, 6))
    parents = chunks(f"Contents\n\n{contents}\n\n{body}")
    assert sections(parents) == ["", *(f"Section {n}" for n in range(1, 6))]
    assert parents[0].text.endswith("Section 5. Duty 5")


def test_contents_of_numbered_headings_and_annexes_open_no_section() -> None:
    contents: list[tuple[BlockKind, str]] = [("heading", line) for line in ("1 Scope", "2 Tests", "3 Ends", "Annex A")]
    body: list[tuple[BlockKind, str]] = [
        part for heading in contents for part in (heading, ("text", "Dykes are walked in spring and after floods."))
    ]
    text, blocks = headed(("heading", "Contents"), *contents, *body)
    assert sections(chunks(text, blocks=blocks)) == ["", "1", "2", "3", "Annex A"]


def test_sections_are_levels_where_articles_are_cited() -> None:
    articles = "\n\n".join(f"Article {n}\n\nThe Commission shall act {n}." for n in range(1, 5))
    parents = chunks(f"CHAPTER I\n\nSection 1\n\nGeneral rules\n\n{articles}", title="Regulation")
    assert sections(parents) == [f"Article {n}" for n in range(1, 5)]


def test_the_levels_above_a_section_lead_to_it() -> None:
    text, blocks = headed(
        ("heading", "Flood Protection Act"),
        ("heading", "PART I General"),
        ("heading", "CHAPTER 1 Purpose"),
        ("heading", "Section 1. Short title"),
        ("text", "This Act may be cited as the Flood Protection Act."),
        ("heading", "CHAPTER 2 Duties"),
        ("heading", "Section 2. Dykes"),
        ("text", "(1) The owner keeps the dyke in repair."),
    )
    parents = chunks(text, title="Flood Protection Act", blocks=blocks)
    assert find(parents, "Section 2").headings == (
        "Flood Protection Act", "PART I General", "CHAPTER 2 Duties", "Section 2 Dykes",
    )  # fmt: skip
    assert find(parents, "Section 2").depth == 3
    assert find(parents, "Section 2").act == "Flood Protection Act"


def test_a_title_that_the_text_does_not_confirm_is_no_act() -> None:
    parents = chunks("Article 1\n\nThe plan is published.", title="scan 0042")
    assert [parent.act for parent in parents] == [""]


def test_preamble_definitions_and_schedules_carry_the_heading_that_encloses_them() -> None:
    text, blocks = headed(
        ("heading", "Preamble"),
        ("text", "WHEREAS floods have become more frequent, it is enacted as follows."),
        ("heading", "Section 2. Definitions"),
        ("text", "In this Act,"),
        ("text", "“dyke” means an embankment against water;"),
        ("heading", "THE FIRST SCHEDULE"),
        ("heading", "Rivers of the first order"),
        ("text", "The Elbe and the Po."),
    )
    parents = chunks(text, blocks=blocks)
    assert sections(parents) == ["Preamble", "Section 2", "THE FIRST SCHEDULE"]
    assert "“dyke” means" in find(parents, "Section 2").text
    assert find(parents, "THE FIRST SCHEDULE").headings == ("THE FIRST SCHEDULE Rivers of the first order",)


def test_an_annexed_instrument_is_an_act_of_its_own() -> None:
    text, blocks = headed(
        ("heading", "Decision 1/CP.99"),
        ("heading", "Adoption of the Rome Accord"),
        ("text", "1. Decides to adopt the Rome Accord;"),
        ("heading", "Annex"),
        ("heading", "Rome Accord"),
        ("text", "The Parties to this Accord,"),
        ("heading", "Article 1"),
        ("text", "Each Party shall draw flood maps."),
        ("heading", "Decision 2/CP.99"),
        ("heading", "Budget"),
        ("text", "1. Approves the budget;"),
    )
    parents = chunks(text, title="Adoption of the Rome Accord and Budget", blocks=blocks)
    assert [(parent.section, parent.act) for parent in parents] == [
        ("Decision 1/CP.99", "Adoption of the Rome Accord and Budget"),
        ("Annex", "Rome Accord"),
        ("Preamble", "Rome Accord"),
        ("Article 1", "Rome Accord"),
        ("Decision 2/CP.99", "Adoption of the Rome Accord and Budget"),
    ]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "pt",
            "Art. 1º Esta Lei dispõe sobre dados.\n\nArt. 2º São fundamentos:\n\nI - o respeito;",
            ["Art. 1º", "Art. 2º"],
        ),
        (
            "pt",
            "Art. 1º Esta Lei vale. (Incluído em 2019) Art. 2º A disciplina tem fundamentos.",
            ["Art. 1º", "Art. 2º"],
        ),
        (
            "tr",
            "Amaç MADDE 1- (1) Bu Yönetmelik.\n\nEk Madde 1 – Görev.\n\nGeçici Madde 2 – Süre.",
            ["MADDE 1", "Ek Madde 1", "Geçici Madde 2"],
        ),
        (
            "es",
            "Artículo 1. Objeto\n\nEl plan se publica.\n\nArtículo 2. Ámbito\n\nSe aplica a todos.",
            ["Artículo 1", "Artículo 2"],
        ),
        ("fr", "Article premier\n\nLe plan est publié.\n\nArticle 2\n\nIl est revu.", ["Article premier", "Article 2"]),
        (
            "it",
            "Art. 1 - Oggetto\n\nIl piano è pubblico.\n\nArt. 2-bis - Ambito\n\nSi applica.",
            ["Art. 1", "Art. 2-bis"],
        ),
        (
            "en",
            "Recommendation 1\n\nMap floods.\n\nRecommendation 2\n\nWarn people.",
            ["Recommendation 1", "Recommendation 2"],
        ),
        ("ru", "Article 1\n\nText one.\n\nArticle 2\n\nText two.", ["Article 1", "Article 2"]),
    ],
)
def test_each_language_heads_its_sections_in_its_own_way(language: str, text: str, expected: list[str]) -> None:
    assert sections(chunks(text, language)) == expected


def test_numbered_headings_are_sections_where_nothing_else_is_cited() -> None:
    text, blocks = headed(
        ("heading", "1 Scope"),
        ("text", "This standard covers dykes."),
        ("heading", "2 Terms"),
        ("heading", "2.1 Dyke"),
        ("text", "An embankment."),
        ("heading", "3 Tests"),
        ("text", "Dykes are tested."),
    )
    parents = chunks(text, blocks=blocks)
    assert sections(parents) == ["1", "2.1", "3"]
    # A heading alone says nothing: it is read with the section that it leads to.
    assert find(parents, "2.1").text.startswith("2 Terms\n\n2.1 Dyke\n\nAn embankment")
    assert find(parents, "2.1").headings == ("2 Terms", "2.1 Dyke")
    assert find(parents, "3").headings == ("3 Tests",)


@pytest.mark.parametrize(
    ("language", "text", "clauses"),
    [
        ("en", "Section 1. Duties\n\n(1) First {f}\n\n(2) Second {f}\n\n(a) letter {f}", ["", "(1)", "(2)", "(2)(a)"]),
        (
            "de",
            "§ 1 Pflichten\n\n(1) Erstens {f}\n\n(2) Zweitens {f}\n\n1. Ziffer {f}",
            ["", "Abs. 1", "Abs. 2", "Abs. 2 Nr. 1"],
        ),
        (
            "pt",
            "Art. 1º Deveres {f}\n\nI - inciso {f}\n\n§ 1º parágrafo {f}\n\nII - inciso {f}",
            ["", "I", "§ 1º", "§ 1º, II"],
        ),
    ],
)
def test_a_child_says_in_which_clause_it_begins(language: str, text: str, clauses: list[str]) -> None:
    parents = chunks(text.format(f="dyke and river and town " * 70), language)
    seen = dict.fromkeys(child.clause for parent in parents for child in parent.children)
    assert list(seen) == clauses


def test_a_long_section_is_parted_between_its_clauses() -> None:
    text = "Section 1. Duties\n\n" + "\n\n".join(f"({n}) " + "The owner repairs it. " * 60 for n in range(1, 13))
    parents = chunks(text)
    assert len(parents) > 1
    assert set(sections(parents)) == {"Section 1"}
    assert all(parent.text.startswith(("Section", "(")) for parent in parents)


def test_a_text_without_sections_is_cut_under_its_title_and_names_none() -> None:
    text = "Floods\n\n" + "\n\n".join(f"Paragraph on river {n}. " + "Water rises in spring. " * 20 for n in range(20))
    parents = chunks(text, title="Floods")
    assert {(parent.section, parent.act, parent.headings, parent.depth) for parent in parents} == {
        ("", "", ("Floods",), 0)
    }
    assert all(len(parent.text) <= DEFAULT.parent_size for parent in parents)
    assert section_coverage(text, "en") == (0, 0.0)


def test_coverage_counts_sections_and_the_share_of_text_in_them() -> None:
    head, body = (
        "Flood Act of the Sample Country, as amended\n\n",
        "Section 1. Duty\n\nDo it.\n\nSection 2. End\n\nStop.",
    )
    count, share = section_coverage(head + body, "en")
    assert count == 2
    assert share == pytest.approx(len(body) / len(head + body))


def test_nothing_comes_of_an_empty_text() -> None:
    assert chunks("") == []
    assert chunks(" \n\n\t") == []
    assert section_coverage("", "en") == (0, 0.0)


def test_children_too_small_for_their_overlap_are_refused() -> None:
    with pytest.raises(InputError, match="child_size=300"):
        section_chunks("Section 1. Duty", "en", title="", blocks=(), config=replace(DEFAULT, child_size=300))
