"""Which OCR reads the scans."""

from __future__ import annotations

from ingestion.extraction.ocr.neural import NeuralOcr, load_easyocr, load_rapidocr
from ingestion.extraction.ocr.tesseract import TesseractOcr, installed_languages
from ingestion.types import ExtractionLimits, OcrEngine
from rag_engine.config import OcrChoice


def choose_ocr(choice: OcrChoice, limits: ExtractionLimits) -> OcrEngine | None:
    """Return the engine by name; "auto" is Tesseract when installed, else RapidOCR; None for "none".

    BackendError when Tesseract is asked for and not installed.
    """
    if choice == "tesseract" or (choice == "auto" and installed_languages()):
        return TesseractOcr(limits.ocr_seconds)
    if choice == "easyocr":
        return NeuralOcr(load_easyocr, 0.3)
    return None if choice == "none" else NeuralOcr(load_rapidocr, 0.5)
