"""A backup is the workspace of one moment, also if the workspace changes meanwhile."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.acts.backups import backup, restore
from ingestion.acts.documents import queue_files
from ingestion.acts.people import audit_entries
from ingestion.backup.backup import BackupMade
from rag_engine.conversations.store import list_conversations
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.installation import sextant_version
from rag_engine.settings import read_settings
from tests.conftest import ROOT
from tests.ingestion.backup.workspaces import add, context_of, erase, found, once, open_engine, place
from tests.ingestion.left_behind import state_of

MORE = "# Rules of the marina\n\n" + "The marina has a keeper of its own, who counts the boats. " * 20
# Its own id, which generation of the indexes answers, what was due in the former one, and that it was restored.
_OWN = (
    "'kind': 'act'",
    "'kind': 'entered'",
    "'name': 'workspace'",
    "'name': 'generation'",
    "'name': 'waiting generation'",
    "'name': 'dense index due'",
)


def test_a_restored_workspace_is_the_one_that_was_backed_up(workspace: Path, archive: Path, tmp_path: Path) -> None:
    restored = restore(place(tmp_path / "restored"), archive)
    assert (restored.documents, restored.former, restored.without_vectors) == (2, str(workspace), 0)
    states = []
    for folder in (workspace, restored.workspace):
        with closing(open_engine(folder)) as engine:
            states.append(state_of(folder, engine))
    before, after = states
    for table, rows in before.rows.items():
        kept = [row for row in rows if not any(own in row for own in _OWN)]
        assert [row for row in after.rows[table] if not any(own in row for own in _OWN)] == kept, table
    assert (after.dense, after.sparse) == (before.dense, before.sparse)
    assert before.files.items() == after.files.items()
    assert found(restored.workspace) == found(workspace) != []
    assert [one.title for one in list_conversations(restored.workspace)] == ["How long is a plan valid?"]
    assert read_settings(restored.workspace).state("answer_seconds").value == 600
    for folder, last in ((restored.workspace, "restore"), (workspace, "backup")):
        entered = audit_entries(place(folder))
        assert (entered[0].act, entered[0].on) == (last, "backup.zip")
        assert {one.outcome for one in entered} == {"done"}
    # The log was copied before the backup had ended, and says of it what it does where it was made.
    [made] = audit_entries(place(restored.workspace), of="backup")
    assert (made.on, made.by) == ("backup.zip", "Ada")


def test_a_backup_is_its_owners_alone_and_nothing_is_left_beside_it(archive: Path) -> None:
    assert archive.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in archive.parent.iterdir() if path.name.startswith(".sextant")] == []
    restored = restore(place(archive.parent / "restored"), archive).workspace
    assert restored.stat().st_mode & 0o077 == 0
    assert (restored / "catalog.sqlite").stat().st_mode & 0o077 == 0


def test_nothing_of_a_running_process_and_no_index_is_in_a_backup(workspace: Path, tmp_path: Path) -> None:
    running = ("serving.json", "writer.json", "worker.log", "write.lock", ".licence/page.pdf", "refused/a.begun")
    for name in (
        *running,
        "drawings/1-a",
        "damaged/2026-11-25T101010/catalog.sqlite-wal",
        "damaged/2026-11-25T101010/records.sqlite",
    ):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("{}")
    with zipfile.ZipFile(backup(place(workspace), tmp_path / "backup.zip").file) as packed:
        tops = {name.split("/")[0] for name in packed.namelist()}
        assert json.loads(packed.read("manifest.json"))["version"] == sextant_version()
    assert tops == {
        "catalog.sqlite", "files", "manifest.json", "pages", "records.sqlite", "settings.toml", "vectors",
    }  # fmt: skip


def test_a_backup_overwrites_nothing_and_is_not_made_in_the_workspace(workspace: Path, archive: Path) -> None:
    before = archive.read_bytes()
    with pytest.raises(InputError, match="is there already, and a backup is never written over"):
        backup(place(workspace), archive)
    assert archive.read_bytes() == before
    with pytest.raises(InputError, match="lies in the workspace"):
        backup(place(workspace), workspace / "backup.zip")
    with pytest.raises(InputError, match="holds no workspace"):
        backup(place(workspace.parent), workspace.parent / "other.zip")
    with pytest.raises(InputError, match=r"is not there\. Make it first"):
        backup(place(workspace), workspace.parent / "nowhere" / "backup.zip")


def test_a_disk_without_room_is_told_before_anything_is_written(
    workspace: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 2**10))
    with pytest.raises(WorkspaceError, match=r"The backup takes \d+ MiB, and .* has room for 0 MiB"):
        backup(place(workspace), tmp_path / "second.zip")
    with pytest.raises(WorkspaceError, match=r"The restored workspace takes \d+ MiB"):
        restore(place(tmp_path / "restored"), archive)
    assert not (tmp_path / "restored").exists()


def test_a_document_erased_while_files_are_packed_is_not_in_the_backup(workspace: Path, tmp_path: Path) -> None:
    # The catalog is packed when the first original is shown; bay.md comes last.
    made = backup(
        place(workspace),
        tmp_path / "backup.zip",
        progress=once("harbour.md", lambda: erase(workspace, "bay.md")),
    )
    assert (made.documents, made.lost_originals) == (1, ())
    assert b"warden" not in made.file.read_bytes()
    assert len({one[0][:12] for one in found(restore(place(tmp_path / "restored"), made.file).workspace)}) == 1


def test_a_vector_that_was_given_to_another_text_meanwhile_is_not_taken_for_the_former(
    workspace: Path, tmp_path: Path
) -> None:
    def replace_a_document() -> None:
        erase(workspace, "harbour.md")
        add(workspace, "marina.md", MORE)

    # Between the copy of the catalog and that of the vectors.
    made = backup(place(workspace), tmp_path / "backup.zip", progress=once("vectors", replace_a_document))
    restored = restore(place(tmp_path / "restored"), made.file).workspace
    assert found(restored, "Who counts the boats?") == found(workspace, "Who counts the boats?") != []
    assert b"zanzibar" not in made.file.read_bytes()


def test_a_backup_is_entered_whatever_bytes_its_name_is_made_of(workspace: Path, tmp_path: Path) -> None:
    made = backup(place(workspace), tmp_path / "b\udcff.zip")
    assert made.file.is_file()
    assert (audit_entries(place(workspace))[0].act, audit_entries(place(workspace))[0].on) == ("backup", "b\\udcff.zip")


def test_a_lost_and_a_changed_original_are_named(workspace: Path, tmp_path: Path) -> None:
    next(workspace.glob("files/*/bay.md")).unlink()
    next(workspace.glob("files/*/harbour.md")).write_text("Somebody else's rules.")
    made = backup(place(workspace), tmp_path / "backup.zip")
    assert (made.lost_originals, made.damaged_originals) == (("bay.md",), ("harbour.md",))
    assert found(restore(place(tmp_path / "restored"), made.file).workspace) == found(workspace)


def test_a_backup_that_is_broken_off_leaves_nothing(workspace: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())

    def end() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup(place(workspace), tmp_path / "backup.zip", progress=once("harbour.md", end))
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def kill_a_backup(workspace: Path, file: Path) -> None:
    """Have a process be killed when it has packed a document."""
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from ingestion.acts.backups import backup\n"
        "from tests.ingestion.backup.workspaces import place\n"
        "kill = lambda done, total, name: name.endswith('.md') and os.kill(os.getpid(), signal.SIGKILL)\n"
        "backup(place(Path(sys.argv[1])), Path(sys.argv[2]), progress=kill)"
    )
    command = [sys.executable, "-c", code, str(workspace), str(file)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert not file.exists()
    assert len(list(file.parent.glob(".sextant-*.part"))) == 1


def test_what_a_killed_backup_left_goes_with_the_next_one(workspace: Path, tmp_path: Path) -> None:
    kill_a_backup(workspace, tmp_path / "backup.zip")
    [broken_off, *_] = audit_entries(place(workspace))
    assert (broken_off.act, broken_off.on, broken_off.outcome) == ("backup", "backup.zip", "interrupted")
    backup(place(workspace), tmp_path / "backup.zip")
    assert list(tmp_path.glob(".sextant-*.part")) == []


def test_what_a_killed_backup_left_beside_the_workspace_goes_with_an_erasure(workspace: Path, tmp_path: Path) -> None:
    # The folder of the backups that the page makes.
    kept = tmp_path / "workspace-backups"
    kept.mkdir()
    for folder in (kept, tmp_path):
        kill_a_backup(workspace, folder / "backup.zip")
    erase(workspace, "bay.md")
    assert [*kept.iterdir(), *tmp_path.glob(".sextant-*.part")] == []


def test_a_damaged_database_is_not_backed_up_as_if_it_were_whole(workspace: Path, tmp_path: Path) -> None:
    catalog = workspace / "catalog.sqlite"
    size = catalog.stat().st_size
    with catalog.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 8192)
    with pytest.raises(WorkspaceError, match=r"The catalog .*catalog\.sqlite is damaged"):
        backup(place(workspace), tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


def test_a_restored_workspace_has_an_id_and_places_of_its_own(workspace: Path, tmp_path: Path) -> None:
    upload = workspace / "uploads" / "0123456789abcdef" / "marina.md"
    upload.parent.mkdir(parents=True)
    upload.write_text(MORE, encoding="utf-8")
    with closing(open_engine(workspace)) as engine:
        queue_files(context_of(engine), [upload])
    made = backup(place(workspace), tmp_path / "backup.zip")
    restored = restore(place(tmp_path / "restored"), made.file).workspace
    ids = []
    for folder in (workspace, restored):
        with closing(sqlite3.connect(folder / "catalog.sqlite")) as connection:
            ids += connection.execute("SELECT value FROM state WHERE name = 'workspace'").fetchone()
    assert len(set(ids)) == 2
    with closing(open_engine(restored)) as engine:
        [job] = context_of(engine).jobs.latest()
    assert job.arguments["paths"] == [str(restored / "uploads" / "0123456789abcdef" / "marina.md")]


def test_backups_made_while_another_process_adds_documents_are_each_whole(workspace: Path, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(3):
        paragraphs = [f"Measure {n} of plan {number} binds authority {n * number} until {2020 + n}." for n in range(80)]
        (folder / f"plan{number}.txt").write_text("\n\n".join(paragraphs))
    code = (
        "import sys; from pathlib import Path; from tests.ingestion.killed_addition import run\n"
        "for file in sorted(Path(sys.argv[2]).iterdir()): run(sys.argv[1], str(file))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(workspace), str(folder)], cwd=ROOT)
    made: list[BackupMade] = []
    while process.poll() is None:
        made.append(backup(place(workspace), tmp_path / f"backup{len(made)}.zip"))
    assert process.returncode == 0
    last = backup(place(workspace), tmp_path / "last.zip")
    assert (made[0].documents, last.documents) == (2, 5)
    growing = {one.documents: one for one in (*made, last)}
    assert len(growing) > 2
    for documents in sorted(growing)[1::2]:
        one = growing[documents]
        restored = restore(place(tmp_path / f"restored{documents}"), one.file)
        assert (restored.documents, restored.without_vectors, one.lost_originals) == (documents, 0, ())
        assert found(restored.workspace)[0] == found(workspace)[0]


def test_a_backup_with_a_damaged_vector_is_restored_and_says_so(workspace: Path, tmp_path: Path) -> None:
    before = [child for child, *_ in found(workspace)]
    [vectors] = (workspace / "vectors").glob("*.f32")
    with vectors.open("r+b") as file:
        file.seek(8)
        file.write(b"\xff\xff\x01")
    made = backup(place(workspace), tmp_path / "damaged.zip")
    assert (made.documents, made.without_vectors) == (2, 1)
    restored = restore(place(tmp_path / "restored"), made.file)
    assert restored.documents == 2
    assert restored.without_vectors > 0
    with closing(open_engine(restored.workspace)) as engine:
        engine.rebuild(encode=True)
    # Encoded under the title that was corrected since: the passages are the same, their cosines nearly.
    assert [child for child, *_ in found(restored.workspace)] == before != []


def test_a_passage_without_a_vector_beside_a_damaged_one_is_counted_once(workspace: Path, tmp_path: Path) -> None:
    [vectors] = (workspace / "vectors").glob("*.f32")
    half = vectors.stat().st_size // 2
    vectors.write_bytes(b"\xff\xff\x01\x3f" * (half // 4) + bytes(half))
    made = backup(place(workspace), tmp_path / "damaged.zip")
    restored = restore(place(tmp_path / "restored"), made.file)
    assert restored.without_vectors == restored.passages > 1
