"""Office files in their layout: every place is where it stands, and every quotation in reach."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import docx
import openpyxl
import pymupdf
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.collection import documents_of, index_files
from tests.pages.conftest import Start
from tests.pages.conversations import converse
from tests.pages.test_document import components, drawn_at_last, extracted_text, opened
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE

pytestmark = pytest.mark.needs("soffice")
HEADINGS = ("Purpose of the plan", "Evacuation of the town", "Return of the people")
# It is longer than a line, so that it is broken in the layout.
QUOTES = tuple(
    f"The mayor of district {n} orders the evacuation of all houses below the dam as soon as the river {n} has risen"
    " above the mark that the council set, and says so by siren."
    for n in "24"
)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a plan of four pages and a workbook of five sheets."""
    folder = tmp_path_factory.mktemp("layout")
    plan = docx.Document()
    plan.add_paragraph("Contents")
    for number, heading in enumerate(HEADINGS):
        plan.add_paragraph(f"{heading}\t{number + 2}", style="toc 1" if "toc 1" in plan.styles else None)
    for number, heading in enumerate(HEADINGS):
        plan.add_page_break()
        plan.add_heading(heading, 1)
        plan.add_paragraph(f"Chapter {number} is read by everyone who lives near the river. " * 5)
        if number < 2:
            plan.add_paragraph(QUOTES[number])
        plan.add_paragraph("Conflicts of interest are told to the council.")
    plan.save(str(folder / "plan.docx"))
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    towns = book.create_sheet("Towns")
    for row in range(150):
        towns.append(["Town", f"number {row}", "has a siren"])
    for name in ("Rivers", "Secret", "Dams", "Roads"):
        sheet = book.create_sheet(name)
        sheet.append([f"These are the {name.lower()} of the county."])
        sheet.sheet_state = "hidden" if name == "Secret" else "visible"
    book.save(folder / "book.xlsx")
    index_files(folder / "workspace", folder / "plan.docx", folder / "book.xlsx")
    return folder / "workspace"


def shown(start: Start, office: Path, file: str, words: str = "", *, last: bool = False, page: int = 1) -> AppTest:
    """Return the document page at the first or the last occurrence of words, else at a page."""
    text = extracted_text(office, documents_of(office)[file])
    at = text.rindex(words) if last else text.index(words)
    place = {"passage": f"{at}-{at + len(words)}"} if words else {}
    app = opened(start, office, file, page=str(page), **place)
    drawn_at_last(app)
    assert not app.error
    return app


def layout_page(app: AppTest) -> int:
    """Return the number of the layout's page that is shown."""
    [chosen] = [one.value for one in app.number_input if one.label == "Page of the layout"]
    assert chosen is not None
    return int(chosen)


def read_lines(app: AppTest) -> str:
    return " ".join(line[0] for line in components(app)["document page"]["lines"])


def marked(app: AppTest) -> str:
    """Return the words under the marks, as far as whole lines tell."""
    view = components(app)["document page"]
    boxes = [pymupdf.Rect(one) for one in view["marks"]]
    tops = [(line[0], pymupdf.Rect(line[1:])) for line in view["lines"]]
    return " ".join(words for words, line in tops if any(box & line and (box & line).height > 5 for box in boxes))


@pytest.mark.parametrize(("number", "heading"), list(enumerate(HEADINGS)))
def test_a_heading_leads_to_its_section_and_not_to_the_printed_contents(
    start: Start, office: Path, number: int, heading: str
) -> None:
    app = shown(start, office, "plan.docx", heading, last=True)
    assert layout_page(app) == number + 2
    assert len(components(app)["document page"]["marks"]) == 1


def test_each_occurrence_of_the_same_words_leads_to_its_own_page(start: Start, office: Path) -> None:
    words = "Conflicts of interest"
    assert layout_page(shown(start, office, "plan.docx", words)) == 2
    assert layout_page(shown(start, office, "plan.docx", words, last=True)) == 4


def test_a_quotation_is_marked_to_its_end_and_nothing_else_is(start: Start, office: Path) -> None:
    app = shown(start, office, "plan.docx", QUOTES[0])
    assert " ".join(marked(app).split()) == QUOTES[0]
    assert not any("not found in this layout" in one.value for one in app.caption)


def answer(office: Path, quotes: Sequence[str], start: Start) -> AppTest:
    """Return the Ask page with an answer that quotes from the plan."""
    document = documents_of(office)["plan.docx"]
    text = extracted_text(office, document)
    cited = tuple(
        replace(CITATION, document_id=document.document_id, quote=quote, page=1, start=at, end=at + len(quote))
        for quote in quotes
        for at in (text.find(quote) if quote in text else 0,)
    )
    source = replace(SOURCE, document_id=document.document_id, file=document.file, page=1, last_page=1)
    app = start(office, conversation=converse(office, replace(REPLY, citations=cited, sources=(source,))).id)
    drawn_at_last(app)
    assert not app.exception
    assert not app.error
    return app


def test_quotations_on_two_pages_of_a_layout_are_both_in_reach(start: Start, office: Path) -> None:
    app = answer(office, QUOTES, start)
    [choice] = [one for one in app.button_group if one.label == "Page of the layout"]
    assert choice.options == ["2", "3"]
    choice.set_value(3).run()
    drawn_at_last(app)
    assert not app.exception
    [picture] = app.get("image")
    assert picture.proto.imgs[0].alt.startswith("Page 3 of 4")


def draw_missing(shares: list[float], unread: int) -> None:
    from pathlib import Path

    from pages._document.layout_view import say_not_found
    from rag_engine.types.document import Box
    from rag_engine.viewer.layout_place import PlaceInLayout

    marks = {3: [Box(0, 0, 10, 10)]}
    found = [
        PlaceInLayout(Path("plan.pdf"), 1, 2_000, range(1, 2_001), marks if share else {}, share, unread)
        for share in shares
    ]
    say_not_found(found)


@pytest.mark.parametrize(
    ("shares", "unread", "said"),
    [
        ([0], 0, ["The passage was not found in this layout; the extracted text shows it."]),
        ([0, 1, 1], 0, ["1 passage was not found in this layout; the extracted text shows it."]),
        ([0, 0, 0], 0, ["3 passages were not found in this layout; the extracted text shows them."]),
        ([1, 1, 1], 0, []),
        ([], 0, []),
        ([0.6], 0, ["Only part of what is quoted is marked in this layout; the extracted text shows all of it."]),
        (
            [0],
            1_200,
            [
                "The passage was not found in this layout; the extracted text shows it.",
                "This layout is long: 1,200 of its 2,000 pages were not searched.",
            ],
        ),
        ([1], 1_200, []),
    ],
)
def test_what_of_the_quotations_is_not_marked_in_a_layout_is_said(
    shares: Sequence[float], unread: int, said: list[str]
) -> None:
    app = AppTest.from_function(draw_missing, args=(shares, unread)).run()
    assert [one.value.removeprefix(":material/info: ") for one in app.caption] == said


def test_a_sheet_is_shown_where_it_begins_in_the_layout(start: Start, office: Path) -> None:
    first = shown(start, office, "book.xlsx")
    assert "number 1 " in read_lines(first) + " "
    for page, name in ((2, "rivers"), (4, "dams"), (5, "roads")):
        app = shown(start, office, "book.xlsx", page=page)
        assert f"These are the {name} of the county." in read_lines(app)
        assert not any("not found in this layout" in one.value for one in app.caption)


def test_a_hidden_sheet_is_said_not_to_be_in_the_layout_and_no_other_is_shown(start: Start, office: Path) -> None:
    app = shown(start, office, "book.xlsx", page=3)
    assert any("Hidden and empty sheets and slides are not in the original layout" in one.value for one in app.caption)
    assert "document page" not in components(app)


def test_the_contents_of_a_workbook_are_its_sheets_and_its_length_is_in_sheets(start: Start, office: Path) -> None:
    app = shown(start, office, "book.xlsx")
    listed = components(app)["document places"]["places"]
    assert [one["words"][0][0] for one in listed] == ["Towns", "Rivers", "Dams", "Roads"]
    assert any("5 sheets" in one.value for one in app.markdown)
