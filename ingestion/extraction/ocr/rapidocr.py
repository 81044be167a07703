"""OCR by RapidOCR, whose weights come inside its package: the fallback that is always there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ingestion.extraction.layout.reading_order import columns_first
from ingestion.types import OcrLine, Picture
from rag_engine.types import Box

_MINIMUM_SCORE = 0.5


class RapidOcr:
    """PP-OCR on ONNX Runtime, with line boxes; the model is loaded at the first picture."""

    def __init__(self) -> None:
        self._model: Any = None

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """For each picture its lines, columns from left to right."""
        for picture in pictures:
            grey = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width)
            found = self._loaded()(np.repeat(grey[:, :, None], 3, axis=2))
            if found.boxes is None:
                yield ()
                continue
            yield columns_first(
                [
                    OcrLine(text, box_around(corners), 0)
                    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
                    if score >= _MINIMUM_SCORE
                ]
            )

    def _loaded(self) -> Any:
        if self._model is None:
            from rapidocr import RapidOCR

            logging.getLogger("RapidOCR").setLevel(logging.ERROR)
            self._model = RapidOCR(params={"Global.log_level": "error"})
        return self._model


def box_around(corners: Iterable[Iterable[float]]) -> Box:
    """Return the upright rectangle around four corners."""
    across, down = zip(*(map(float, corner) for corner in corners), strict=True)
    return Box(min(across), min(down), max(across), max(down))
