"""An archive is a foreign file: what is damaged or dangerous in it is told, and nothing of it is put in place."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ingestion.operations.backups import restore
from ingestion.operations.indexes import rebuild
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import SCHEMA
from tests.ingestion.backup.workspaces import desk_of, found, once, open_engine, place
from tests.ingestion.records.test_older_workspaces import make_workspace as older_workspace


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "restored" / "workspace"


def refuse(archive: Path, target: Path, words: str) -> None:
    """Check that an archive is refused in these words, and that nothing is left of the attempt."""
    with pytest.raises((WorkspaceError, InputError), match=words):
        restore(place(target), archive)
    assert not target.exists()
    assert not target.parent.exists() or list(target.parent.iterdir()) == []


def rewritten(
    archive: Path,
    change: Callable[[dict[str, bytes], dict[str, object]], None],
    member: Callable[[zipfile.ZipInfo], None] = lambda _: None,
) -> Path:
    """Return a copy of an archive with other members and another manifest, whose hashes are true again."""
    import hashlib

    with zipfile.ZipFile(archive) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(contents.pop("manifest.json"))
    change(contents, manifest)
    known = {one["name"]: one for one in manifest["files"]}
    for name, content in contents.items():
        one = known.setdefault(name, {"name": name, "modified": 0})
        one |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["files"] = list(known.values())
    other = archive.with_name("other.zip")
    with zipfile.ZipFile(other, "w") as packed:
        for name, content in (contents | {"manifest.json": json.dumps(manifest).encode()}).items():
            info = zipfile.ZipInfo(name)
            if name != "manifest.json":
                member(info)
            packed.writestr(info, content)
    return other


def test_a_flipped_byte_in_any_member_ends_in_a_sentence_that_names_it(archive: Path, target: Path) -> None:
    whole = archive.read_bytes()
    with zipfile.ZipFile(archive) as packed:
        members = packed.infolist()
    assert len(members) > 7
    for member in members:
        # The content lies behind the header, the name and what is extra.
        begin = member.header_offset + 30 + whole[member.header_offset + 26] + whole[member.header_offset + 28]
        for place_ in (begin, begin + member.file_size // 2, begin + member.file_size - 1):
            flipped = bytearray(whole)
            flipped[place_] ^= 0x40
            archive.write_bytes(flipped)
            refuse(archive, target, rf"backup\.zip is damaged: {member.filename} in it is not as it was backed up")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 0.9999])
def test_a_truncated_archive_is_told(archive: Path, target: Path, share: float) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    refuse(archive, target, r"backup\.zip is no backup of Sextant, or its end is cut off")


def test_every_byte_of_the_list_of_members_may_be_damaged(archive: Path, target: Path) -> None:
    whole = archive.read_bytes()
    with zipfile.ZipFile(archive) as packed:
        first = packed.start_dir
    for at in range(first, len(whole), 11):
        flipped = bytearray(whole)
        flipped[at] ^= 0xFF
        archive.write_bytes(flipped)
        # On a byte of a time nothing depends.
        with suppress(WorkspaceError, InputError):
            restore(place(target), archive)
            assert (target / "people.json").is_file()
            shutil.rmtree(target)
        assert not target.exists()


def test_what_is_no_backup_is_told(tmp_path: Path, target: Path) -> None:
    refuse(tmp_path / "nowhere.zip", target, "is no file")
    (tmp_path / "text.zip").write_text("no archive")
    refuse(tmp_path / "text.zip", target, "is no backup of Sextant")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr("a.txt", "a")
    refuse(tmp_path / "other.zip", target, r"other\.zip is no backup of Sextant")
    refuse(tmp_path, target, "is no file")


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "/etc/outside.txt",
        "files/../../outside.txt",
        "conversations//outside.json",
        "conversations/./outside.json",
        "files/a/b/outside.pdf",
        "files/outside.pdf",
        "vectors/sub/outside.f32",
        "serving.json",
        "writer.json",
        "write.lock",
        ".hidden/outside",
        "index/chroma/chroma.sqlite3",
        "catalog.sqlite-wal",
    ],
)
def test_a_member_that_no_backup_holds_is_refused(archive: Path, target: Path, name: str) -> None:
    other = rewritten(archive, lambda contents, _: contents.update({name: b"{}"}))
    refuse(other, target, "which no backup of Sextant holds")
    assert not list(target.parent.parent.glob("outside*"))


def test_links_devices_and_compressed_members_are_refused(archive: Path, target: Path) -> None:
    def link(info: zipfile.ZipInfo) -> None:
        info.external_attr = (stat.S_IFLNK | 0o777) << 16

    def device(info: zipfile.ZipInfo) -> None:
        info.external_attr = (stat.S_IFCHR | 0o600) << 16

    def compressed(info: zipfile.ZipInfo) -> None:
        info.compress_type = zipfile.ZIP_DEFLATED

    for member in (link, device, compressed):
        refuse(rewritten(archive, lambda *_: None, member), target, "as a link, encrypted or compressed")


def test_members_that_lie_over_one_another_are_refused(archive: Path, target: Path) -> None:
    """Both entries of the list name the same bytes, so that little becomes much."""
    with zipfile.ZipFile(archive, "a") as packed:
        twice = packed.getinfo("catalog.sqlite")
        for _ in range(3):
            packed.filelist.append(twice)
        packed._didModify = True  # type: ignore[attr-defined]
    refuse(archive, target, "says that it holds more than it can|holds a file twice")


def test_a_file_that_the_manifest_names_and_the_archive_lacks_is_named(archive: Path, target: Path) -> None:
    def drop(contents: dict[str, bytes], _: dict[str, object]) -> None:
        del contents["people.json"]

    refuse(rewritten(archive, drop), target, r"is damaged: people\.json in it is not as it was backed up")


def test_an_archive_of_a_newer_sextant_is_refused_with_the_cure(archive: Path, target: Path) -> None:
    newer = rewritten(archive, lambda _, manifest: manifest.update(format=9, kinds=["unknown"]))
    refuse(newer, target, "was made by a newer Sextant.*at least as new")
    newer = rewritten(archive, lambda _, manifest: manifest.update(schema=SCHEMA + 1))
    refuse(newer, target, "was made by a newer Sextant.*at least as new")


@pytest.mark.parametrize("schema", [1, 2])
def test_an_archive_of_an_older_sextant_is_restored_as_a_workspace_of_today(
    archive: Path, target: Path, tmp_path: Path, schema: int
) -> None:
    older = older_workspace(tmp_path / "older", schema)

    def change(contents: dict[str, bytes], manifest: dict[str, object]) -> None:
        contents.clear()
        files = (path for path in older.rglob("*") if path.is_file() and "index" not in path.parts)
        contents.update({path.relative_to(older).as_posix(): path.read_bytes() for path in files})
        manifest.update(schema=schema, files=[], workspace=str(older), documents=1, passages=1)

    restored = restore(place(target), rewritten(archive, change))
    assert (restored.documents, restored.without_vectors > 0) == (1, True)
    with closing(open_engine(target)) as engine:
        assert engine.catalog.state("schema") == str(SCHEMA)
        assert engine.catalog.damaged_documents() == []
        if schema == 2:
            assert [one.choice for one in desk_of(engine).store.decisions()] == ["GREEN"]
        rebuild(desk_of(engine), encode=True)
    assert "Oberheim" in found(target, "When was the dyke of Oberheim raised?")[0][2]


def test_an_archive_whose_catalog_is_newer_than_it_says_is_refused(archive: Path, target: Path, tmp_path: Path) -> None:
    def newer(contents: dict[str, bytes], manifest: dict[str, object]) -> None:
        path = tmp_path / "catalog"
        path.write_bytes(contents["catalog.sqlite"])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE state SET value = '99' WHERE name = 'schema'")
            connection.commit()
        contents["catalog.sqlite"] = path.read_bytes()
        manifest.update(schema=SCHEMA - 1)

    refuse(rewritten(archive, newer), target, "was made by a newer Sextant.*at least as new")


def test_a_catalog_that_does_something_by_itself_is_refused(archive: Path, target: Path, tmp_path: Path) -> None:
    def trigger(contents: dict[str, bytes], _: dict[str, object]) -> None:
        path = tmp_path / "catalog"
        path.write_bytes(contents["catalog.sqlite"])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TRIGGER spy AFTER INSERT ON state BEGIN DELETE FROM documents; END")
            connection.commit()
        contents["catalog.sqlite"] = path.read_bytes()

    refuse(rewritten(archive, trigger), target, "holds 'spy', which no catalog of Sextant holds")


def test_a_backup_is_restored_over_nothing(archive: Path, target: Path) -> None:
    target.mkdir(parents=True)
    (target / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty, and a backup is restored over nothing"):
        restore(place(target), archive)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]
    (target / "mine.txt").unlink()
    assert restore(place(target), archive).documents == 2


def test_a_restore_that_is_broken_off_leaves_nothing(archive: Path, target: Path) -> None:
    def end() -> None:
        raise KeyboardInterrupt

    for name in ("harbour.md", "index: "):
        with pytest.raises(KeyboardInterrupt):
            restore(place(target), archive, progress=once(name, end))
        assert list(target.parent.iterdir()) == []


def test_nothing_is_encoded_and_no_model_is_needed(
    archive: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_ENCODER", "/nowhere")
    assert restore(place(target), archive).documents == 2


def test_damaged_settings_do_not_keep_a_backup_from_being_restored(archive: Path, target: Path) -> None:
    other = rewritten(archive, lambda contents, _: contents.update({"settings.toml": b"a = = 1"}))
    assert restore(place(target), other).documents == 2
