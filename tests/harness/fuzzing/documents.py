"""Parsers of files: documents of every format, workbooks, backups and their catalogs.

An input is what a package holds, each part below a line with its name. It is packed again after it was changed, since
of a changed archive hardly more than the reader of archives sees.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

import sqlalchemy as sql

from ingestion.backup.archive import ARCHIVE_FORMAT, opened_archive, unpack
from ingestion.backup.contents import CATALOG
from ingestion.backup.copy_catalog import copy_catalog
from ingestion.book_index.index_records import index_of_document
from ingestion.dataset.corrections import read_corrections
from ingestion.extraction.extract import extract
from ingestion.extraction.formats.pdf_lines import read_lines
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.source_lists.read_workbook import read_source_list
from ingestion.types.outcome import Refusal
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.schema import TABLES
from tests.harness.fuzzing.seam import Seam
from tests.harness.fuzzing.texts import PAGES
from tests.ingestion.source_records import source_record

_PART = re.compile(rb"^=== ([^\n]*)\n", re.MULTILINE)
# Of a package, whose parts are some hundred bytes each.
_LONGEST = 8000


def document_seams(folder: Path) -> Mapping[str, Seam]:
    """Return the parsers by what they read; the files that they read are written into the folder."""
    plain = {"html": PAGES, "md": _TEXTS, "txt": _TEXTS, "rtf": _RTFS, "csv": _TABLES, "json": _JSONS}
    plain["pdf"] = (_seed("pdf.txt"),)
    of_a_table, of_a_backup = (InputError,), (InputError, WorkspaceError)
    seams = {f"{suffix} files": _file(folder, suffix, _whole, _extracted, plain[suffix]) for suffix in plain}
    for suffix in ("docx", "pptx", "xlsx", "odt", "epub"):
        seams[f"{suffix} files"] = _file(folder, suffix, packed, _extracted, (_seed(f"{suffix}.parts"),))
    for what, suffix, made, parse, seeds, promised in (
        ("workbooks of seeds", "xlsx", packed, _seeds, (_seed("xlsx.parts"),), of_a_table),
        ("workbooks of corrections", "xlsx", packed, _corrections, (_seed("corrections.parts"),), of_a_table),
        ("tables of corrections", "csv", _whole, _corrections, _EDITED_TABLES, of_a_table),
        ("manifests of backups", "zip", _with_manifest, _restored, (_MANIFEST,), of_a_backup),
        ("backups", "zip", _whole, _restored, (_with_manifest(_MANIFEST),), of_a_backup),
        ("schemas of backups", "sqlite", _with_schema, _taken_over, (_ADDED,), (WorkspaceError, sqlite3.Error)),
    ):
        seams[what] = _file(folder, suffix, made, parse, seeds, promised)
    return seams


def packed(content: bytes) -> bytes:
    """Return the package of the parts, without compression."""
    return _zipped(dict(zip(*[iter(_PART.split(content)[1:])] * 2, strict=True)))


def _zipped(parts: Mapping[bytes, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in parts.items():
            member = zipfile.ZipInfo(name.decode("latin-1"))
            member.external_attr = (stat.S_IFREG | 0o600) << 16
            archive.writestr(member, content)
    return written.getvalue()


def _file(
    folder: Path,
    suffix: str,
    made: Callable[[bytes], bytes],
    parse: Callable[[Path], object],
    seeds: tuple[bytes, ...],
    promised: tuple[type[Exception], ...] = (Refusal,),
) -> Seam:
    """Return the parser of a file, which is made of the input."""

    def parse_file(content: bytes) -> None:
        path = folder / f"a.{suffix}"
        path.write_bytes(made(content))
        parse(path)

    return Seam(parse_file, promised, seeds, _LONGEST)


# --- the seams


def _whole(content: bytes) -> bytes:
    return content


def _extracted(path: Path) -> None:
    """Read a file as the process does that foreign files are read by."""
    extracted = extract(path, ExtractionLimits(), None)
    lines = read_lines(path, {1}) if extracted.media_type == "application/pdf" else None
    index_of_document(FileReading(extracted, read_properties(path), lines))


def _seeds(path: Path) -> None:
    read_source_list(path, ())


def _corrections(path: Path) -> None:
    read_corrections(path, [source_record()], "Ada", "2026-01-01T00:00:00+0000", {"hazards": ("Heatwaves", "Flood")})


def _with_manifest(content: bytes) -> bytes:
    return _zipped({b"manifest.json": content, CATALOG.encode(): _CATALOG, b"settings.toml": b""})


def _with_schema(content: bytes) -> bytes:
    """Return a catalog with more rows in its schema: a line has kind, name, table, statement with tabs."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(_empty_catalog())
        connection.execute("PRAGMA writable_schema=ON")
        for line in content.decode("latin-1").split("\n"):
            row = (line.split("\t") + [""] * 3)[:4]
            connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, 0, ?)", row)
        connection.commit()
        return connection.serialize()


@cache
def _empty_catalog() -> bytes:
    engine = sql.create_engine("sqlite://")
    with engine.begin() as connection:
        TABLES.create_all(connection)
    with engine.connect() as connection:
        written: sqlite3.Connection = connection.connection.driver_connection  # type: ignore[assignment]
        return written.serialize()


def _taken_over(path: Path) -> None:
    """Copy a foreign catalog, of whose schema nothing may come along."""
    copied = path.with_name("copied.sqlite")
    copied.unlink(missing_ok=True)
    copy_catalog(path, copied, [TABLES], path, ("state", "documents"))
    assert _schema(copied.read_bytes()) == _schema(_empty_catalog())


def _schema(catalog: bytes) -> set[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(catalog)
        return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


def _restored(path: Path) -> None:
    folder = path.parent / "restored"
    with opened_archive(path) as (archive, manifest):
        for one in manifest.files:
            assert (folder / one.name).resolve().is_relative_to(folder.resolve())
            (folder / one.name).unlink(missing_ok=True)
            unpack(archive, one, folder)


def _seed(name: str) -> bytes:
    return (Path(__file__).parent / "seeds" / name).read_bytes()


# --- honest inputs

_TEXTS = (
    b"# Plan\n\nThe dyke was *raised* in 1953.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n> quoted\n\n"
    b"```\ncode\n```\n[link](http://a.b)\n",
    b"PLAN\n====\n\n1. First\n   1.1 Second\n\nTable 1: Towns (in m)\n\xef\xbb\xbf\x0cArticle 1\n",
)
_RTFS = (
    rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Times;}}\f0 Plan \'e4 \u252?\par"
    rb"\trowd\cellx1\cellx2 a\cell b\cell\row {\field{\*\fldinst HYPERLINK x}{\fldrslt here}}{\footnote note}\par }",
)
_TABLES = (
    b'place,year,"level, in m"\nMilltown,1953,"2,4"\nUpton,1962,\n',
    b"sep=;\nOrt;Jahr;Pegel\nM\xfchlstadt;1953;2,4\n\nUpton;;3\n",
)
_JSONS = (b'{"plans": [{"town": "Milltown", "year": 1953, "level": 2.5e0, "dyke": null}], "note": "\\u00e9"}',)
_EDITED = (
    ("Document_Code", "Title", "Hazards", "Geographical_Level", "Countries", "Date", "Language", "Notes"),
    ("ADM001", "Piano", "Heatwaves; Flood", "National (Italy)", "Italy", "30.6.2021", "Italian", "'=1+1"),
)
_EDITED_TABLES = tuple("\n".join(sign.join(f'"{cell}"' for cell in row) for row in _EDITED).encode() for sign in ",;")
_ADDED = (
    b"TRIGGER\tkeep\tdocuments\tCREATE TRIGGER keep AFTER DELETE ON documents BEGIN DELETE FROM state; END\n"
    b"view\tseen\tseen\tCREATE VIEW seen AS SELECT file FROM documents"
)
_CATALOG = b"SQLite format 3\0" + bytes(84)
_MANIFEST = json.dumps(
    {
        "format": ARCHIVE_FORMAT,
        "schema": 1,
        "made": "2026-01-02T03:04:05+0000",
        "workspace": "/a/b",
        "documents": 1,
        "passages": 2,
        "index_bytes": 3,
        "files": [
            {"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "modified": 1}
            for name, content in ((CATALOG, _CATALOG), ("settings.toml", b""))
        ],
    }
).encode()
