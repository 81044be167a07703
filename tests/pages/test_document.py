"""The Document page, over a small real collection."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pptx
import pymupdf
import pytest
import sqlalchemy as sql
import streamlit as st
from streamlit.testing.v1 import AppTest

from ingestion.acts.corrections import correct
from ingestion.records.source_store import SourceStore
from pages._shared import resources
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.storage import schema as tables
from rag_engine.types.document import DocumentRecord
from tests.pages.collection import HOSTILE_TITLE, documents_of, index_files
from tests.pages.conftest import Start, open_page
from tests.pages.conversations import converse
from tests.pages.early_clicks import click_early, sent
from tests.pages.sources import add_indexed
from tests.rag_engine.backends.drawing.test_page_renderer import page_of_shadings
from tests.rag_engine.conversations.test_store import CITATION, REPLY, SOURCE

ARABIC = "خطة وطنية للحماية من الفيضانات " * 10


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace: a PDF of three pages, a text in two versions, one with an Arabic title.

    The PDF came from a source of the list.
    """
    folder = tmp_path_factory.mktemp("document")
    files = folder / "files"
    files.mkdir()
    with pymupdf.open() as report:
        for number in ("one", "two", "three"):
            page = report.new_page()
            for row in range(12):
                page.insert_text((72, 90 + 20 * row), f"County council {row} prepares flood plan {number} every year.")
        report.save(files / "report.pdf")
    (files / "old.txt").write_text(
        "Flood plans\n\nA local flood plan remains valid for six years, and is published.", encoding="utf-8"
    )
    (files / "new.txt").write_text(
        "Flood plans\n\nA local flood plan remains valid for three years, and is published.", encoding="utf-8"
    )
    (files / "arabic.txt").write_text("يجب على كل مجلس إعداد خطة محلية للفيضانات كل ست سنوات. " * 4, encoding="utf-8")
    known: list[dict[str, object]] = [
        {"file": "report.pdf", "title": "County report", "language": "en"},
        {
            "file": "old.txt",
            "title": "Plan",
            "language": "en",
            "work": "plan",
            "superseded": "2024-01-01",
            "date": "2020",
        },
        {"file": "new.txt", "title": "Plan", "language": "en", "work": "plan", "date": "2024"},
        {"file": "arabic.txt", "title": ARABIC, "language": "ar", "licence": "CC BY 4.0"},
    ]
    (files / "metadata.jsonl").write_text("\n".join(map(json.dumps, known)), encoding="utf-8")
    index_files(folder / "workspace", files)
    engine = open_engine(read_config(folder / "workspace"))
    with engine.catalog.begin() as connection:
        chosen = tables.documents.c.file == "report.pdf"
        connection.execute(sql.update(tables.documents).where(chosen).values(source="list:ADM002"))
    add_indexed(SourceStore(engine.catalog), folder / "workspace", "ADM002", 1)
    engine.close()
    return folder / "workspace"


@pytest.fixture
def own_library(library: Path, tmp_path: Path) -> Path:
    """Return a copy of that workspace, which a test may change."""
    return Path(shutil.copytree(library, tmp_path / "workspace"))


def extracted_text(workspace: Path, document: DocumentRecord) -> str:
    engine = open_engine(read_config(workspace))
    text = engine.catalog.text(document.key)
    engine.close()
    return text


def opened(start: Start, workspace: Path, file: str, **place: str) -> AppTest:
    document = documents_of(workspace)[file]
    app = open_page(start(workspace), "document", document=document.document_id, **place)
    assert not app.exception
    return app


def test_a_document_that_was_left_does_not_come_into_the_address_of_another_page(start: Start, library: Path) -> None:
    app = opened(start, library, "report.pdf", page="2")
    left = sent(app)
    app.query_params.clear()
    app.switch_page("pages/library.py").run()
    click_early(app, left)
    assert dict(app.query_params) == {}


def components(app: AppTest) -> dict[str, Any]:
    """Return what the components of the page were given, by their names."""
    return {one.proto.component_name: json.loads(one.proto.json) for one in app.get("bidi_component")}


def open_tab(app: AppTest, name: str) -> AppTest:
    app.session_state["document tabs"] = name
    return app.run()


def title(app: AppTest) -> str:
    return str(app.get("html")[0].proto.body)


def test_a_document_that_is_not_there_is_a_notice(start: Start, library: Path) -> None:
    app = open_page(start(library), "document", document="ffffffffffff")

    assert not app.exception
    assert [one.value for one in app.info] == ["This document is not in the collection."]
    assert app.title[0].value == "Document"


def test_an_address_without_a_document_leads_to_the_library(start: Start, library: Path) -> None:
    app = start(library).switch_page("pages/document.py").run()

    assert not app.exception
    assert app.title[0].value == "Library"


def test_a_page_has_its_picture_and_its_words_at_their_places(start: Start, library: Path) -> None:
    page = components(opened(start, library, "report.pdf", page="2"))["document page"]

    assert page["label"] == "Page 2 of County report"
    assert (page["width"], page["height"]) == (595.0, 842.0)
    words, left, top, right, bottom = page["lines"][0]
    assert words == "County council 0 prepares flood plan two every year."
    assert left == pytest.approx(72, abs=1)
    assert top < 90 < bottom
    assert right > 300


@pytest.mark.parametrize(("asked", "shown"), [("0", 1), ("99", 3), ("-1", 1), ("x", 1)])
def test_a_page_out_of_range_is_the_nearest_one(start: Start, library: Path, asked: str, shown: int) -> None:
    app = opened(start, library, "report.pdf", page=asked)
    assert app.number_input(key="document page number").value == shown


def test_pages_are_turned_and_gone_to_by_number(start: Start, library: Path) -> None:
    app = opened(start, library, "report.pdf")
    assert app.button(key="document previous").disabled

    app.button(key="document next").click().run()
    assert app.query_params["page"] == "2"
    app.number_input(key="document page number").set_value(3).run()

    assert app.query_params["page"] == "3"
    assert app.button(key="document next").disabled


def test_the_zoom_widens_the_page_and_stays_when_it_is_turned(start: Start, library: Path) -> None:
    app = opened(start, library, "report.pdf")
    fitted = components(app)["document page"]
    assert fitted["zoom"] == 0

    app.selectbox(key="document zoom").set_value(1.5).run()
    page = components(app)["document page"]
    assert page["zoom"] == 1.5
    # Drawn anew with more pixels, not blown up.
    assert len(page["picture"]) > len(fitted["picture"])

    app.button(key="document next").click().run()
    page = components(app)["document page"]
    assert (page["zoom"], page["label"]) == (1.5, "Page 2 of County report")


def test_a_passage_in_the_address_leads_to_its_page_where_it_is_marked(start: Start, library: Path) -> None:
    document = documents_of(library)["report.pdf"]
    start_ = extracted_text(library, document).index("flood plan three")

    page = components(opened(start, library, "report.pdf", passage=f"{start_}-{start_ + 16}"))["document page"]

    assert page["label"].startswith("Page 3")
    [mark] = page["marks"]
    assert 190 < mark[0] < 215


def test_a_passage_beyond_the_text_marks_nothing(start: Start, library: Path) -> None:
    page = components(opened(start, library, "report.pdf", passage="900000-900009"))["document page"]
    assert page["marks"] == []


def test_words_are_found_with_the_pages_they_are_on(start: Start, library: Path) -> None:
    app = opened(start, library, "report.pdf")
    app.segmented_control(key="document beside").set_value("Find").run()
    [box] = [one for one in app.text_input if one.label == "Find in this document"]
    box.set_value("PLAN two").run()

    places = components(app)["document places"]["places"]
    assert [one["note"] for one in places] == ["page 2"] * 12
    assert ["plan two", True] in places[0]["words"]
    assert "&page=2&passage=" in places[0]["address"]


def test_of_many_results_it_is_said_how_many_are_listed_and_the_others_follow(
    start: Start, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages._document.document_panel._PORTION", 20)
    app = opened(start, library, "report.pdf")
    app.segmented_control(key="document beside").set_value("Find").run()
    [box] = [one for one in app.text_input if one.label == "Find in this document"]
    box.set_value("county council").run()
    assert "20 of 36 results" in [one.value for one in app.caption]
    assert len(components(app)["document places"]["places"]) == 20

    next(one for one in app.button if one.label == "Show 16 more results").click().run()

    assert "36 results" in [one.value for one in app.caption]
    assert [one["note"] for one in components(app)["document places"]["places"]][-1] == "page 3"
    assert not [one for one in app.button if "more results" in one.label]


def test_a_question_finds_passages_of_this_document_alone(start: Start, library: Path) -> None:
    app = opened(start, library, "old.txt")
    app.segmented_control(key="document beside").set_value("Passages").run()
    [box] = [one for one in app.text_input if one.label == "Passages about"]
    box.set_value("How long does a flood plan remain valid?").run()

    assert not app.exception
    places = components(app)["document places"]["places"]
    assert places
    document = documents_of(library)["old.txt"]
    assert all(document.document_id in one["address"] for one in places)


def test_a_format_without_pages_is_shown_whole_as_extracted_text(start: Start, library: Path) -> None:
    app = opened(start, library, "old.txt")

    assert any("Extracted text, not the original layout." in one.value for one in app.caption)
    shown = components(app)["document page"]["paragraphs"]
    words = " ".join(run[0] for _, runs, _ in shown for run in runs)
    assert words == "Flood plans A local flood plan remains valid for six years, and is published."


def test_a_long_title_in_another_language_is_whole_and_says_its_language(start: Start, library: Path) -> None:
    app = opened(start, library, "arabic.txt")

    assert ARABIC.strip() in title(app)
    assert title(app).startswith('<h1 lang="ar" dir="auto"')
    assert components(app)["document page"]["language"] == "ar"


def test_a_hostile_title_is_mere_text(start: Start, collection: Path) -> None:
    app = opened(start, collection, "hostile.txt")

    assert "<script>" not in title(app)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in title(app)
    assert components(app)["document page"]["label"] == HOSTILE_TITLE


def test_a_page_whose_file_is_gone_is_an_error_and_the_rest_is_there(start: Start, own_library: Path) -> None:
    engine = open_engine(read_config(own_library))
    [document] = [one for one in engine.collection.documents() if one.file == "report.pdf"]
    engine.collection.stored_file(document).unlink()
    engine.close()

    app = opened(start, own_library, "report.pdf")

    assert "damaged or missing" in app.error[0].value
    assert any("**File** report" in one.value for one in app.markdown)


def test_a_value_that_was_extracted_is_marked_until_a_person_agrees(start: Start, own_library: Path) -> None:
    app = opened(start, own_library, "report.pdf")
    marked = [one.value for one in app.markdown if "extracted, not checked" in one.value]
    assert any("Authority" in one for one in marked)
    app.button(key="agree authority").click().run()
    assert not app.error
    left = [one.value for one in app.markdown if "extracted, not checked" in one.value]
    assert len(left) == len(marked) - 1
    assert not any("Authority" in one for one in left)
    app.button(key="undo corrections").click().run()
    assert len([one for one in app.markdown if "extracted, not checked" in one.value]) == len(marked)

    app.button(key="agree authority").click().run()
    app.button(key="undo authority").click().run()
    assert not app.error
    assert "undo corrections" not in [one.key for one in app.button], "the history has undone it"
    assert "agree authority" in [one.key for one in app.button]


def test_every_correction_that_counts_is_undone_in_the_history(start: Start, own_library: Path) -> None:
    start(own_library)
    correct(resources.context(), {"new.txt": {"title": ["Quayside charter"], "authority": ["Port of Valletta"]}}, "Ada")
    correct(resources.context(), {"new.txt": {"title": ["Charter of the quay"]}}, "Bob")
    # Another session, which has done nothing yet.
    app = opened(start, own_library, "new.txt")
    for title in ("Quayside charter", "Plan"):
        app.button(key="undo title").click().run()
        assert not app.error
        assert f"**Title**  \n{title}" in [one.value for one in app.markdown]
    assert "undo title" not in [one.key for one in app.button]
    assert documents_of(own_library)["new.txt"].metadata.authority == "Port of Valletta"


def test_the_licence_is_as_it_was_stated(start: Start, library: Path) -> None:
    app = open_tab(opened(start, library, "arabic.txt"), "Licence")
    assert any("CC BY 4" in one.value for one in app.markdown)


def test_the_values_of_a_listed_source_come_with_their_justification(start: Start, library: Path) -> None:
    app = opened(start, library, "report.pdf")
    page = f"[page 1](document?document={documents_of(library)['report.pdf'].document_id}&page=1)"
    assert f"“Published by Ministry of Health\\.” ({page})" in [one.value for one in app.caption]


def test_a_person_states_the_licence_of_a_document_that_was_added_by_hand(start: Start, own_library: Path) -> None:
    app = open_tab(opened(start, own_library, "new.txt"), "Licence")
    assert "No licence statement found." in [one.value for one in app.caption]
    next(one for one in app.text_input if one.label == "Licence").set_value("cc by-nc-nd 4.0")
    next(one for one in app.text_input if one.label == "Source address").set_value("https://plans.example/new")
    app.button(key="save licence").click().run()
    assert not app.error
    shown = "**CC BY-NC-ND 4.0 (no commercial use, no changes)**"
    assert shown in [one.value.replace("\\", "") for one in app.markdown]
    metadata = documents_of(own_library)["new.txt"].metadata
    assert (metadata.licence, metadata.source_url) == ("CC BY-NC-ND 4.0", "https://plans.example/new")
    app.button(key="undo corrections").click().run()
    assert "No licence statement found." in [one.value for one in app.caption]


def test_the_licence_of_a_listed_source_comes_with_its_evidence_and_no_form(start: Start, library: Path) -> None:
    app = open_tab(opened(start, library, "report.pdf"), "Licence")
    assert any("Licensed under CC BY 4" in one.value and "rel" in one.value for one in app.markdown)
    assert "Licence" not in [one.label for one in app.text_input]


def test_versions_are_compared_word_by_word(start: Start, library: Path) -> None:
    app = open_tab(opened(start, library, "new.txt"), "Versions")

    assert any("1 word removed, 1 word added" in one.value for one in app.caption)
    [changes] = [json.loads(one.proto.json) for one in app.get("bidi_component") if '"Changes"' in one.proto.json]
    runs = [run[:2] for _, those, _ in changes["paragraphs"] for run in those]
    assert ["six", "del"] in runs
    assert ["three", "ins"] in runs


@pytest.fixture(scope="module")
def basin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with two versions of a short Markdown file; the newer one has another section."""
    folder = tmp_path_factory.mktemp("basin")
    plan = folder / "basin.md"
    written = (
        "# Basin Plan\n\n## 1 Purpose\n\nThe plan protects homes.\n\n## 2 Review\n\nIt is reviewed in six years.\n"
    )
    for text in (written, f"{written.replace('six', 'two')}\n## 3 Costs\n\nThe county pays.\n"):
        plan.write_text(text, encoding="utf-8")
        index_files(folder / "workspace", plan)
    return folder / "workspace"


def test_a_short_document_has_its_headings_beside_it_and_its_changes_below_them(start: Start, basin: Path) -> None:
    # The newer one, whose file has the same name, comes last.
    newest = documents_of(basin)["basin.md"]
    app = open_page(start(basin), "document", document=newest.document_id)
    open_tab(app, "Versions")

    given = [json.loads(one.proto.json) for one in app.get("bidi_component")]
    [contents] = [one for one in given if one.get("label") == "Contents"]
    assert [text for place in contents["places"] for text, _ in place["words"]] == [
        "Basin Plan",
        "1 Purpose",
        "2 Review",
        "3 Costs",
    ]
    [changes] = [one for one in given if one.get("label") == "Changes"]
    headings = [runs[0][0] for kind, runs, _ in changes["paragraphs"] if kind == "heading"]
    assert headings == ["2 Review", "3 Costs"]


def test_a_superseded_document_says_so_with_a_link_to_the_newest(start: Start, library: Path) -> None:
    app = opened(start, library, "old.txt")
    assert any(
        "A newer version has stood in the place of this one since 1 Jan 2024." in one.value for one in app.markdown
    )
    [link] = [one.proto for one in app.get("page_link") if one.proto.label.startswith("Newest version")]
    assert link.label == "Newest version: Plan \\(2024\\)"
    assert documents_of(library)["new.txt"].document_id in link.query_string

    app = opened(start, library, "new.txt")
    assert not [one for one in app.markdown if "newer version" in one.value]


def test_the_questions_that_cite_the_document_are_listed(start: Start, library: Path) -> None:
    document = documents_of(library)["report.pdf"]
    cited = replace(CITATION, document_id=document.document_id, quote="County council 1 prepares", page=2)
    converse(library, replace(REPLY, citations=(cited,)), question="Who prepares the plan?")

    app = open_tab(opened(start, library, "report.pdf"), "Citations")

    assert any("Cited in 1 answer" in one.value for one in app.caption)
    assert any("Who prepares the plan" in one.proto.label for one in app.get("page_link"))


@pytest.mark.parametrize("strategy", ["", "fixed"])
def test_the_passages_of_a_page_are_shown_by_each_strategy(start: Start, library: Path, strategy: str) -> None:
    app = open_tab(opened(start, library, "report.pdf"), "Segmentation")
    box = app.selectbox(key=f"document strategy {documents_of(library)['report.pdf'].key}")
    if strategy:
        box.set_value(strategy).run()

    assert not app.exception
    assert any("On the page that is open" in one.value for one in app.caption)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """Return a workspace with a presentation of two slides."""
    made = pptx.Presentation()
    for words in ("The county prepares a flood plan.", "The mayor orders the evacuation."):
        slide = made.slides.add_slide(made.slide_layouts[5])
        slide.shapes.title.text = words
    made.save(str(tmp_path / "slides.pptx"))
    index_files(tmp_path / "workspace", tmp_path / "slides.pptx")
    return tmp_path / "workspace"


def drawn_at_last(app: AppTest) -> None:
    while any("takes longer" in one.value for one in app.info):
        app.run()


@pytest.mark.needs("soffice")
def test_an_answer_shows_an_office_file_as_it_looks(start: Start, office: Path) -> None:
    [document] = documents_of(office).values()
    quote = "The mayor orders the evacuation."
    at = extracted_text(office, document).index(quote)
    cited = replace(CITATION, document_id=document.document_id, quote=quote, page=2, start=at, end=at + len(quote))
    source = replace(SOURCE, document_id=document.document_id, file=document.file, page=2, last_page=2)
    app = start(office, conversation=converse(office, replace(REPLY, citations=(cited,), sources=(source,))).id)
    drawn_at_last(app)
    assert not app.exception
    assert not app.error
    assert len(app.get("image")) == 1
    assert not any("not the original layout" in one.value for one in app.caption)
    assert not any("not found in this layout" in one.value for one in app.caption)


@pytest.mark.needs("soffice")
def test_an_office_file_is_drawn_as_it_looks_and_can_be_read_as_text(start: Start, office: Path) -> None:
    app = opened(start, office, "slides.pptx", page="2")
    drawn_at_last(app)
    assert not app.error
    view = components(app)["document page"]
    assert view["picture"]
    assert "The mayor orders the evacuation." in " ".join(line[0] for line in view["lines"])
    # The slides are the pages of the layout: one box turns both.
    assert [one.value for one in app.number_input] == [2]
    assert not any("not the original layout" in one.value for one in app.caption)
    app.selectbox(key="document zoom").set_value(2.0).run()
    drawn_at_last(app)
    assert components(app)["document page"]["zoom"] == 2.0

    [toggle] = [one for one in app.toggle if one.label == "Original layout"]
    toggle.set_value(False).run()
    assert any("Extracted text, not the original layout." in one.value for one in app.caption)
    assert "evacuation" in json.dumps(components(app)["document page"]["paragraphs"])


def test_an_office_file_is_labelled_as_extracted_text_without_libreoffice(
    start: Start, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(office))
    app = opened(start, office, "slides.pptx")
    assert any("Extracted text, not the original layout." in one.value for one in app.caption)
    assert "flood plan" in json.dumps(components(app)["document page"]["paragraphs"])
    assert not any(one.label == "Original layout" for one in app.toggle)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return a workspace: two documents whose first pages take minutes, and an ordinary one."""
    with pymupdf.open() as report:
        for _ in range(3):
            page = report.new_page()
            for row in range(20):
                page.insert_text((72, 90 + 20 * row), f"County council {row} prepares a flood plan every six years.")
        report.save(tmp_path / "endless.pdf")
    for name in ("ordinary", "another"):
        shutil.copyfile(tmp_path / "endless.pdf", tmp_path / f"{name}.pdf")
        with pymupdf.open(tmp_path / f"{name}.pdf") as copy:
            copy[0].insert_text((72, 600), f"This is the {name} one.")
            copy.saveIncr()
    index_files(tmp_path / "workspace", *(tmp_path / f"{name}.pdf" for name in ("endless", "ordinary", "another")))
    engine = open_engine(read_config(tmp_path / "workspace"))
    for document in engine.collection.documents():
        if document.file != "ordinary.pdf":
            engine.collection.stored_file(document).write_bytes(page_of_shadings())
    engine.close()
    return tmp_path / "workspace"


def test_a_page_that_takes_minutes_says_so_and_shows_its_text_and_nobody_waits(
    start: Start, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(endless)
    engine = resources.engine()
    with monkeypatch.context() as patch:
        # However busy the machine is, the other visitor's page is being drawn meanwhile.
        patch.setattr(engine.drawings._page_renderer, "_seconds", 600)
        of_another = engine.drawings.draw_page(documents_of(endless)["another.pdf"], 1, width=700)[0]
        ordinary = opened(start, endless, "ordinary.pdf")
        assert not of_another.done()
    assert components(ordinary)["document page"]["picture"]
    for child in engine.drawings._page_renderer._pool._children:
        child.kill()
    # Twice: at the limit it may be said to take longer before it is given up.
    opened(start, endless, "endless.pdf")
    app = opened(start, endless, "endless.pdf")
    assert any("endless" in one.value for one in app.markdown)
    assert [one.value.replace("\\", "") for one in app.error] == [
        "Page 1 of endless.pdf cannot be drawn: it takes longer than 5 seconds. Open the original file instead."
    ]
    shown = components(app)["document page"]["paragraphs"]
    assert "County council 7 prepares a flood plan" in " ".join(run[0] for _, runs, _ in shown for run in runs)

    # The next visitor, also after a new start, does not wait.
    st.cache_resource.clear()
    start(endless)
    monkeypatch.setattr(PageRenderer, "_draw", lambda *_: pytest.fail("it was drawn again"))
    again = opened(start, endless, "endless.pdf")
    assert len(again.error) == 1
