"""The indexed text: both indexes read citations once, beside the passage's words."""

from hypothesis import given
from hypothesis import strategies as st

from rag_engine.chunking.indexed_text import cited, context_header, encoder_text, keyword_text, under_header
from rag_engine.types.document import Metadata
from rag_engine.types.passage import Child, Parent

WORDS = st.text(alphabet="aA 9(§.é水\n", max_size=40)


def parent(section: str = "", act: str = "", headings: tuple[str, ...] = ()) -> Parent:
    return Parent(0, 0, 0, "", (), act=act, section=section, headings=headings)


def child(text: str, clause: str = "") -> Child:
    return Child(0, 0, len(text), text, clause)


def test_the_context_header_names_what_is_known_and_leaves_out_the_rest() -> None:
    assert context_header(Metadata(title="Flood  plan\n2030", language="it")) == "Flood plan 2030 | it"
    known = Metadata(
        title="Flood plan",
        language="it",
        authority="Civil Protection",
        hazards=("Flood", "Landslide"),
        geographical_level="National",
        countries=("Italy",),
        document_type="Law",
    )
    assert context_header(known) == "Flood plan | Civil Protection | Flood, Landslide | National - Italy | Law | it"


def test_the_encoder_reads_the_header_and_no_addresses() -> None:
    text = "See https://example.org/a?b=1&c, www.example.org. Or write to jane.doe@example.org."
    assert under_header("Plan | en", text) == "Plan | en\n\nSee [link], [link]. Or write to [email]."
    assert under_header("", "詳細はhttps://example.org/を見る") == "詳細は[link]を見る"


def test_both_indexes_read_the_opening_words_of_the_enumeration_that_a_passage_goes_on_with() -> None:
    text = "Each town is asked for three things. Each plan shall contain:\n\n(a) a map;\n\n(b) a list of pumps;\n"
    start = text.index("(b)")
    place = Parent(0, 0, len(text), text, ())
    item = Child(1, start, len(text), text[start:])
    assert encoder_text("Plan | en", place, item).startswith("Plan | en\nEach plan shall contain:\n\n(b) a list")
    assert keyword_text("", place, item).startswith("Each plan shall contain:\n(b) a list")
    whole = Child(0, 0, len(text), text)
    assert keyword_text("", place, whole) == text


def test_the_encoder_reads_of_a_passage_without_any_structure_what_it_always_read() -> None:
    assert encoder_text("Plan | en", parent(), child("The dyke.")) == "Plan | en\n\nThe dyke."


def test_both_indexes_read_the_article_that_a_passage_from_its_middle_does_not_name() -> None:
    place = parent("Article 9", "Paris Agreement", ("Finance",))
    middle = child("Developed country Parties shall provide resources.", "(3)")

    assert encoder_text("Decision 1/CP.21 | en", place, middle) == (
        "Decision 1/CP.21 | en\nParis Agreement | Finance | Article 9 (3)\n\n" + middle.text
    )
    assert keyword_text("Decision 1/CP.21", place, middle) == (
        "Article 9 (3) | Paris Agreement | Finance\n" + middle.text
    )


def test_what_the_passage_or_the_header_says_already_is_not_said_again() -> None:
    place = parent("Article 9", "Paris Agreement", ("Paris Agreement", "ARTICLE 9"))
    first = child("Article 9\n1. Developed country Parties shall provide resources.")

    assert encoder_text("Paris Agreement | en", place, first) == "Paris Agreement | en\n\n" + first.text
    assert keyword_text("Paris Agreement", place, first) == "Paris Agreement\n" + first.text


def test_article_1_is_not_taken_for_said_where_article_12_is() -> None:
    assert keyword_text("", parent("Article 1"), child("See Article 12.")).startswith("Article 1\n")


def test_the_keyword_index_reads_the_title_where_there_is_no_act() -> None:
    assert keyword_text("Flood plan", parent(), child("The dyke.")) == "Flood plan\nThe dyke."
    assert keyword_text("", parent(), child("The dyke.")) == "The dyke."


def test_a_long_act_is_cut_between_words() -> None:
    line = keyword_text("", parent("§ 5", "Gesetz über " * 30), child("Der Bund.")).splitlines()[0]
    assert len(line) <= 130
    assert line.endswith(("über", "Gesetz"))


def test_a_heading_s_own_number_is_not_said_beside_the_section() -> None:
    place = parent("§ 29", "ZSKG", ("ZSKG", "Zehnter Abschnitt Kosten", "§ 29 – Kostenträger"))
    middle = child("1. die Unterbringung der Fahrzeuge", "Abs. 3 Nr. 1")

    assert keyword_text("", place, middle).splitlines()[0] == "§ 29 Abs. 3 Nr. 1 | ZSKG | Kostenträger"
    line = encoder_text("ZSKG | de", place, middle).splitlines()[1]
    assert line == "Zehnter Abschnitt Kosten | Kostenträger | § 29 Abs. 3 Nr. 1"
    assert (
        keyword_text("", parent("Part 1", headings=("Part 12 Fees",)), middle).splitlines()[0].endswith("Part 12 Fees")
    )


def test_a_clause_is_cited_with_its_section_alone() -> None:
    assert cited("Art. 7", "II") == "Art. 7 II"
    assert cited("Article 4", "3") == cited("Article 4", "(3)") == "Article 4 (3)"
    assert cited("Article 7", "9(e)") == "Article 7 (9)(e)"
    assert cited("§ 5", "Abs. 2") == "§ 5 Abs. 2"
    assert cited("", "(2)") == ""


@given(WORDS, WORDS, WORDS, st.lists(WORDS, max_size=3).map(tuple), WORDS, WORDS)
def test_the_passage_itself_is_always_read_whole_below_one_short_line(
    title: str, act: str, section: str, headings: tuple[str, ...], text: str, clause: str
) -> None:
    read = keyword_text(title, parent(section, act, headings), child(text, clause))
    assert read.endswith(text)
    assert len(read) <= len(text) + 400
    assert "\n" not in read[: len(read) - len(text)].removesuffix("\n")
    assert encoder_text(title, parent(section, act, headings), child(text, clause)).endswith(under_header("", text))
