"""Backups tab of the Admin page, without a browser."""

from contextlib import closing
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion import workspace as folders
from ingestion.acts.people import audit_entries
from ingestion.jobs.queue import JobQueue
from ingestion.worker import work
from pages._shared import resources
from pages._shared.markdown import escape
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from tests.pages.conftest import Start, texts
from tests.pages.test_admin import admin
from tests.pages.test_interface_language import browser

pytestmark = pytest.mark.usefixtures("idle")


def test_an_admin_has_a_backup_made_and_takes_it_away(start: Start, own: Path) -> None:
    app = admin(start(own), "backups")
    assert [one.value for one in app.info] == ["No backup has been made yet."]
    assert str(folders.backups(own)) in texts(app)
    assert "The server's administrator restores a backup" in texts(app)

    app.button(key="make backup").click().run()
    assert "**Backing up the workspace** · waiting" in texts(app)
    with closing(open_engine(read_config(own))) as engine:
        assert [job.kind for job in JobQueue(engine.catalog).latest()] == ["backup"]
        work(engine)
    [file] = folders.backups(own).iterdir()

    app = admin(start(own), "backups")
    assert not app.exception
    assert not app.info
    [download] = app.get("download_button")
    assert download.proto.label == f"Download {file.name}"
    app = app.switch_page("pages/library.py").run()
    assert escape(f"{file.name}: 3 documents") in texts(app)


def draw_deletion(name: str) -> None:
    """Draw the confirmation as a page: a dialog cannot be clicked in this test bed."""
    import inspect

    from pages._backup.backup import _confirm_deletion

    inspect.unwrap(_confirm_deletion)(name)


def test_a_backup_is_deleted_once_it_is_confirmed_and_that_is_in_the_audit_log(start: Start, own: Path) -> None:
    folder = folders.backups(own)
    folder.mkdir()
    for name in ("first.zip", "second.zip", "note.txt"):
        (folder / name).write_text("kept")
    app = admin(start(own), "backups")
    app.button(key="backup delete first.zip").click().run()
    assert not app.exception
    assert (folder / "first.zip").exists()

    dialog = AppTest.from_function(draw_deletion, args=("first.zip",)).run()
    dialog.button(key="delete backup confirmed").click().run()

    assert not dialog.exception
    assert sorted(one.name for one in folder.iterdir()) == ["note.txt", "second.zip"]
    assert [(one.act, one.on) for one in audit_entries(resources.context())] == [("delete_backup", "first.zip")]
    app = admin(start(own), "backups")
    assert "backup delete first.zip" not in [one.key for one in app.button]


@pytest.mark.parametrize("name", ["first.zip", "../workspace/catalog.sqlite", "note.txt"])
def test_nothing_but_a_backup_that_is_there_is_deleted(start: Start, own: Path, name: str) -> None:
    folder = folders.backups(own)
    folder.mkdir()
    (folder / "note.txt").write_text("kept")
    start(own)

    dialog = AppTest.from_function(draw_deletion, args=(name,)).run()
    dialog.button(key="delete backup confirmed").click().run()

    assert "There is no backup" in dialog.error[0].value
    assert (folder / "note.txt").exists()
    assert (own / "catalog.sqlite").exists()


def test_the_page_says_why_there_can_be_no_backup(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders.backups(own).write_text("not a folder")
    browser(monkeypatch, "fr-FR")
    app = admin(start(own), "backups")
    app.button(key="make backup").click().run()
    with closing(open_engine(read_config(own))) as engine:
        work(engine)
    app = admin(start(own), "backups")
    assert "Le dossier des sauvegardes" in app.error[0].value
    assert "L’administrateur du serveur peut le créer" in app.error[0].value
