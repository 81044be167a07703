"""Which OCR reads the scans."""

from __future__ import annotations

from ingestion.types import ExtractionLimits, OcrEngine
from rag_engine.config import OcrChoice


def choose_ocr(choice: OcrChoice, limits: ExtractionLimits) -> OcrEngine | None:
    """Return the engine by name; "auto" is Tesseract when installed, else RapidOCR; None for "none".

    BackendError when Tesseract is asked for and not installed.
    """
    from ingestion.extraction.ocr.tesseract import TesseractOcr, installed_languages

    if choice == "auto":
        choice = "tesseract" if installed_languages() else "rapidocr"
    match choice:
        case "tesseract":
            return TesseractOcr(limits.ocr_seconds)
        case "rapidocr":
            from ingestion.extraction.ocr.rapidocr import RapidOcr

            return RapidOcr()
        case "easyocr":
            from ingestion.extraction.ocr.easyocr import EasyOcr

            return EasyOcr()
        case "none":
            return None
