"""Additions as people make them: files renamed, replaced, broken, oddly named."""

from __future__ import annotations

import ast
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pymupdf
import pytest

from cli.doctor import examine
from ingestion.add_files import FileOutcome, add_paths
from ingestion.file_reading import FileReading
from ingestion.sandbox.sandbox import Sandbox
from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.retrieval.book_index_boost import match_index
from tests.conftest import ROOT
from tests.ingestion.extraction.hostile import pdf_that_repeats
from tests.rag_engine.conftest import CountingEmbedder

FIRST = "The first edition of the plan names the river authority. " * 12
SECOND = "The second edition of the plan names the fire service. " * 12
THIRD = "The third edition of the plan names the mayor. " * 12
HAZARDS = ("flood", "heatwave", "avalanche", "quake", "landslide", "drought", "storm", "volcano", "tsunami", "wildfire")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def texts(engine: Engine) -> dict[str, str]:
    """Return the first word that tells the editions apart, by file."""
    return {record.file: engine.catalog.text(record.key).split()[1] for record in engine.collection.documents()}


def outcomes(added: list[FileOutcome]) -> dict[str, str]:
    return {Path(one.path).name: one.status for one in added}


@pytest.mark.parametrize("older", ["plan_2019.txt", "a_plan_of_2019.txt"])
def test_a_plan_that_was_renamed_and_replaced_is_there_in_both_editions(
    engine: Engine, folder: Path, older: str
) -> None:
    (folder / "plan.txt").write_text(FIRST)
    add_paths([folder], engine)
    (folder / older).write_text(FIRST)
    (folder / "plan.txt").write_text(SECOND)
    assert set(outcomes(add_paths([folder], engine)).values()) == {"indexed"}
    assert texts(engine) == {"plan.txt": "second", older: "first"}
    assert set(outcomes(add_paths([folder], engine)).values()) == {"unchanged"}


def test_a_name_is_that_of_a_document_before_it_is_the_beginning_of_an_id(engine: Engine, folder: Path) -> None:
    (folder / "plan.txt").write_text(FIRST)
    add_paths([folder], engine)
    [plan] = engine.collection.documents()
    titles = [plan.document_id[:4], plan.document_id, plan.source, plan.document_id[:6].upper(), "plan.txt"]
    for number in range(len(titles)):
        (folder / f"{number}.md").write_text(f"Rules of the bay, number {number}.")
    described = (json.dumps({"file": f"{number}.md", "title": title}) for number, title in enumerate(titles))
    (folder / "metadata.jsonl").write_text("\n".join(described))
    add_paths([folder], engine)
    assert [one.metadata.title for one in engine.collection.documents()[1:]] == titles
    found = engine.catalog.find_document
    assert (found(titles[0]).file, found(titles[3]).file) == ("0.md", "3.md")
    # A title never stands for the id or the source of another document.
    assert found(plan.document_id) == found(plan.document_id.upper()) == found(plan.source) == plan
    assert found(plan.document_id[:8]) == plan
    with pytest.raises(InputError, match="names 2 documents"):
        found("plan.txt")


def test_what_a_changed_file_said_before_stays_as_a_former_version(engine: Engine, folder: Path) -> None:
    plan = folder / "plan.txt"
    plan.write_text(FIRST)
    add_paths([folder], engine)
    plan.write_text(SECOND)
    [added] = add_paths([folder], engine)
    assert "kept as a former version" in added.reason
    former, present = engine.collection.documents()
    assert (former.origin, former.is_former, present.is_former) == (present.source, True, False)
    assert former.metadata.work == present.metadata.work != ""
    assert all(engine.collection.stored_file(one).exists() for one in (former, present))
    assert engine.catalog.find_document("plan.txt") == present
    assert {hit.document.key for hit in engine.search("edition of the plan").hits} == {present.key}
    before = {hit.document.key for hit in engine.search("edition of the plan", {"as_of": ("2001",)}).hits}
    assert former.key in before


def test_a_file_that_is_changed_back_is_its_own_former_version_no_longer(engine: Engine, folder: Path) -> None:
    for text in (FIRST, SECOND, FIRST):
        (folder / "plan.txt").write_text(text)
        add_paths([folder], engine)
    former, present = engine.collection.documents()
    assert [engine.catalog.text(one.key).split()[1] for one in (former, present)] == ["second", "first"]
    assert (former.is_former, present.is_former) == (True, False)


def test_files_of_one_name_in_two_folders_are_two_documents(engine: Engine, folder: Path) -> None:
    for name, text in (("a", FIRST), ("b", SECOND)):
        (folder / name).mkdir()
        (folder / name / "report.txt").write_text(text)
        add_paths([folder / name / "report.txt"], engine)
    assert sorted(engine.catalog.text(one.key).split()[1] for one in engine.collection.documents()) == [
        "first",
        "second",
    ]


def test_a_version_that_was_replaced_stays_so_when_it_is_read_again(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "old.txt").write_text(FIRST)
    (folder / "new.txt").write_text(SECOND)
    add_paths([folder / "old.txt"], engine)
    [old] = engine.collection.documents()
    add_paths([folder / "new.txt"], engine, replaces=old)
    monkeypatch.setattr("ingestion.add_files.EXTRACTION_VERSION", "another")
    add_paths([folder], engine)
    old, new = sorted(engine.collection.documents(), key=lambda one: one.file, reverse=True)
    assert (bool(old.metadata.superseded), bool(new.metadata.superseded)) == (True, False)
    assert old.metadata.work == new.metadata.work


def test_eight_equal_files_are_one_text_and_no_error(engine: Engine, folder: Path) -> None:
    for number in range(8):
        (folder / f"plan{number}.txt").write_text(FIRST)
    assert "failed" not in set(outcomes(add_paths([folder], engine)).values())
    assert set(texts(engine).values()) == {"first"}


def test_an_unchanged_scan_is_reported_with_what_was_read_of_it(engine: Engine, folder: Path) -> None:
    with pymupdf.open() as printed, pymupdf.open() as scan:
        page = printed.new_page()
        page.insert_textbox((72, 72, 520, 700), FIRST, fontsize=14)
        scan.new_page().insert_image(page.rect, pixmap=page.get_pixmap(dpi=150))
        scan.save(folder / "scan.pdf")
    [first] = add_paths([folder], engine)
    assert (first.status, first.ocr_pages) == ("indexed", 1)
    assert add_paths([folder], engine) == [replace(first, status="unchanged")]


def test_two_files_of_one_content_in_one_addition_are_one_document(engine: Engine, folder: Path) -> None:
    (folder / "a.txt").write_text(FIRST)
    (folder / "b.txt").write_text(FIRST)
    first, second = add_paths([folder], engine)
    assert (first.status, second.status) == ("indexed", "unchanged")
    assert second.document_id == first.document_id
    assert "a.txt" in second.reason
    [kept] = [path for path in (engine.config.workspace / "files").rglob("*") if path.is_file()]
    assert kept.name.endswith(".txt")
    assert ".incoming" not in kept.parts


def test_of_an_addition_that_is_broken_off_no_copy_is_left(engine: Engine, folder: Path) -> None:
    for name, text in (("a.txt", FIRST), ("b.txt", SECOND), ("c.txt", THIRD)):
        (folder / name).write_text(text)
    seen: list[str] = []
    added = add_paths([folder], engine, progress=lambda now: seen.append(now.current), cancelled=lambda: len(seen) > 1)
    assert [one.status for one in added] == ["indexed"]
    assert len([path for path in (engine.config.workspace / "files").rglob("*") if path.is_file()]) == 1


def test_names_that_are_long_or_no_utf8_are_read_like_others(engine: Engine, folder: Path) -> None:
    (folder / f"{'long' * 62}.txt").write_text(FIRST)
    Path(os.fsdecode(os.fsencode(folder) + b"/K\xf6ln.txt")).write_text(SECOND, encoding="utf-8")
    added = add_paths([folder], engine)
    assert [one.status for one in added] == ["indexed", "indexed"], added
    assert all(one.path.encode() for one in added)
    assert all(engine.collection.stored_file(record).exists() for record in engine.collection.documents())


def test_what_is_no_file_is_refused_by_its_kind_and_the_others_are_read(engine: Engine, folder: Path) -> None:
    (folder / "good.txt").write_text(FIRST)
    (folder.parent / "secret.txt").write_text(SECOND)
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "within.txt").symlink_to(folder / "good.txt")
    (folder / "self.txt").symlink_to(folder / "self.txt")
    (folder / "above").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe.txt")
    added = {Path(one.path).name: one for one in add_paths([folder, Path("/dev/zero")], engine)}
    assert {name: one.status for name, one in added.items()} == {
        "above": "refused",
        "good.txt": "indexed",
        "out.txt": "refused",
        "pipe.txt": "refused",
        "self.txt": "failed",
        "within.txt": "unchanged",
        "zero": "refused",
    }
    assert all("leads out of the folder" in added[name].reason for name in ("above", "out.txt"))
    assert "self.txt cannot be read: Too many levels of symbolic links" in added["self.txt"].reason
    assert ("is a pipe" in added["pipe.txt"].reason, "is a device" in added["zero"].reason) == (True, True)


def test_a_file_that_is_too_large_is_refused_before_it_is_copied(engine: Engine, folder: Path) -> None:
    with (folder / "large.txt").open("wb") as file:
        # The most that the page takes is 500 MB of 2**20 bytes, and all of that is read.
        file.truncate(500 * 2**20 + 1)
    [added] = add_paths([folder], engine)
    assert added.status == "refused"
    assert "has 524,288,001 bytes; the limit is 524,288,000. Split it into smaller files" in added.reason
    assert not [path for path in (engine.config.workspace / "files").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "written", ["ingestion.add_files.shutil.copyfileobj", "rag_engine.storage.indexer.Indexer.add"]
)
def test_a_full_disk_ends_the_addition_and_no_file_is_blamed(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    (folder / "a.txt").write_text(FIRST)
    (folder / "b.txt").write_text(SECOND)

    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(written, full)
        with pytest.raises(WorkspaceError, match="No space left"):
            add_paths([folder], engine)
    assert not list((engine.config.workspace / "files").glob(".incoming/*"))
    assert outcomes(add_paths([folder], engine)) == {"a.txt": "indexed", "b.txt": "indexed"}


@pytest.mark.parametrize("lose", [Path.unlink, lambda copy: copy.write_text(FIRST.swapcase())])
def test_a_lost_copy_is_put_back_by_adding_the_file_again(
    engine: Engine, folder: Path, lose: Callable[[Path], object]
) -> None:
    (folder / "plan.txt").write_text(FIRST)
    add_paths([folder], engine)
    [record] = engine.collection.documents()
    copy = engine.collection.stored_file(record)
    lose(copy)
    found = {one.name: one for one in examine(engine)}["Originals"]
    assert (found.state, "plan.txt" in found.found) == ("bad", True)
    [added] = add_paths([folder], engine)
    assert (added.status, "put back" in added.reason) == ("unchanged", True)
    assert copy.read_text() == FIRST
    assert "Originals" not in {one.name for one in examine(engine)}


def test_two_files_that_were_edited_into_one_content_are_named_apart(engine: Engine, folder: Path) -> None:
    for name, text in (("a.txt", FIRST), ("b.txt", SECOND)):
        (folder / name).write_text(text)
    add_paths([folder], engine)
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(THIRD)
    add_paths([folder], engine)
    alike = [one for one in engine.collection.documents() if not one.is_former]
    assert [one.file for one in alike] == ["a.txt", "b.txt"]
    assert len({one.document_id for one in alike}) == 1
    with pytest.raises(InputError, match=r"a\.txt, .*b\.txt"):
        engine.catalog.find_document(alike[0].document_id)
    engine.writer.erase(engine.catalog.find_document(alike[0].source))
    # The text before it is in force again.
    left = {one.file: one.document_id for one in engine.collection.documents() if not one.is_former}
    assert list(left) == ["a.txt", "b.txt"]
    assert left["a.txt"] != left["b.txt"] == alike[1].document_id
    assert engine.collection.stored_file(alike[1]).exists()


def test_a_wrong_description_ends_the_addition_before_its_first_file(engine: Engine, folder: Path) -> None:
    (folder / "a.txt").write_text(FIRST)
    (folder / "z").mkdir()
    (folder / "z" / "b.txt").write_text(SECOND)
    (folder / "z" / "metadata.jsonl").write_text('{"file": "b.txt", "colour": "red"}')
    with pytest.raises(InputError, match="colour"):
        add_paths([folder], engine)
    assert engine.collection.documents() == []


def test_a_refused_file_leaves_no_copy(engine: Engine, folder: Path) -> None:
    (folder / "empty.txt").write_bytes(b"")
    assert outcomes(add_paths([folder], engine)) == {"empty.txt": "refused"}
    assert not [path for path in (engine.config.workspace / "files").rglob("*") if path.is_file()]


def test_a_cancelled_addition_keeps_what_it_has_and_can_be_taken_up(engine: Engine, folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"Measure {number} of the plan. " * 20)
    done = [0]
    added = add_paths([folder], engine, progress=lambda now: done.append(now.done), cancelled=lambda: done[-1] == 2)
    assert len(added) == 2
    assert len(engine.collection.documents()) == 2
    again = add_paths([folder], engine)
    assert [one.status for one in again] == ["unchanged"] * 2 + ["indexed"] * 3, again


def test_a_cancel_is_heard_in_the_middle_of_a_long_document(engine: Engine, folder: Path) -> None:
    (folder / "long.txt").write_text("\n\n".join(f"Measure {number} of the plan. " * 40 for number in range(700)))
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 3

    assert add_paths([folder], engine, cancelled=cancelled) == []
    assert not engine.collection.documents()
    [added] = add_paths([folder], engine)
    assert (added.status, added.children > 100) == ("indexed", True)
    kept = (engine.config.workspace / "files").rglob("*")
    assert [path.name for path in kept if path.is_file()] == ["long.txt"]


def test_a_damaged_index_is_mended_by_rebuild(engine: Engine, folder: Path) -> None:
    (folder / "a.txt").write_text(FIRST)
    add_paths([folder], engine)
    for damaged in (engine.config.workspace / "index").rglob("meta.json"):
        damaged.write_text("")
    (engine.config.workspace / "index" / "1" / "chroma" / "chroma.sqlite3").write_bytes(b"nonsense" * 1000)
    engine.close()
    again = Engine(engine.config, embedder=CountingEmbedder())
    assert again.rebuild() == len(again.collection.snapshot()) > 0
    assert (
        again.collection.dense().filter()
        == again.collection.sparse().keys()
        == set(again.collection.snapshot().keys.tolist())
    )
    again.close()


def test_lost_vectors_are_said_and_made_again(engine: Engine, folder: Path) -> None:
    (folder / "a.txt").write_text(FIRST)
    add_paths([folder], engine)
    for file in (engine.config.workspace / "vectors").iterdir():
        file.unlink()
    with pytest.raises(WorkspaceError, match="rebuild --encode"):
        engine.search("river authority")
    engine.rebuild(encode=True)
    assert engine.collection.missing_vectors() == 0
    assert engine.search("river authority").hits


def test_the_index_of_a_book_leads_to_its_passages(engine: Engine, folder: Path) -> None:
    pages = [f"Chapter {n}\n\nThe {word} plan names the mayor." for n, word in enumerate(HAZARDS, start=1)]
    entries = [f"{word}, {n}" for word, n in sorted((word, n) for n, word in enumerate(HAZARDS, start=1))]
    document = pymupdf.open()
    for number, lines in enumerate([*(page.split("\n") for page in pages), ["Index", "", *entries]], start=1):
        page = document.new_page()
        for row, line in enumerate(lines):
            page.insert_text((72, 110 + 15 * row), line, fontsize=11)
        page.insert_text((300, 800), str(number), fontsize=10)
    document.save(folder / "book.pdf")

    [added] = add_paths([folder], engine)

    assert (added.status, added.reason) == ("indexed", "")
    index = engine.collection.view().index
    found = match_index(index, "Who is named when there is an avalanche?", "en").passages
    assert {place.listing.entry for places in found.values() for place in places} == {"avalanche"}
    passages = engine.catalog.children(found).values()
    assert all(one.page <= 3 <= one.last_page and "avalanche plan" in one.text for one in passages)


def test_files_are_read_side_by_side_and_indexed_in_order(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in HAZARDS[:4]:
        (folder / f"{name}.txt").write_text(f"The {name} plan names the river authority. " * 12)
    both, read = Barrier(2), Sandbox.read

    def together(readers: Sandbox, path: Path, patience: float = 1.0) -> FileReading:
        # Broken where the other file is not being read meanwhile.
        both.wait(30)
        return read(readers, path, patience)

    monkeypatch.setattr(Sandbox, "read", together)
    added = add_paths([folder], engine)
    assert [Path(one.path).stem for one in added] == sorted(HAZARDS[:4])
    assert {one.status for one in added} == {"indexed"}


def test_a_file_that_broke_its_reader_is_refused_at_once_when_it_is_added_again(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf_that_repeats(folder / "tree.pdf")
    (folder / "plan.txt").write_text(FIRST)
    assert outcomes(add_paths([folder], engine)) == {"tree.pdf": "refused", "plan.txt": "indexed"}
    with monkeypatch.context() as patch:
        patch.setattr("ingestion.sandbox.sandbox.Sandbox.read", lambda *_: pytest.fail("it was read"))
        (again,) = (one for one in add_paths([folder], engine) if "tree" in one.path)
    assert again.status == "refused"
    assert "tree.pdf is damaged" in again.reason
    assert "`sextant add --again`" in again.reason
    (on_purpose,) = (one for one in add_paths([folder], engine, again=True) if "tree" in one.path)
    assert "has not changed" not in on_purpose.reason
    # Another file of that name is another file.
    (folder / "tree.pdf").write_bytes(b"%PDF-1.4\n" + b"x" * 100)
    (changed,) = (one for one in add_paths([folder], engine) if "tree" in one.path)
    assert "has not changed" not in changed.reason


def test_a_file_that_stops_the_worker_twice_is_set_aside_and_the_rest_is_added(tmp_path: Path, folder: Path) -> None:
    for name in ("a.txt", "killer.txt", "z.txt"):
        (folder / name).write_text(f"{name} {FIRST}")
    script = (
        "import os, sys\nfrom pathlib import Path\nimport ingestion.add_files as add\n"
        "from rag_engine.config import read_config\nfrom rag_engine.engine import Engine\n"
        "from tests.rag_engine.conftest import CountingEmbedder\n"
        "index = add._index\n"
        "def stopped(read, *more):\n"
        "    return os.kill(os.getpid(), 9) if 'killer' in read.document.file else index(read, *more)\n"
        "add._index = stopped\n"
        "engine = Engine(read_config(Path(sys.argv[1])), embedder=CountingEmbedder())\n"
        "print([(Path(one.path).name, one.status, one.reason) for one in add.add_paths([Path(sys.argv[2])], engine)])\n"
        "engine.close()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "workspace"), str(folder)]
    codes = [subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode for _ in range(2)]
    assert codes == [-9, -9]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    found = {name: (status, reason) for name, status, reason in ast.literal_eval(done.stdout)}
    assert found["z.txt"][0] == "indexed"
    assert found["a.txt"][0] in ("indexed", "unchanged")
    assert found["killer.txt"][0] == "failed"
    assert "killer.txt stopped the worker 2 times and is set aside" in found["killer.txt"][1]


def test_no_mark_of_direction_gets_into_a_name_or_a_title(engine: Engine, folder: Path) -> None:
    (folder / "plan\u202efdp.txt").write_text(FIRST)
    line = {"file": "plan\u202efdp.txt", "title": "The \u2067first\u2069 plan\u200f", "authority": "The \u061cmayor"}
    (folder / "metadata.jsonl").write_text(json.dumps(line))
    [added] = add_paths([folder], engine)
    [record] = engine.collection.documents()
    shown = (Path(added.path).name, record.file, record.metadata.title, record.metadata.authority)
    assert shown == ("planfdp.txt", "planfdp.txt", "The first plan", "The mayor")
    assert engine.collection.stored_file(record).read_text() == FIRST


@pytest.mark.needs("linux")
def test_what_the_system_shows_as_files_is_refused_and_the_others_are_added(engine: Engine, folder: Path) -> None:
    (folder / "good.txt").write_text(FIRST)
    given = [Path("/proc/cpuinfo"), Path("/proc"), Path("/sys/kernel"), folder]
    added = {Path(one.path).name: one for one in add_paths(given, engine)}
    assert {name: one.status for name, one in added.items()} == {
        "cpuinfo": "refused", "proc": "refused", "kernel": "refused", "good.txt": "indexed"
    }  # fmt: skip
    assert "cpuinfo is made by the system and is no file of a disk. Add the file itself." in added["cpuinfo"].reason


def test_a_file_for_which_the_disk_has_no_room_is_refused_and_the_others_are_added(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "good.txt").write_text(FIRST)
    with (folder / "large.txt").open("wb") as file:
        file.truncate(200 * 2**20)
    usage = type(shutil.disk_usage(folder))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(2**30, 2**30 - 2**26, 2**26))
    added = {Path(one.path).name: one for one in add_paths([folder], engine)}
    assert {name: one.status for name, one in added.items()} == {"good.txt": "indexed", "large.txt": "refused"}
    assert "has 209,715,200 bytes; the disk of the workspace has room for 67,108,864." in added["large.txt"].reason
