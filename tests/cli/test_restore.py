"""Words of the terminal about a workspace that was restored from somebody else's backup."""

import json
from contextlib import closing
from pathlib import Path

from typer.testing import CliRunner

from cli.main import app
from ingestion.acts.backups import backup
from ingestion.acts.documents import queue_files
from ingestion.acts.settings import change_setting
from rag_engine.settings import read_settings
from tests.ingestion.backup.workspaces import context_of, make_workspace, open_engine, place


def test_what_was_not_restored_is_said_with_the_command_that_sets_it_again(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "workspace")
    address = "http://models.example/$(touch)"
    change_setting(place(workspace), "ollama_url", address, "Ada")
    with closing(open_engine(workspace)) as engine:
        queue_files(context_of(engine), [tmp_path / "bay.md"])
    made = backup(place(workspace), tmp_path / "backup.zip").file
    restored = tmp_path / "restored here"
    result = CliRunner().invoke(app, ["restore", str(made), "-w", str(restored)])
    assert result.exit_code == 0
    assert f"sextant settings set ollama_url '{address}' --workspace '{restored}'" in result.stderr
    assert "Jobs that had not ended are cancelled here: add." in result.stderr
    assert "Admins of this workspace: ada@example.org." in result.stderr
    again = CliRunner().invoke(app, ["settings", "set", "ollama_url", address, "-w", str(restored)])
    assert again.exit_code == 0
    assert read_settings(restored).value("ollama_url") == address
    third = CliRunner().invoke(app, ["restore", str(made), "-w", str(tmp_path / "third"), "--json"])
    said = json.loads(third.stdout)
    assert (said["dropped_settings"], said["cancelled_jobs"], said["admins"]) == (
        {"ollama_url": address},
        ["add"],
        ["ada@example.org"],
    )
