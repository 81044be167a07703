"""Filters beside a question: what they leave out, their counts, links and saved sets."""

from datetime import date
from pathlib import Path

from ingestion.config import IngestionConfig
from ingestion.pipeline.run import run_phases
from ingestion.records.source_store import SourceStore
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.tools import open_tools
from ingestion.types.run import RunRequest
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from tests.pages.collection import with_undated
from tests.pages.conftest import Start, texts
from tests.pages.test_ask import ask
from tests.portal.texts import FLOOD, FLOOD_REVISED


def test_a_filter_keeps_other_documents_out(start: Start, collection: Path) -> None:
    app = start(collection)
    app.multiselect(key="ask hazard").set_value(["Heatwaves"]).run()

    app = ask(app, "How long does a local flood plan remain valid?")

    assert "1 active" in "".join(one.label for one in app.expander)
    assert not any("Flood Act" in one.value for one in app.subheader)
    assert ":gray-badge[Hazard: Heatwaves] :gray-badge[1 of 3 documents] :gray-badge[" in texts(app).replace("\\", "")


def test_counts_follow_the_other_choices_and_clear_all_takes_every_filter_back(start: Start, collection: Path) -> None:
    app = start(collection)
    assert app.multiselect(key="ask language").options == ["English (2)", "Italian (1)"]

    app.multiselect(key="ask country").set_value(["Italy"]).run()

    assert app.multiselect(key="ask language").options == ["Italian (1)"]
    assert "1 of 3 documents match." in texts(app)

    app.button(key="ask clear").click().run()

    assert not app.exception
    assert app.multiselect(key="ask country").value == []
    assert app.multiselect(key="ask language").options == ["English (2)", "Italian (1)"]
    assert "active" not in "".join(one.label for one in app.expander)


def test_the_filter_is_in_the_address_and_an_address_sets_the_filter(start: Start, collection: Path) -> None:
    app = start(collection)
    app.multiselect(key="ask hazard").set_value(["Flood"]).run()
    assert app.query_params["hazard"] == "Flood"

    linked = start(collection, hazard="Flood", language="en", year="1900-nonsense")
    assert not linked.exception
    assert linked.multiselect(key="ask hazard").value == ["Flood"]
    assert linked.multiselect(key="ask language").value == ["en"]

    linked.multiselect(key="ask language").set_value([]).run()
    assert "language" not in linked.query_params
    assert linked.multiselect(key="ask hazard").value == ["Flood"]


def test_undated_documents_are_left_out_on_demand_and_called_undated_else(
    start: Start, own: Path, tmp_path: Path
) -> None:
    question, collection = "How many levels of alert are there?", with_undated(own, tmp_path)
    app = start(collection, as_of="1850-01-01")
    assert app.date_input(key="ask as_of").value == date(1850, 1, 1)
    assert "1 of 4 documents match." in texts(app)
    assert ":gray-badge[undated]" in texts(ask(app, question))

    app.checkbox(key="ask dated").check().run()
    assert not app.exception
    assert app.query_params["dated"] == "only"
    assert "0 of 4 documents match." in texts(app)
    assert "2 active" in "".join(one.label for one in app.expander)
    assert "Dated documents: only" in texts(ask(app, question)).replace("\\", "")

    app.button(key="ask clear").click().run()
    assert app.checkbox(key="ask dated").value is False
    assert start(collection, dated="only").checkbox(key="ask dated").value is True


def test_what_a_link_asks_for_and_no_document_has_is_said_to_be_left_out(start: Start, collection: Path) -> None:
    said = "No document has what the link asks for, and it was left out:"
    linked = start(collection, hazard="Wildfire", language="en", document="0123abcd")
    assert f"{said} Hazard: Wildfire; Document: 0123abcd." in texts(linked).replace("\\", "")
    assert linked.multiselect(key="ask language").value == ["en"]

    assert said in texts(linked.run()).replace("\\", "")
    linked.multiselect(key="ask hazard").set_value(["Flood"]).run()
    assert "asks for" not in texts(linked)
    assert "asks for" not in texts(start(collection, hazard="Flood", language="en"))


def test_filters_are_saved_used_deleted_and_brought_back(start: Start, collection: Path) -> None:
    app = start(collection)
    app.multiselect(key="ask hazard").set_value(["Flood"]).run()
    app.text_input(key="ask filters name").set_value("Floods")
    app.button(key="ask save filters").click().run()
    app.button(key="ask clear").click().run()
    assert app.multiselect(key="ask hazard").value == []

    app.button(key="ask use Floods").click().run()
    assert not app.exception
    assert app.multiselect(key="ask hazard").value == ["Flood"]
    app.button(key="ask delete Floods").click().run()
    assert "ask use Floods" not in [one.key for one in app.button]
    app.button(key="undo filters").click().run()
    assert app.button(key="ask use Floods").label == "Floods"
    app.button(key="ask delete Floods").click().run()
    assert not app.exception


def test_a_refusal_names_the_filter_of_its_question_that_leaves_no_document(start: Start, collection: Path) -> None:
    app = ask(
        start(collection, country="Ireland", hazard="Heatwaves"), "How long does a local flood plan remain valid?"
    )
    told = "Country Ireland excludes the only document that would match without it."

    assert not app.exception
    assert told in texts(app).replace("\\", "")

    # Of the question, not of what is set now.
    app.button(key="ask clear").click().run()
    assert told in texts(app).replace("\\", "")


def test_a_date_asks_the_version_that_stood_then(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    for name, text in {"old": FLOOD, "new": FLOOD_REVISED}.items():
        (folder / f"{name}.md").write_text(f"# {text.plain}", encoding="utf-8")
    engine = open_engine(read_config(tmp_path / "workspace"))
    store = SourceStore(engine.catalog)
    store.add(read_source_list(folder, ()).new)
    with open_tools(engine, IngestionConfig(use_model=False)) as tools:
        run_phases(store, engine, tools, RunRequest())
    engine.close()
    question = "How many metres from the dyke do residents leave their homes?"

    app = ask(start(tmp_path / "workspace"), question)
    assert "500 metres" in texts(app)
    assert "300 metres" not in texts(app)
    assert "Newer version exists" not in texts(app)

    app = start(tmp_path / "workspace")
    app.date_input(key="ask as_of").set_value(date(2020, 1, 1)).run()
    app = ask(app, question)
    assert "300 metres" in texts(app)
    assert "500 metres" not in texts(app)
    assert "Newer version exists" in texts(app)

    app.switch_page("pages/library.py").run()
    assert sorted(app.dataframe[0].value["Version"]) == ["Newest", "Superseded 2 Jun 2022"]
