from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.file_type import content_type
from tests.ingestion.documents import docx

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.mark.parametrize(
    ("body", "declared", "address", "suffix"),
    [
        (b"%PDF-1.7 ...", "text/html", "https://a.example/x.html", "pdf"),
        (b"<!DOCTYPE html><html>", "application/pdf", "https://a.example/x.pdf", "html"),
        (b"\n<!-- made by hand --><html><body>", "", "https://a.example/x.pdf", "html"),
        (b"<div>Not found</div>", "text/html", "https://a.example/x.pdf", "html"),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', "application/xhtml+xml", "", "html"),
        (b'<?xml version="1.0"?><rss/>', "application/rss+xml", "", "xml"),
        (b'{"a": [1, 2]}', "text/plain", "", "json"),
        (b"{not json", "application/json", "", "txt"),
        (b"# Plan\n\nText", "text/plain", "https://a.example/plan.md", "md"),
        (b'<div align="center">\n\n# Plan', "text/plain", "https://a.example/plan.md", "md"),
        (b"a;b\n1;2\n", "text/csv", "https://a.example/x", "csv"),
        (b"Just text", "text/html", "", "txt"),
        (b"", "text/plain", "", "txt"),
        (OLE, "application/octet-stream", "https://a.example/x.xls", "xls"),
        (OLE, "application/vnd.ms-powerpoint", "https://a.example/x", "ppt"),
        (OLE, "", "https://a.example/x", "doc"),
        (rb"{\rtf1 Plan}", "", "", "rtf"),
        (b"\x89PNG\r\n\x1a\n", "application/pdf", "https://a.example/x.pdf", "png"),
        (b"\x00\x01\x02\x03" * 50, "", "https://a.example/x.pdf", "bin"),
    ],
)
def test_bytes_decide(tmp_path: Path, body: bytes, declared: str, address: str, suffix: str) -> None:
    (tmp_path / "x").write_bytes(body)
    assert content_type(tmp_path / "x", declared=declared, address=address).suffix == suffix


def test_an_office_file_is_told_by_its_parts(tmp_path: Path) -> None:
    made = docx(tmp_path / "made.docx", "").rename(tmp_path / "made.fetched")
    assert content_type(made, declared="application/zip", address="https://a.example/x.zip").suffix == "docx"
