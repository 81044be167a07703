"""An archive is a foreign file: damage or danger in it is told, and nothing of it is put in place."""

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

from ingestion.acts.backups import restore
from ingestion.acts.people import audit_entries
from ingestion.worker import work
from rag_engine.config import GenerationConfig, read_config
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import SCHEMA
from tests.ingestion.backup.workspaces import context_of, once, open_engine, place


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
            assert (target / "records.sqlite").is_file()
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
        "evaluation//outside.json",
        "evaluation/./outside.json",
        "files/a/b/outside.pdf",
        "files/outside.pdf",
        "vectors/sub/outside.f32",
        "serving.json",
        "writer.json",
        "write.lock",
        ".hidden/outside",
        "index/1/chroma/chroma.sqlite3",
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
        del contents["records.sqlite"]

    refuse(rewritten(archive, drop), target, r"is damaged: records\.sqlite in it is not as it was backed up")


def test_an_archive_of_a_newer_sextant_is_refused_with_the_cure(archive: Path, target: Path) -> None:
    newer = rewritten(archive, lambda _, manifest: manifest.update(format=9, kinds=["unknown"]))
    refuse(newer, target, "was made by a newer Sextant.*at least as new")
    newer = rewritten(archive, lambda _, manifest: manifest.update(schema=SCHEMA + 1))
    refuse(newer, target, "was made by a newer Sextant.*at least as new")


def test_an_archive_whose_catalog_is_newer_than_it_says_is_refused(archive: Path, target: Path) -> None:
    newer = changed_catalog(archive, "UPDATE state SET value = '99' WHERE name = 'schema'")
    refuse(newer, target, "was made by a newer Sextant.*at least as new")


def test_a_backup_is_restored_over_nothing(archive: Path, target: Path) -> None:
    target.mkdir(parents=True)
    (target / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty, and a backup is restored over nothing"):
        restore(place(target), archive)
    assert [path.name for path in target.iterdir()] == ["mine.txt"]
    (target / "mine.txt").unlink()
    assert restore(place(target), archive).documents == 2


@pytest.mark.parametrize("is_link", [True, False])
def test_a_link_and_a_disk_are_no_place_for_a_new_folder(
    archive: Path, target: Path, is_link: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_disk(path: Path) -> bool:
        return path == target and not is_link

    monkeypatch.setattr(Path, "is_mount", is_disk)
    target.parent.mkdir()
    (empty := target.with_name("empty")).mkdir()
    target.symlink_to(empty) if is_link else target.mkdir()
    with pytest.raises(InputError, match="is a link, and" if is_link else "is a disk of its own, and"):
        restore(place(target), archive)
    assert sorted(target.parent.iterdir()) == sorted((empty, target))
    assert restore(place(target / "within"), archive).documents == 2


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


def changed_catalog(archive: Path, *statements: str) -> Path:
    """Return a copy of an archive in whose catalog these statements were carried out."""

    def change(contents: dict[str, bytes], _: dict[str, object]) -> None:
        path = archive.with_name("changed.sqlite")
        path.write_bytes(contents["catalog.sqlite"])
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        contents["catalog.sqlite"] = path.read_bytes()

    return rewritten(archive, change)


HASH = "'" + "0" * 64 + "'"


@pytest.mark.parametrize(
    "statement",
    [
        *(
            f"UPDATE documents SET status = '{status}', file = 'OUTSIDE/victim.txt' WHERE file = 'bay.md'"
            for status in ("active", "deleting", "pending")
        ),
        *(
            f"UPDATE documents SET file = '{file}' WHERE file = 'bay.md'"
            for file in ("../../victim.txt", "..", ".", "")
        ),
        "UPDATE documents SET status = 'deleting', file = 'no/x', sha256 = 'OUTSIDE' WHERE file = 'bay.md'",
        "UPDATE documents SET sha256 = 'OUTSIDE' WHERE file = 'bay.md'",
        "UPDATE documents SET sha256 = CAST(sha256 AS BLOB)",
        "UPDATE documents SET document_id = '*' WHERE file = 'bay.md'",
        "UPDATE documents SET document_id = '../../outside' WHERE file = 'bay.md'",
        f"INSERT INTO source_files VALUES ('A1', 'OUTSIDE/victim.txt', {HASH})",
        f"INSERT INTO source_files VALUES ('A1', 'downloads/../../victim.txt', {HASH})",
        "INSERT INTO source_files VALUES ('A1', 'downloads/a.pdf', '../../victim')",
        "INSERT INTO outcomes VALUES ('A1', 'acquisition', 'f', '', 'done', '', '', "
        """'{"path": "../outside/victim.txt", "sha256": ""}', 0, 1, '2026-01-01')""",
        "INSERT INTO sources (code, url, path, title, authority, notes, licence, parent, origin, added) "
        "VALUES ('A1', '', 'FORMER/sources/../../outside/victim.txt', '', '', '', '', '', '', '')",
        """INSERT INTO jobs VALUES (9, 'add', '{"paths": ["NEW/uploads/../x"]}', 'done', """
        "'', '[]', '', '', '', '', 0, 0, '')",
    ],
)
def test_a_catalog_that_names_what_lies_elsewhere_is_refused(
    archive: Path, workspace: Path, target: Path, tmp_path: Path, statement: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim.txt").write_text("mine")
    for name, path in (("OUTSIDE", outside), ("FORMER", workspace), ("NEW", target)):
        statement = statement.replace(name, str(path))
    refuse(changed_catalog(archive, statement), target, "which no catalog of Sextant h")
    assert (outside / "victim.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP TABLE documents", r"other\.zip is damaged: its catalog has no table documents"),
        ("DELETE FROM state", r"other\.zip is damaged: its catalog has no schema"),
        ("ALTER TABLE documents DROP COLUMN file", r"other\.zip is damaged: its catalog has no stored column file"),
    ],
)
def test_a_catalog_that_is_not_whole_is_refused_as_damage_of_the_archive(
    archive: Path, target: Path, statement: str, words: str
) -> None:
    refuse(changed_catalog(archive, statement), target, words)


def test_what_a_catalog_holds_is_counted_and_not_what_the_manifest_says(archive: Path, target: Path) -> None:
    other = rewritten(archive, lambda _, manifest: manifest.update(documents=400, passages=9000))
    restored = restore(place(target), other)
    assert (restored.documents, restored.passages > 1000) == (2, False)


@pytest.mark.parametrize("modified", [10**40, -(10**40), 2**63])
def test_a_time_that_no_file_can_have_is_ignored(archive: Path, target: Path, modified: int) -> None:
    def late(_: dict[str, bytes], manifest: dict[str, object]) -> None:
        for one in manifest["files"]:  # type: ignore[attr-defined]
            one["modified"] = modified

    assert restore(place(target), rewritten(archive, late)).documents == 2


@pytest.mark.parametrize("size", [10**400, -1])
def test_a_size_that_none_is_damage_of_the_manifest(archive: Path, target: Path, size: int) -> None:
    other = rewritten(archive, lambda _, manifest: manifest.update(index_bytes=size))
    refuse(other, target, r"is damaged: manifest\.json")


@pytest.mark.parametrize("names", [("notes", "notes/one"), ("notes/" + "n" * 300,)])
def test_names_that_no_disk_holds_are_the_archives_fault(archive: Path, target: Path, names: tuple[str, ...]) -> None:
    other = rewritten(archive, lambda contents, _: contents.update(dict.fromkeys(names, b"x")))
    refuse(other, target, r"other\.zip holds 'notes/.*', which cannot be written here")


def test_the_servers_that_an_archive_names_get_no_question(archive: Path, target: Path) -> None:
    written = (
        b'openai_url = "http://evil.example/v1"\nopenai_model = "large"\nollama_url = "http://evil.example:2"\n'
        b'chroma_url = "http://evil.example:3"\nopenai_key = "k"\nintranet = ["evil.example"]\n'
        b'answer_seconds = 600\nstrange = {a = 1}\n[changed]\nopenai_url = "Eve"\nanswer_seconds = "Ada"\n'
    )
    other = rewritten(archive, lambda contents, _: contents.update({"settings.toml": written}))
    restored = restore(place(target), other)
    servers = {f"{name}_url": f"http://evil.example{rest}" for name, rest in
               (("openai", "/v1"), ("ollama", ":2"), ("chroma", ":3"))}  # fmt: skip
    assert restored.dropped_settings.items() >= servers.items()
    assert restored.dropped_settings.keys() - servers.keys() == {"openai_key", "intranet", "strange"}
    assert restored.dropped_settings["openai_key"] == "(set)"
    generation = read_config(target).generation
    assert (generation.openai_url, generation.ollama_url) == ("", GenerationConfig().ollama_url)
    assert (generation.openai_model, generation.answer_seconds) == ("large", 600)
    assert "evil.example" not in (target / "settings.toml").read_text()
    reset = {one.on for one in audit_entries(place(target)) if one.act == "reset_setting"}
    assert reset == restored.dropped_settings.keys()


def test_runs_that_had_not_ended_are_cancelled_and_admins_are_named(
    archive: Path, workspace: Path, target: Path
) -> None:
    secret = archive.with_name("secret.md")
    secret.write_text("# A secret\n\nThe secret of the analyst is kept at home.")
    asked = json.dumps({"paths": [str(secret)]})
    rows = [
        f"INSERT INTO jobs VALUES ({key}, 'add', '{asked}', '{status}', '', '[]', '', '', '', '', 0, 0, '')"
        for key, status in enumerate(("queued", "running", "paused", "odd"), start=1)
    ]
    # SQLite finds the table by this name too.
    rows += ["ALTER TABLE jobs RENAME TO other", "ALTER TABLE other RENAME TO Jobs"]
    restored = restore(place(target), changed_catalog(archive, *rows))
    assert (restored.cancelled_jobs, restored.admins) == (("add",) * 4, ("ada@example.org",))
    with closing(open_engine(target)) as engine:
        work(engine)
        assert {one.file for one in engine.collection.documents()} == {"harbour.md", "bay.md"}
        assert {one.status for one in context_of(engine).jobs.latest()} == {"cancelled"}
