from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest
from easyocr_en_models import model_dir

from ingestion.extraction.ocr.choose import check
from ingestion.extraction.ocr.easyocr import readable_languages
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """Return a page of which nothing but a picture is left."""
    with pymupdf.open() as printed, pymupdf.open() as scanned:
        printed.new_page(width=260, height=60).insert_text((20, 36), "Leave the house at once", fontsize=18)
        page = scanned.new_page(width=260, height=60)
        page.insert_image(page.rect, pixmap=printed[0].get_pixmap(dpi=150))
        scanned.save(tmp_path / "scan.pdf")
    return tmp_path / "scan.pdf"


def test_a_scan_is_read_by_easyocr(scan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_EASYOCR_MODELS", model_dir())
    assert readable_languages() == ("en",)
    with Sandbox(ocr="easyocr") as sandbox:
        extracted = sandbox.read(scan).extracted
    assert "Leave the house at once" in extracted.text
    assert extracted.ocr_pages == (1,)
    assert extracted.warnings == ()
    [line] = extracted.lines
    assert line.box is not None
    assert 15 < line.box.x0 < 25


@pytest.mark.needs("tesseract")
def test_without_weights_tesseract_reads_and_it_is_said(
    scan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_EASYOCR_MODELS", str(tmp_path / "none"))
    with Sandbox(ocr="easyocr") as sandbox:
        extracted = sandbox.read(scan).extracted
    assert "Leave the house at once" in extracted.text
    assert extracted.warnings == (f"EasyOCR found no weights in {tmp_path / 'none'}; Tesseract read instead.",)


def test_what_stands_in_for_torchvision_is_gone_when_easyocr_is_loaded() -> None:
    code = (
        "import sys\n"
        "from ingestion.extraction.ocr.easyocr import load_easyocr\n"
        "load_easyocr()\n"
        "sys.exit('torchvision' in sys.modules)"
    )
    environment = {"SEXTANT_EASYOCR_MODELS": model_dir(), "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    """Return a full page of the size Letter, scanned at 300 dpi."""
    with pymupdf.open() as printed, pymupdf.open() as scanned:
        page = printed.new_page(width=612, height=792)
        for row in range(40):
            page.insert_text((60, 60 + 16 * row), f"Line {row}: the lock of Hollin is closed in June", fontsize=11)
        page = scanned.new_page(width=612, height=792)
        page.insert_image(page.rect, pixmap=printed[0].get_pixmap(dpi=300, colorspace=pymupdf.csGRAY))
        scanned.save(tmp_path / "letter.pdf")
    return tmp_path / "letter.pdf"


@pytest.mark.long
def test_a_page_scanned_at_300_dpi_is_read_within_the_memory_of_a_reader(
    letter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_EASYOCR_MODELS", model_dir())
    with Sandbox(ocr="easyocr") as sandbox:
        text = sandbox.read(letter).extracted.text
    assert text.count("the lock of Hollin is closed in June") >= 38


@pytest.mark.long
def test_a_page_for_which_the_memory_is_too_small_names_another_engine(
    letter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_EASYOCR_MODELS", model_dir())
    small = ExtractionLimits(memory_bytes=9 * 2**28)
    with Sandbox(small, ocr="easyocr") as sandbox, pytest.raises(Refusal, match="needs more memory") as refused:
        sandbox.read(letter)
    assert refused.value.reason == "ocr_missing"
    assert "Tesseract" in str(refused.value.help)


def test_the_doctor_says_what_reads_in_place_of_the_chosen_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_EASYOCR_MODELS", str(tmp_path))
    chosen, not_chosen = (next(one for one in check(choice) if one.name == "EasyOCR") for choice in ("easyocr", "auto"))
    assert "reads instead" in chosen.found
    assert "not needed" in not_chosen.found
