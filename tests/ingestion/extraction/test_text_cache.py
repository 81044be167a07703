"""The cache of extracted texts: what one reader read of a file, kept once however many read it."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingestion.extraction.text_cache import CachedReading, cleaned_reading, load_reading, save_reading
from ingestion.file_reading import FileProperties, FileReading
from rag_engine.types.document import Block, ExtractedText


def _reading() -> CachedReading:
    text = "Floods damage archives and museums. " * 3_000
    extracted = ExtractedText(text, 1, (), (Block(0, len(text), 1, "text"),), "text/plain")
    return cleaned_reading(
        FileReading(extracted, FileProperties(title="Flood plan", authors=("A",), margins=("Bulletin, May 2019",))),
        "en",
    )


def test_equal_files_read_at_once_are_all_stored(tmp_path: Path) -> None:
    reading, sha256 = _reading(), "ab" * 32
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: save_reading(tmp_path, sha256, "reader 1", reading), range(32)))
    assert load_reading(tmp_path, sha256, "reader 1") == reading
    assert [path.name for path in (tmp_path / "ab").iterdir()] == [f"{sha256}.json.gz"]


@pytest.mark.parametrize("content", [b"", b"null", b"[" * 100_000, b'{"reader": "reader 1"}'])
def test_what_is_no_reading_is_read_anew(tmp_path: Path, content: bytes) -> None:
    sha256 = "ab" * 32
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / f"{sha256}.json.gz").write_bytes(gzip.compress(content))
    assert load_reading(tmp_path, sha256, "reader 1") is None


def test_a_reading_that_swells_beyond_what_any_file_has_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_reading(tmp_path, "ab" * 32, "reader 1", _reading())
    assert load_reading(tmp_path, "ab" * 32, "reader 1") == _reading()
    monkeypatch.setattr("ingestion.extraction.text_cache._LARGEST", 10_000)
    assert load_reading(tmp_path, "ab" * 32, "reader 1") is None
