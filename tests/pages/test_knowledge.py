"""The knowledge base on the admin page, without a browser."""

from contextlib import closing
from pathlib import Path

import pytest

from ingestion.jobs.queue import JobQueue
from ingestion.worker import work
from pages._shared.markdown import escape
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.storage.index_entries import IndexedEntry, index_sources, replace_index
from tests.pages.conftest import Start, texts
from tests.pages.test_admin import admin


@pytest.fixture
def tabled(own: Path, idle: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with a table of terms, whose runs are carried out by the test itself."""
    monkeypatch.setenv("SEXTANT_READER", "none")
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    with opened(own) as engine:
        [act] = [one for one in engine.collection.documents() if one.file == "flood-act.txt"]
        start = engine.catalog.text(act.key).index("A council that fails")
        listed = [IndexedEntry("penalty", "for <b>councils</b>", "terms.csv", 1, start, start + 85)]
        replace_index(engine.catalog, "terms.csv", {act.key: listed})
    return own


def opened(workspace: Path) -> closing[Engine]:
    return closing(open_engine(read_config(workspace)))


def test_the_knowledge_base_is_built_as_a_run_and_shown_with_its_passages(start: Start, tabled: Path) -> None:
    app = admin(start(tabled), "knowledge")
    assert "**terms\\.csv** · 1 document" in texts(app)

    app.button(key="ground").click().run()
    with opened(tabled) as engine:
        assert JobQueue(engine.catalog).latest()[0].kind == "ground"
        work(engine)
    app = admin(start(tabled), "knowledge")

    assert not app.exception
    assert "**Building the knowledge base**" in texts(app)
    assert "1 written" in texts(app)
    [row] = app.dataframe[0].value.to_dict("records")
    assert (row["Entry"], row["Index"], row["Written by"]) == (
        "penalty, for <b>councils</b>", "terms.csv", "quotations only",
    )  # fmt: skip
    # The sentence to which the index leads is quoted first.
    [first, *_] = row["Text"].splitlines()
    assert "penalty of ten thousand euros" in first
    assert f"**{escape('penalty, for <b>councils</b>')}**" in texts(app)
    assert ":green-badge[2] Flood Act · named by the index" in texts(app)


def test_building_twice_queues_one_job(start: Start, tabled: Path) -> None:
    app = admin(start(tabled), "knowledge")
    app.button(key="ground").click().run()
    app.button(key="ground").click().run()
    with opened(tabled) as engine:
        assert [job.kind for job in JobQueue(engine.catalog).latest()] == ["ground"]


def test_an_index_table_is_previewed_applied_and_removed(start: Start, own: Path) -> None:
    app = admin(start(own), "knowledge")
    uploader = next(one for one in app.file_uploader if one.label == "Index table")
    table = b"term,file,page\npenalty,flood-act.txt,1\nflood plan,flood-act.txt,1\nnowhere,other.pdf,3\n"
    uploader.set_value(("terms.csv", table, "text/csv")).run()
    assert not app.exception
    assert app.dataframe[0].value["Term"].tolist() == ["penalty", "flood plan", "nowhere"]
    assert "3 terms read. Nothing has been applied" in texts(app)
    app.button(key="apply table").click().run()
    assert "2 terms at 2 places" in texts(app)
    assert "No document found for other" in texts(app)
    assert "**terms\\.csv** · 1 document" in texts(app)
    app.button(key="remove table terms.csv now").click().run()
    assert "terms\\.csv" not in texts(app)
    with opened(own) as engine:
        assert index_sources(engine.catalog) == {}
