"""OCR by EasyOCR: an extra, for those who have its weights and a graphics card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ingestion.extraction.layout.reading_order import columns_first
from ingestion.extraction.ocr.rapidocr import box_around
from ingestion.types import OcrLine, Picture
from rag_engine.errors import BackendError
from rag_engine.text.languages import READ_LANGUAGES

_MINIMUM_SCORE = 0.3


class EasyOcr:
    """EasyOCR with line boxes; the model is loaded at the first picture, from local weights only."""

    def __init__(self) -> None:
        self._model: Any = None

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """For each picture its lines, columns from left to right; BackendError when EasyOCR is not usable."""
        for picture in pictures:
            grey = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width)
            found = self._loaded().readtext(grey)
            lines = [OcrLine(text, box_around(corners), 0) for corners, text, score in found if score >= _MINIMUM_SCORE]
            yield columns_first(lines)

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                from easyocr import Reader
            except ImportError as error:
                raise BackendError(
                    "EasyOCR is not installed.",
                    help="Run pip install 'sextant[easyocr]', or choose tesseract or rapidocr.",
                ) from error
            try:
                self._model = Reader(list(READ_LANGUAGES), download_enabled=False, verbose=False)
            except FileNotFoundError as error:
                raise BackendError(
                    f"EasyOCR has no weights: {error}.",
                    help="Put its latin_g2 and craft weights into ~/.EasyOCR/model.",
                ) from error
        return self._model
