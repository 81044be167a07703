"""The Search page, over a small real collection."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.acts.corrections import correct
from pages._shared import resources
from rag_engine.notebook import store as notebooks
from rag_engine.passage_search import saved
from rag_engine.passage_search.passage_query import PassageQuery
from tests.pages.collection import HOSTILE_TITLE, index_files, with_undated
from tests.pages.conftest import Start, open_page, texts


def search_page(app: AppTest, **query: object) -> AppTest:
    return open_page(app, "search", **query)


def boxes(app: AppTest) -> dict[str, bool]:
    """Return the boxes of the filters by their label, each with whether it can be chosen."""
    return {one.label: not one.disabled for one in app.sidebar.checkbox}


def address(app: AppTest) -> dict[str, list[str]]:
    return {name: [values] if isinstance(values, str) else values for name, values in app.query_params.items()}


def test_without_a_search_the_page_says_what_to_type(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace))
    assert not app.exception
    assert "Type key words" in texts(app)
    assert "**3 of 3 documents match**" in texts(app)


def test_an_empty_collection_says_so(start: Start, tmp_path: Path) -> None:
    app = search_page(start(tmp_path / "empty"), words="flood")
    assert not app.exception
    assert "No document is indexed yet" in texts(app)


def test_words_find_passages_with_marks_to_be_exported_and_stand_in_the_address(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace))
    app.text_input(key="search words").set_value("  flood  plans ").run()
    assert not app.exception
    assert address(app) == {"words": ["flood plans"]}
    assert "1 passage in 1 document contains all of these words" in texts(app)
    assert ":green-background[flood] :green-background[plan]" in texts(app)
    assert [one.proto.label for one in app.get("download_button")] == ["Excel", "CSV"]
    assert "**Flood Act**" in texts(app)


def test_the_page_says_what_was_searched_and_keeps_the_near_apart(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="plan OR calore -crane")
    assert not app.exception
    assert "Searched for “plan” or “calore”\\, without “crane”\\." in texts(app)
    app.text_input(key="search words").set_value("“flood plan”").run()
    assert app.checkbox(key="search words only").value
    assert not app.subheader
    app.checkbox(key="search words only").uncheck().run()
    assert address(app) == {"words": ["“flood plan”"], "match": ["meaning"]}
    app.text_input(key="search words").set_value("cool rooms for the elderly").run()
    [heading] = app.subheader
    assert "close in meaning" in heading.value


def test_words_on_different_pages_are_found_anywhere_in_the_document(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="medico rosso", match="words")
    app.checkbox(key="search anywhere").check().run()
    assert not app.exception
    assert address(app) == {"words": ["medico rosso"], "match": ["words"], "within": ["document"]}
    assert "1 document with all of these words\\, in" in texts(app)


def test_a_link_reproduces_the_search(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="piano", country="Italy", sort="date", match="words")
    assert app.text_input(key="search words").value == "piano"
    assert app.sidebar.checkbox(key="search country Italy").value
    assert app.checkbox(key="search words only").value
    assert app.button_group(key="search sort").value == "date"
    assert "**Piano caldo**" in texts(app)
    assert "**1 of 3 documents match**" in texts(app)
    assert "Flood Act" not in texts(app)


def test_counts_follow_the_other_choices_and_an_empty_value_cannot_be_chosen(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace))
    assert boxes(app)["Ireland (1)"]
    assert boxes(app)["Italy (1)"]
    app.sidebar.checkbox(key="search language it").check().run()
    assert address(app) == {"language": ["it"]}
    assert boxes(app)["Italy (1)"]
    assert not boxes(app)["Ireland (0)"]
    # The other values of the facet itself can still be added.
    assert boxes(app)["English (2)"]
    app.sidebar.checkbox(key="search language it").uncheck().run()
    assert address(app) == {}
    assert boxes(app)["Ireland (1)"]


def test_with_words_the_counts_are_of_the_documents_that_are_found(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="plan", match="words")
    assert "**1 of 3 documents match**" in texts(app)
    assert boxes(app)["Ireland (1)"]
    assert boxes(app)["Flood (1)"]
    assert not boxes(app)["Italy (0)"]
    assert not boxes(app)["Heatwaves (0)"]

    app.sidebar.checkbox(key="search country Ireland").check().run()
    assert not app.exception
    assert "**1 of 3 documents match**" in texts(app)
    # Words that no document of the filter holds: the other values say where they are.
    app.text_input(key="search words").set_value("calore").run()
    assert "**0 of 3 documents match**" in texts(app)
    assert boxes(app)["Italy (1)"]
    assert boxes(app)["Ireland (0)"]


def test_filters_alone_list_the_first_passage_of_each_document(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), language="en")
    assert "2 documents\\, newest first\\, each with its first passage\\." in texts(app)
    assert "**Flood Act**" in texts(app)
    assert "close in meaning" not in texts(app)


def test_a_refusal_names_the_filter_and_drops_it(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="piano", country="Ireland", language="it")
    assert not app.exception
    assert "Country Ireland excludes the only document that would match without it\\." in texts(app)
    app.button(key="search drop country").click().run()
    assert address(app) == {"words": ["piano"], "language": ["it"]}
    assert "**Piano caldo**" in texts(app)


def test_a_value_that_no_document_has_is_no_error(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), country="Atlantis", year="abc")
    assert not app.exception
    assert not app.error
    assert "No document matches your filters\\." in texts(app)
    assert boxes(app)["Atlantis (0)"]


def test_the_country_is_there_though_no_document_has_one(start: Start, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("Rules for lighthouses\n\nThe keeper cleans the lamp every Thursday.")
    index_files(tmp_path / "workspace", tmp_path / "rules.txt")
    app = search_page(start(tmp_path / "workspace"))
    assert not app.exception
    labels = [one.label for one in app.sidebar.expander]
    assert "Country" in labels
    assert "Hazard" not in labels


def test_foreign_text_stays_text(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="harbour cranes")
    assert not app.exception
    drawn = "\n".join(str(one.value) for one in (*app.markdown, *app.caption))
    assert "\\<script\\>" in drawn
    assert "<script>" not in drawn
    assert "![x](" not in drawn
    assert HOSTILE_TITLE not in drawn


def test_a_quote_is_copied_with_its_reference_and_added_to_the_notebook_once(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="valid for six years", match="words")
    assert [one.value for one in app.code] == [
        "“A local flood plan remains valid for six years.” (Parliament of Ireland, Flood Act, 2016)"
    ]
    [button] = [one for one in app.button if one.key and one.key.endswith(f"add {notebooks.DEFAULT.id}")]
    button.click().run()
    assert "Added to the notebook Evidence." in texts(app)
    app.button(key=str(button.key)).click().run()
    assert "Already in the notebook Evidence." in texts(app)
    [entry] = notebooks.list_notebooks(workspace)[0].entries
    assert entry.question == "valid for six years"
    assert [one.quote for one in entry.quotes] == ["A local flood plan remains valid for six years."]

    app.switch_page("pages/notebook.py").run()
    assert not app.exception
    assert "The conversation was deleted." not in texts(app)
    assert [one.proto.label for one in app.get("page_link")] == ["Search again"]


def test_a_search_is_saved_run_renamed_deleted_and_brought_back(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="plan", language="en")
    app.text_input(key="search saved name").set_value("Plans").run()
    app.button(key="search save button").click().run()
    assert not app.exception
    [kept] = saved.list_searches(workspace)
    assert (kept.name, kept.query) == ("Plans", PassageQuery("plan", {"language": ("en",)}))

    app.button(key="search clear").click().run()
    app.text_input(key="search words").set_value("piano").run()
    app.button(key=f"search run {kept.id}").click().run()
    assert address(app) == {"words": ["plan"], "language": ["en"]}
    assert app.text_input(key="search words").value == "plan"

    app.text_input(key=f"search rename {kept.id}").set_value("Flood <plans>").run()
    app.button(key=f"search rename {kept.id} button").click().run()
    assert app.button(key=f"search run {kept.id}").label == "Flood \\<plans\\>"

    app.button(key=f"search delete {kept.id}").click().run()
    assert saved.list_searches(workspace) == []
    app.button(key="search undo").click().run()
    assert [one.name for one in saved.list_searches(workspace)] == ["Flood <plans>"]
    assert "Search deleted." not in texts(app)


def test_a_taken_name_is_refused(start: Start, workspace: Path) -> None:
    saved.save_search(workspace, "Plans", PassageQuery("plan"))
    app = search_page(start(workspace), words="piano")
    app.text_input(key="search saved name").set_value("plans").run()
    app.button(key="search save button").click().run()
    assert "already" in texts(app)


def test_the_years_are_a_range_in_the_address(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace), words="plan")
    app.sidebar.slider(key="search years").set_range(2016, 2019).run()
    assert address(app) == {"words": ["plan"], "year": ["2016-2019"]}
    app.sidebar.slider(key="search years").set_range(2016, 2021).run()
    assert address(app) == {"words": ["plan"]}


def test_the_search_is_there_again_after_another_page(start: Start, workspace: Path) -> None:
    app = search_page(start(workspace))
    app.text_input(key="search words").set_value("piano").run()
    app.switch_page("pages/library.py").run()
    app.query_params.clear()
    app.switch_page("pages/search.py").run()
    assert address(app) == {"words": ["piano"]}
    assert app.text_input(key="search words").value == "piano"
    assert "**Piano caldo**" in texts(app)


@pytest.fixture(scope="module")
def versioned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with two versions of a plan."""
    folder = tmp_path_factory.mktemp("versions")
    files = folder / "files"
    files.mkdir()
    known: list[dict[str, object]] = [
        {"file": "old.txt", "title": "Old plan", "date": "2020", "superseded": "2024-01-01"},
        {"file": "new.txt", "title": "New plan", "date": "2024"},
    ]
    for one in known:
        text = f"{one['title']}\n\nA local flood plan remains valid for six years, and is published."
        (files / str(one["file"])).write_text(text, encoding="utf-8")
    lines = (json.dumps({"language": "en", "work": "plan", **one}) for one in known)
    (files / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    index_files(folder / "workspace", files)
    return folder / "workspace"


def test_the_newest_version_is_searched_or_that_of_a_day_or_all(start: Start, versioned: Path) -> None:
    app = search_page(start(versioned), words="valid", match="words")
    assert "**1 of 2 documents match**" in texts(app)
    assert boxes(app)["English (1)"]
    assert "**New plan**" in texts(app)
    assert "Newer version exists" not in texts(app)

    app.sidebar.date_input(key="search as of").set_value(date(2021, 5, 1)).run()
    assert address(app)["as_of"] == ["2021-05-01"]
    assert "**Old plan**" in texts(app)
    assert "Newer version exists" in texts(app)
    assert "**New plan**" not in texts(app)

    app.sidebar.checkbox(key="search versions").check().run()
    assert not app.exception
    assert address(app)["versions"] == ["all"]
    assert "**2 of 2 documents match**" in texts(app)
    assert boxes(app)["English (2)"]


def test_undated_documents_are_searched_for_any_day_and_year_but_where_dated_ones_alone_are_wanted(
    start: Start, own: Path, tmp_path: Path
) -> None:
    app = search_page(start(with_undated(own, tmp_path)), year="1990-2000")
    assert "1 of 4 documents match" in texts(app)
    assert ":gray-badge[undated]" in texts(app)

    app.sidebar.checkbox(key="search dated").check().run()
    assert not app.exception
    assert address(app)["dated"] == ["only"]
    assert "No document matches your filters" in texts(app)
    app.sidebar.checkbox(key="search dated").uncheck().run()
    assert "dated" not in address(app)
    app.sidebar.date_input(key="search as of").set_value(date(1990, 1, 1)).run()
    assert "1 of 4 documents match" in texts(app)


def test_counts_where_one_asks_are_of_the_versions_that_answer(start: Start, versioned: Path) -> None:
    app = start(versioned)
    assert app.multiselect(key="ask language").options == ["English (1)"]
    app.date_input(key="ask as_of").set_value(date(2010, 1, 1)).run()
    assert not app.exception
    assert app.multiselect(key="ask language").options == []


def draw_many() -> None:
    from pages._search.facets import _draw_values
    from rag_engine.passage_search.passage_query import PassageQuery

    _draw_values(PassageQuery("plan"), "authority", {f"Council {n}": 5000 - n for n in range(5000)})


def test_of_five_thousand_values_one_is_found_by_its_letters() -> None:
    drawn = AppTest.from_function(draw_many, default_timeout=60).run()
    assert not drawn.exception
    assert [one.label for one in drawn.checkbox][:2] == ["Council 0 (5,000)", "Council 1 (4,999)"]
    assert len(drawn.checkbox) == 12
    assert not drawn.button
    [finding] = drawn.text_input
    assert finding.label == "Find in Authority (5,000)"
    finding.set_value("cil 471").run()
    assert not drawn.exception
    assert [one.label for one in drawn.checkbox][:2] == ["Council 471 (4,529)", "Council 4710 (290)"]
    drawn.checkbox[1].check().run()
    assert drawn.query_params["authority"] == "Council 4710"


def draw_many_in_a_filter() -> None:
    import streamlit as st

    from pages._shared.filter_widgets import _draw_values

    st.json(_draw_values("ask authority", "authority", {f"Council {n}": 5000 - n for n in range(5000)}))


def test_a_filter_sends_the_browser_no_more_values_than_anybody_scrolls_through() -> None:
    drawn = AppTest.from_function(draw_many_in_a_filter, default_timeout=60).run()
    assert not drawn.exception
    assert len(drawn.multiselect[0].options) == 100
    drawn.text_input[0].set_value("council 4711").run()
    assert drawn.multiselect[0].options == ["Council 4711 (289)"]
    drawn.multiselect[0].select("Council 4711").run()
    drawn.text_input[0].set_value("").run()
    # What is chosen stays, whatever is looked for next.
    assert drawn.multiselect[0].value == ["Council 4711"]
    assert len(drawn.multiselect[0].options) == 101
    assert "Council 4711" in drawn.json[0].value


def test_a_document_without_a_title_is_named_by_its_file(start: Start, workspace: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(workspace, tmp_path / "workspace"))
    app = start(own)
    context = resources.context()
    document = next(one for one in context.engine.collection.documents() if one.metadata.title == "Flood Act")
    correct(context, {document.source: {"title": []}}, "Ada", "")

    search_page(app, words="penalty")

    assert not app.exception
    assert "**flood\\-act\\.txt**" in [one.value for one in app.markdown]


def test_struck_words_are_shown_where_they_are_asked_for(start: Start, tmp_path: Path) -> None:
    page = (
        "<html lang='en'><h1>Dyke by-law</h1><p>Owners shall inspect dykes every <del>five</del> two years.</p></html>"
    )
    (tmp_path / "by-law.html").write_text(page, encoding="utf-8")
    index_files(tmp_path / "workspace", tmp_path / "by-law.html")
    app = search_page(start(tmp_path / "workspace"), words="five years")
    assert "~~" not in texts(app)
    app.checkbox(key="search struck").check().run()
    assert not app.exception
    assert address(app)["struck"] == ["include"]
    assert "Owners shall inspect dykes every ~~five~~ two years" in texts(app)
