from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.extraction.ocr import tesseract as ocr_tesseract
from ingestion.extraction.ocr.tesseract import TesseractOcr
from ingestion.file_reading import Picture
from rag_engine.errors import BackendError

PICTURE = Picture(1, 3, 3, 200, bytes(9))
LANGUAGES = 'if [ "$1" = --list-langs ]; then echo eng; exit 0; fi\n'


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> TesseractOcr:
    """Return the engine beside a program of our own in Tesseract's place."""
    program = folder / "tesseract"
    program.write_text(f"#!/bin/sh\n{LANGUAGES}{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    ocr_tesseract._listed.cache_clear()
    return TesseractOcr(seconds=10)


@pytest.fixture(autouse=True)
def _forget_the_program() -> Iterator[None]:
    yield
    ocr_tesseract._listed.cache_clear()


def test_a_tesseract_that_cannot_run_is_told_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = installed(tmp_path, monkeypatch, "echo 'Could not initialize tesseract.' >&2; exit 1")
    with pytest.raises(BackendError, match=r"code 1: Could not initialize tesseract\.") as caught:
        list(engine.read([PICTURE]))
    assert caught.value.help


def test_a_picture_that_tesseract_gives_up_on_has_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = installed(tmp_path, monkeypatch, "echo 'Error during processing.' >&2; exit 1")
    assert list(engine.read([PICTURE])) == [()]


@pytest.mark.needs("tesseract")
def test_a_picture_wider_than_tesseract_takes_has_no_lines() -> None:
    assert list(TesseractOcr(seconds=10).read([Picture(1, 40_000, 20, 200, b"\xff" * 800_000)])) == [()]
