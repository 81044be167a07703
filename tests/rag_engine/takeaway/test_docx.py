"""Word documents, read back by python-docx and as the XML that they are."""

import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import docx
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt

from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, Turn
from rag_engine.messages import Message
from rag_engine.notebook.notebook import Notebook, quote_entry
from rag_engine.takeaway.docx import to_docx
from rag_engine.takeaway.exported_text import ExportedText, export_answer, export_conversation, export_notebook
from rag_engine.takeaway.formats import to_markdown
from rag_engine.types.answer import Attribute, CitedRecord
from tests.rag_engine.conversations.test_store import CITATION, REPLY
from tests.rag_engine.takeaway.test_cited_sources import ARABIC

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MADE = datetime(2026, 11, 25, 9, 30, tzinfo=UTC)
SECOND = replace(CITATION, n=2, document_id="f" * 12, title="Flood Order", file="order.pdf", quote="each spring")
ANSWER = replace(
    REPLY,
    text="## Term\n- **Six** years [Source 1]\n- Each spring [Source 2] and six years [Source 1]\nNone [Source 3].",
    citations=(CITATION, SECOND),
    warnings=(),
)


def turn(reply: Reply, question: str = "How long?") -> Turn:
    return Turn(question, "2026-11-24T10:00", reply)


def part(content: bytes, name: str) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return etree.fromstring(package.read(name))


def written(text: ExportedText) -> bytes:
    return to_docx(text, MADE)


def footnotes(content: bytes) -> dict[str, str]:
    """Return the text of each footnote by its id, without the two separators."""
    notes = part(content, "word/footnotes.xml").findall(f"{W}footnote")
    return {one.get(f"{W}id"): "".join(one.itertext()).strip() for one in notes if one.get(f"{W}type") is None}


def marks(content: bytes) -> list[str]:
    return [one.get(f"{W}id") for one in part(content, "word/document.xml").iter(f"{W}footnoteReference")]


def paragraphs(content: bytes) -> list[tuple[str, str]]:
    return [(one.style.name, one.text) for one in docx.Document(io.BytesIO(content)).paragraphs]


def test_an_answer_has_its_headings_lists_and_bold_words() -> None:
    content = written(export_answer(turn(ANSWER)))
    assert paragraphs(content) == [
        ("Title", "How long?"),
        ("Normal", "2026-11-24 10:00 UTC · Quotations only"),
        ("Heading 2", "Term"),
        ("List Bullet", "Six years"),
        ("List Bullet", "Each spring and six years1"),
        ("Normal", "None [Source 3]."),
    ]
    bold = [run.text for one in docx.Document(io.BytesIO(content)).paragraphs for run in one.runs if run.bold]
    assert bold == ["Six"]


def test_each_source_has_one_footnote_in_the_order_of_its_first_mark() -> None:
    content = written(export_answer(turn(ANSWER)))
    assert marks(content) == ["1", "2"]
    assert footnotes(content) == {
        "1": "Flood Act, undated, page 3 (act.pdf). “six years”",
        "2": "Flood Order, undated, page 3 (order.pdf). “each spring”",
    }


def test_a_source_that_is_cited_again_refers_to_its_footnote() -> None:
    document = part(written(export_answer(turn(ANSWER))), "word/document.xml")
    [instruction] = document.iter(f"{W}instrText")
    names = {one.get(f"{W}name"): one for one in document.iter(f"{W}bookmarkStart")}
    bookmark = names[instruction.text.split()[1]]
    assert bookmark.getnext().find(f"{W}footnoteReference").get(f"{W}id") == "1"


def test_each_answer_of_a_conversation_has_footnotes_of_its_own() -> None:
    content = written(export_conversation(Conversation("0" * 32, (turn(ANSWER), turn(ANSWER, "And in Spain?")))))
    assert marks(content) == ["1", "2", "3", "4"]
    assert list(footnotes(content)) == ["1", "2", "3", "4"]


def test_the_package_has_what_word_needs_for_footnotes() -> None:
    content = written(export_answer(turn(ANSWER)))
    separators = [
        (one.get(f"{W}id"), one.get(f"{W}type"))
        for one in part(content, "word/footnotes.xml")
        if one.get(f"{W}type") is not None
    ]
    assert separators == [("-1", "separator"), ("0", "continuationSeparator")]
    types = {one.get("PartName"): one.get("ContentType") for one in part(content, "[Content_Types].xml")}
    assert types["/word/footnotes.xml"].endswith("wordprocessingml.footnotes+xml")
    related = part(content, "word/_rels/document.xml.rels")
    assert [one.get("Target") for one in related if one.get("Type").endswith("/footnotes")] == ["footnotes.xml"]
    named = part(content, "word/settings.xml").find(f"{W}footnotePr")
    assert [one.get(f"{W}id") for one in named] == ["-1", "0"]
    assert named.getnext().tag == f"{W}compat"
    styles = {one.get(f"{W}styleId"): one for one in part(content, "word/styles.xml").iter(f"{W}style")}
    used = part(content, "word/footnotes.xml").iter(f"{W}pStyle", f"{W}rStyle")
    assert {one.get(f"{W}val") for one in used} == {"FootnoteText", "FootnoteReference"}
    assert styles["FootnoteReference"].find(f"{W}rPr/{W}vertAlign").get(f"{W}val") == "superscript"


def test_a_form_is_a_table_whose_last_column_cites() -> None:
    record = CitedRecord((Attribute("Term", "six years"),), CITATION)
    content = written(export_answer(turn(replace(REPLY, text="", records=(record,)))))
    [table] = docx.Document(io.BytesIO(content)).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [["Term", "Source"], ["six years", " page 3"]]
    assert marks(content) == ["1"]


def test_a_quoted_row_is_a_table_in_word_and_in_markdown() -> None:
    text = "Found:\n\n|  | to air | to \\| water |\n| --- | --- | --- |\n| Mercury | **10** | 1\\* |\n[Source 1]"
    asked = export_answer(turn(replace(REPLY, text=text, warnings=())))
    [table] = docx.Document(io.BytesIO(written(asked))).tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["", "to air", "to | water"],
        ["Mercury", "10", "1*"],
    ]
    assert [
        run.text for row in table.rows[1:] for cell in row.cells for run in cell.paragraphs[0].runs if run.bold
    ] == ["10"]
    rendered = MarkdownIt("commonmark").enable("table").render(to_markdown(asked))
    assert "<th>to | water</th>" in rendered
    assert "<td><strong>10</strong></td>\n<td>1*</td>" in rendered


def test_a_quote_of_a_notebook_is_quoted_with_its_note_and_its_tags() -> None:
    entry = replace(quote_entry("0" * 32, turn(ANSWER), 2), note="Compare\nwith Spain.", tags=("terms",))
    content = written(export_notebook(Notebook("1" * 32, "Plans"), [entry], set()))
    assert paragraphs(content) == [
        ("Title", "Plans"),
        ("Heading 1", "How long?"),
        ("Normal", "2026-11-24 10:00 UTC · Tags: terms"),
        ("Quote", "“each spring”"),
        ("Normal", "Compare"),
        ("Normal", "with Spain."),
        ("Normal", "No longer in the collection: Flood Order"),
    ]
    assert footnotes(content) == {"1": "Flood Order, undated, page 3 (order.pdf)."}


def test_a_title_that_runs_from_right_to_left_is_set_so() -> None:
    content = written(export_answer(turn(replace(ANSWER, citations=(replace(CITATION, title=ARABIC),)), ARABIC)))
    title = next(part(content, "word/document.xml").iter(f"{W}p"))
    assert title.find(f"{W}pPr/{W}bidi") is not None
    assert title.find(f"{W}r/{W}rPr/{W}rtl") is not None
    [note] = [one for one in part(content, "word/footnotes.xml") if one.get(f"{W}id") == "1"]
    assert note.find(f".//{W}bidi") is not None
    assert ARABIC.strip() in "".join(note.itertext())


def test_the_properties_name_the_question_and_the_day() -> None:
    properties = docx.Document(io.BytesIO(written(export_answer(turn(ANSWER))))).core_properties
    assert (properties.title, properties.author, properties.created) == ("How long?", "Sextant", MADE)


@settings(max_examples=25, deadline=None)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("<&\x00\x0b\ud800\ufffe\u202e\n*[]")), max_size=50))
def test_any_text_stays_text(text: str) -> None:
    citation = replace(CITATION, title=f"T{text}", quote=f"Q{text}")
    record = CitedRecord((Attribute("Name", text),), citation)
    reply = replace(
        ANSWER, text=f"{text}x [Source 1]", citations=(citation,), records=(record,), warnings=(Message(text),)
    )
    content = written(export_conversation(Conversation("0" * 32, (turn(reply, f"W{text}"),))))
    # What is cited in the table has its footnote there, where the text of the answer swallowed the mark.
    assert marks(content) == ["1"]
    assert footnotes(content)["1"].startswith("T")
    assert docx.Document(io.BytesIO(content)).paragraphs[0].text.startswith("W")
