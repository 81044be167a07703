from __future__ import annotations

import struct
from pathlib import Path

import openpyxl
import psutil  # type: ignore[import-untyped]
import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.formats.legacy_office import stream_names
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from tests.ingestion.documents import docx
from tests.ingestion.extraction.test_extract import refusal

LIMITS = ExtractionLimits()
NOTHING = 0xFFFFFFFF


def compound(path: Path, *names: str, embedded: str = "") -> Path:
    """Return a compound file with the named streams at its top, and `embedded` in a storage."""
    entries = [entry("Root Entry", 5, child=1)]
    entries += [entry(name, 2, right=at + 1 if at < len(names) else NOTHING) for at, name in enumerate(names, 1)]
    if embedded:
        entries[1] = entries[1][:68] + struct.pack("<I", len(entries)) + entries[1][72:]
        entries += [entry("ObjectPool", 1, child=len(entries) + 1), entry(embedded, 2)]
    directory = b"".join(entries)
    sectors = -(-len(directory) // 512)
    chain = [0xFFFFFFFD, *range(2, sectors + 1), 0xFFFFFFFE]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(22) + struct.pack("<HH", 9, 6) + bytes(10)
    header += struct.pack("<II", 1, 1) + bytes(24) + struct.pack("<109I", 0, *[NOTHING] * 108)
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    path.write_bytes(header + table + directory.ljust(512 * sectors, b"\0"))
    return path


def entry(name: str, kind: int, right: int = NOTHING, child: int = NOTHING) -> bytes:
    encoded = name.encode("utf-16-le")
    start = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded) + 2, kind, 1)
    return (start + struct.pack("<3I", NOTHING, right, child)).ljust(128, b"\0")


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a script in LibreOffice's place: $made is the file to write, $asked its format."""
    made = folder / "bin"
    made.mkdir(exist_ok=True)
    find = "for word; do case $last in --convert-to) asked=$word;; --outdir) out=$word;; esac; last=$word; done\n"
    name = 'name=${last##*/}; made="$out/${name%.*}.$asked"; mkdir -p "$out"\n'
    (made / "soffice").write_text(f"#!/bin/sh\n{find}{name}{script}\n", encoding="utf-8")
    (made / "soffice").chmod(0o755)
    monkeypatch.setenv("PATH", f"{made}:/usr/bin:/bin")


@pytest.mark.parametrize(
    ("stream", "suffix"),
    [("WordDocument", "doc"), ("PowerPoint Document", "ppt"), ("Workbook", "xls"), ("Book", "xlt")],
)
def test_an_old_office_file_waits_for_libreoffice_and_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: str, suffix: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = refusal(compound(tmp_path / f"a.{suffix}", "Data", "1Table", stream, "Other", "More"))
    assert (found.reason, found.status, found.retryable) == ("office_missing", "failed", True)
    assert "libreoffice" in found.help


def test_a_document_is_told_from_what_is_embedded_in_it(tmp_path: Path) -> None:
    path = compound(tmp_path / "a", "WordDocument", "1Table", embedded="Workbook")
    assert stream_names(path) == {"WordDocument", "1Table", "ObjectPool"}


def test_other_compound_files_are_unsupported_and_locked_ones_encrypted(tmp_path: Path) -> None:
    assert refusal(compound(tmp_path / "mail.msg", "__properties")).reason == "unsupported_type"
    assert refusal(compound(tmp_path / "a.docx", "EncryptedPackage")).reason == "encrypted"


def test_a_presentation_named_doc_is_mislabelled(tmp_path: Path) -> None:
    assert refusal(compound(tmp_path / "a.doc", "PowerPoint Document")).reason == "mislabelled"


def test_an_old_document_is_read_by_way_of_docx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Beside the program: nothing else can be read by it.
    (tmp_path / "bin").mkdir()
    prepared = docx(
        tmp_path / "bin" / "prepared.docx",
        '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Flood Plan Act</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Each town plans.</w:t></w:r></w:p>",
    )
    program(tmp_path, monkeypatch, f'[ "$asked" = docx ] && [ -w "$HOME" ] && cp "{prepared}" "$made"')
    path = compound(tmp_path / "Gesetz über Fluten.doc", "WordDocument")
    with Sandbox(ocr="none") as sandbox:
        extracted = sandbox.read(path).extracted
    assert extracted.text == "Flood Plan Act\n\nEach town plans."
    assert (extracted.media_type, extracted.title) == ("application/msword", "Flood Plan Act")
    assert [block.kind for block in extracted.blocks] == ["heading", "text"]


def test_the_sheets_of_an_old_workbook_are_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["River", "Level"])
    workbook.save(tmp_path / "prepared.xlsx")
    program(tmp_path, monkeypatch, f'cp "{tmp_path / "prepared.xlsx"}" "$made"')
    assert extract(compound(tmp_path / "a.xls", "Workbook"), LIMITS, None).text == "Sheet\n\nRiver | Level"


def test_what_libreoffice_says_of_a_file_that_it_cannot_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "echo 'Error: source file could not be loaded' >&2")
    found = refusal(compound(tmp_path / "a.doc", "WordDocument"))
    assert found.reason == "damaged"
    assert "could not be loaded" in str(found)


def test_a_conversion_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, f'sleep 600 & echo $! > "{tmp_path}/grandchild"; wait')
    path = compound(tmp_path / "a.doc", "WordDocument")
    found = refusal(path, ExtractionLimits(seconds=1.5))
    assert (found.reason, found.status) == ("too_slow", "failed")
    grandchild = int((tmp_path / "grandchild").read_text(encoding="utf-8"))
    assert not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(("kind", "suffix"), [("presentation", "odp"), ("spreadsheet", "ods")])
def test_opendocument_slides_and_sheets_need_libreoffice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, suffix: str
) -> None:
    import zipfile

    monkeypatch.setenv("PATH", str(tmp_path))
    with zipfile.ZipFile(tmp_path / f"a.{suffix}", "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
    assert refusal(tmp_path / f"a.{suffix}").reason == "office_missing"
