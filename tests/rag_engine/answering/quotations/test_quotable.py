"""Parts of a source that can be quoted, and those that come along to be understood."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.quotations.quotable import leans, units_of, with_context

PLAN = """The plan shall contain:

(a) the names of the wardens;
(b) the list of shelters, and
(c) the routes.

15. Recognizes that limiting warming requires deep cuts. It also notes the report of the panel.

Country: Sweden; Domestic (%): 30.2; Total (n): 7,106

CHAPTER 4

Who keeps the keys of the shelters at night?

Contents of the plan ........ 5"""
WHOLE = PLAN[: PLAN.index("\n\n15.")]


def quoted(beginning: str) -> str:
    """Return what is quoted for the unit that begins so."""
    units = units_of(PLAN, "en")
    [unit] = [one for one in units if PLAN[one.start :].startswith(beginning)]
    start, end = with_context(unit, PLAN, units, "en")
    return PLAN[start:end]


def test_headings_questions_and_lines_of_contents_are_not_quoted() -> None:
    found = [PLAN[one.start : one.end] for one in units_of(PLAN, "en")]
    assert not any(text.startswith(("CHAPTER", "Who keeps", "Contents")) for text in found)


@pytest.mark.parametrize("beginning", ["The plan shall", "(a)", "(b)", "(c)"])
def test_an_enumeration_is_quoted_whole_with_its_opening_words(beginning: str) -> None:
    assert quoted(beginning) == WHOLE


def test_an_item_of_a_long_enumeration_is_quoted_alone() -> None:
    text = "The plan shall contain:\n\n" + "\n".join(f"({sign}) {'the names of wardens ' * 12};" for sign in "abcdefgh")
    units = units_of(text, "en")
    last = units[-1]
    assert last.opening == "The plan shall contain:"
    assert with_context(last, text, units, "en") == (last.start, last.end)


def test_a_note_of_the_editors_between_opening_words_and_items_ends_no_enumeration() -> None:
    text = "Ficam sujeitos às seguintes sanções:\n\n(Vigência)\n\nI - advertência com prazo;\n\nII - multa de até 2%."
    units = units_of(text, "pt")
    assert [unit.kind for unit in units] == ["sentence", "item", "item"]
    assert with_context(units[0], text, units, "pt") == (0, len(text))


def test_a_sentence_that_leans_on_the_one_before_comes_with_it() -> None:
    assert quoted("It also notes").startswith("15. Recognizes")
    assert quoted("15. Recognizes") == "15. Recognizes that limiting warming requires deep cuts."


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("It must be renewed.", "en"),
        ("Esso è rinnovato ogni anno.", "it"),
        ("Cette liste est publiée.", "fr"),
        ("Dieser Plan gilt.", "de"),
        ("Bunlar yayımlanır.", "tr"),
    ],
)
def test_words_that_stand_for_something_named_before_are_known(sentence: str, language: str) -> None:
    assert leans(sentence, language)
    assert not leans("The plan is renewed.", language)


def test_a_sentence_that_leans_on_its_heading_comes_with_it() -> None:
    text = "Gorno\n\nIts population is 3,120. It lies by the sea.\n\nDolno\n\nThe village has a market."
    units = units_of(text, "en")
    assert text[slice(*with_context(units[0], text, units, "en"))] == "Gorno\n\nIts population is 3,120."
    assert text[slice(*with_context(units[2], text, units, "en"))] == "The village has a market."


@pytest.mark.parametrize(
    ("lead", "items"),
    [
        ("The manager does the following:", ["a) keeps the books;", "b) insures the house;", "c) repairs;"]),
        (
            "Yönetici aşağıdaki işleri görür:",
            ["a) kararların yerine getirilmesi;", "b) sigorta;", "c) bakım;", "ç) onarım;"],
        ),
        ("(2) Zum Zivilschutz gehören insbesondere", ["1. der Selbstschutz,", "2. die Warnung,", "3. der Schutzbau."]),
        ("The body reports on:", ["(h) dykes;", "(i) gates; and", "(j) sluices."]),
        ("The plan names:", ["(a) its wardens, namely:", "(i) the first; and", "(ii) the second;", "(b) its routes."]),
        ("Considera-se:", ["I - dado pessoal: informação;", "(Vigência)", "II - titular: pessoa natural."]),
    ],
)
def test_opening_words_bring_all_their_items(lead: str, items: list[str]) -> None:
    text = "\n\n".join(["The chapter is long.", lead, *items, "The next paragraph says something else entirely."])
    units = units_of(text, "en")
    [first] = [one for one in units if text.startswith(lead, one.start)]
    assert text[slice(*with_context(first, text, units, "en"))] == "\n\n".join([lead, *items])


def test_the_end_of_a_sentence_that_was_cut_opens_no_enumeration() -> None:
    text = "The law sets out a vision of the\n\nnew water cycle:\n\n1. reducing what is drawn;\n\n2. storing rain."
    assert not [unit for unit in units_of(text, "en") if unit.lead is not None]


def test_a_row_of_a_table_is_a_unit() -> None:
    assert quoted("Country") == "Country: Sweden; Domestic (%): 30.2; Total (n): 7,106"


def test_a_paragraph_whose_number_has_a_cell_of_its_own_is_a_sentence_without_it() -> None:
    text = "(29) | The dykes are to be neutral by 2050 in view of the plan.\n\nLength of dykes | 1999."
    [unit] = units_of(text, "en")
    assert (unit.kind, text[unit.start : unit.end]) == ("sentence", text[7:63])


def test_items_whose_letters_have_cells_of_their_own_are_quoted_under_their_opening_words() -> None:
    text = "The plan shall contain:\n\n(a) | the names of wardens;\n\n(b) | a list of dykes."
    units = units_of(text, "en")
    assert [one.opening for one in units[1:]] == ["The plan shall contain:"] * 2
    assert with_context(units[1], text, units, "en") == (0, len(text))


TABLES = """The dykes were inspected by the water authority in the spring.

Table 1. Breaches of dykes by district, 2007

District | Total

District: North; Total: 17

Islands

District: East; Total: 3

Table 2. Length of dykes by district, 2007

District: North; Total: 170
"""


def test_a_row_comes_under_the_caption_of_its_table_and_the_line_that_names_its_part() -> None:
    openings = [one.opening for one in units_of(TABLES, "en") if one.kind == "row"]
    first = "Table 1. Breaches of dykes by district, 2007"
    assert openings == [first, f"{first} Islands", "Table 2. Length of dykes by district, 2007"]


def test_a_numbered_heading_is_not_quoted_and_items_of_a_list_are() -> None:
    text = (
        "The rates varied by district.\n\n3. INFORMATION ON SPECIFIC ZOONOSES\n\nFoxes were tested in the spring.\n\n"
        "A. Testing of foxes in the valleys\n\n• Traps along the crest of every dyke\n\n"
        "The wardens were asked as well.\n\n1. Traps along the dykes\n2. Traps in the valleys"
    )
    assert [" ".join(text[one.start : one.end].split()) for one in units_of(text, "en")] == [
        "The rates varied by district.",
        "Foxes were tested in the spring.",
        "• Traps along the crest of every dyke",
        "The wardens were asked as well.",
        "1. Traps along the dykes",
        "2. Traps in the valleys",
    ]


def test_lines_of_a_bare_list_are_quoted_together() -> None:
    text = "Annex A\n\nGreenhouse gases\n\nMethane (CH )\n\n4\n\nNitrous oxide"
    units = units_of(text, "en")
    assert {with_context(one, text, units, "en") for one in units} == {(0, len(text))}
    longer = f"{text}\n\n" + "\n\n".join("Waste" for _ in range(200))
    units = units_of(longer, "en")
    start, end = with_context(units[3], longer, units, "en")
    assert longer[start:end].startswith("4\n\nNitrous oxide\n\nWaste")
    assert len(longer[start:end].split()) < 150


@given(st.text(max_size=400), st.sampled_from(["en", "de", "tr", "xx"]))
def test_units_are_in_order_inside_the_text_and_so_is_what_comes_along(text: str, language: str) -> None:
    units = units_of(text, language)
    assert all(0 <= one.start < one.end <= len(text) for one in units)
    assert all(one.end <= other.start for one, other in pairwise(units))
    for one in units:
        start, end = with_context(one, text, units, language)
        assert start <= one.start < one.end <= end <= len(text)


def test_a_sentence_with_the_mark_of_a_note_behind_it_can_be_quoted() -> None:
    ends = (".²", ".[3]", ".⁽⁴⁾", ".(⁵)", ".[F1]", ".»⁶")
    text = " ".join(f"The {name} dues are paid in March{end}" for name, end in zip("abcdef", ends, strict=True))
    assert [text[unit.start : unit.end][-len(end) :] for unit, end in zip(units_of(text, "en"), ends, strict=True)] == [
        *ends
    ]


@pytest.mark.parametrize("glyph", ["•", "►", "−", "✓", "▫", "❖", "–"])
def test_items_stand_under_their_opening_words_whatever_begins_them(glyph: str) -> None:
    text = f"The order of march gives the following:\n\n{glyph} the aim and the way of the march\n\n{glyph} the speed"
    assert [(unit.kind, unit.opening) for unit in units_of(text, "en")][1:] == [
        ("item", "The order of march gives the following:")
    ] * 2


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("By J. Smith and A. Brown of the Ministry of Health.", "en"),
        ("Von Anna Weber und Jan Huber, Amt für Wasser.", "de"),
        ("Par Marie Dupont et Luc Martin, Institut de la Forêt.", "fr"),
        ("Civil Protection Act of 2004.", "en"),
    ],
)
def test_names_alone_are_not_quoted_beside_a_sentence(text: str, language: str) -> None:
    whole = f"{text}\n\nThe warden closes the gate in March."
    assert [whole[unit.start : unit.end] for unit in units_of(whole, language)] == [
        "The warden closes the gate in March."
    ]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The President of the Republic is the Head of State.", "en"),
        ("NO PERSON SHALL ENTER THE SHELTER.", "en"),
        ("Die Würde des Menschen ist unantastbar.", "de"),
        ("يغلق الحارس البوابة في مارس.", "ar"),
    ],
)
def test_a_sentence_of_capitals_is_quoted(text: str, language: str) -> None:
    assert [unit.kind for unit in units_of(text, language)] == ["sentence"]


def test_lines_of_slides_are_quoted_without_a_stop() -> None:
    text = "Our findings\n\nTwelve gates were closed too late\n\nThe wardens had no keys to them."
    assert [unit.kind for unit in units_of(text, "en", slides=True)] == ["item", "sentence"]
    assert [unit.kind for unit in units_of(text, "en")] == ["sentence"]
