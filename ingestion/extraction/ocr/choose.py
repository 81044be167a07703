"""Which OCR reads the scans.

Tesseract, or a neural network. RapidOCR brings its weights and is always there.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from ingestion.extraction.ocr.easyocr import load_easyocr, readable_languages
from ingestion.extraction.ocr.tesseract import TesseractOcr, installed_languages
from ingestion.file_reading import ExtractionLimits, OcrEngine, OcrLine, Picture
from rag_engine.backends.model_source import checked_weights, package_folder
from rag_engine.config import OcrChoice, easyocr_folder
from rag_engine.errors import BackendError
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.types.document import Box
from rag_engine.types.finding import Finding

# Its networks, by their names in data/models.toml.
_RAPIDOCR = ("PP-OCRv6 detection", "PP-OCRv6 recognition", "PP-OCR v2 direction of lines")
# How the libraries of networks say that there is no memory left.
_OUT_OF_MEMORY = re.compile("alloc", re.IGNORECASE)
# A grey picture to its lines: the corners of each, its text and how sure that is.
_Network = Callable[[Any], Iterable[tuple[Any, str, float]]]


def choose_ocr(choice: OcrChoice, limits: ExtractionLimits) -> OcrEngine | None:
    """Return the engine by name; "auto" is Tesseract when installed, else RapidOCR; None for "none".

    If EasyOCR has no weights, the engine of "auto" reads, and a warning says so. BackendError if Tesseract is asked
    for and not installed.
    """
    if choice == "easyocr" and readable_languages():
        return _NeuralOcr(load_easyocr, 0.3)
    note = f"EasyOCR found no weights in {easyocr_folder()}; {{}} read instead." if choice == "easyocr" else ""
    if choice == "tesseract" or (choice in ("auto", "easyocr") and installed_languages()):
        return TesseractOcr(limits.ocr_seconds, note.format("Tesseract"))
    return None if choice == "none" else _NeuralOcr(_load_rapidocr, 0.5, note.format("RapidOCR"))


def check(choice: OcrChoice) -> Iterator[Finding]:
    """Yield which engines are installed, and for which languages; `choice` is the engine by the settings."""
    languages = installed_languages()
    missing = [name for name in READ_LANGUAGES.values() if name not in languages]
    if not languages:
        remedy = (
            f"apt-get install tesseract-ocr {' '.join(f'tesseract-ocr-{name}' for name in READ_LANGUAGES.values())}"
        )
        yield Finding("OCR", "note", "Tesseract is not installed; RapidOCR reads scans, with more errors", remedy)
    elif missing:
        remedy = f"apt-get install {' '.join(f'tesseract-ocr-{name}' for name in missing)}"
        yield Finding("OCR", "note", f"Tesseract lacks {', '.join(missing)}", remedy)
    else:
        yield Finding("OCR", "good", f"Tesseract with {', '.join(languages)}")
    yield _easyocr(choice)


def _easyocr(choice: OcrChoice) -> Finding:
    found, chosen = readable_languages(), choice == "easyocr"
    if found:
        use = "it reads scans" if chosen else "SEXTANT_OCR=easyocr uses them"
        return Finding("EasyOCR", "good", f"weights for {', '.join(found)}; {use}")
    if find_spec("easyocr") is None:
        lack, remedy = "not installed", "pip install --no-deps easyocr, or choose another engine with SEXTANT_OCR."
    else:
        lack = f"no weights in {easyocr_folder()}"
        remedy = "Put craft_mlt_25k.pth and latin_g2.pth there, or set SEXTANT_EASYOCR_MODELS."
    instead = "Tesseract" if installed_languages() else "RapidOCR"
    use = f"it is chosen by the settings, and {instead} reads instead" if chosen else "not needed"
    return Finding("EasyOCR", "note", f"{lack}; {use}", remedy)


class _NeuralOcr:
    """Lines with a score above `least`, column by column; the network is loaded at the first picture."""

    def __init__(self, load: Callable[[], _Network], least: float, note: str = "") -> None:
        self._load = load
        self._least = least
        self.note = note

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """For each picture its lines, columns from left to right; BackendError if the engine is not usable."""
        for picture in pictures:
            grey = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.width)
            try:
                found = [line for line in self._network(grey) if line[2] >= self._least]
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(str(error)):
                    raise BackendError(
                        "The OCR engine needs more memory than a reader of files may take.",
                        help="Choose another OCR engine in the settings, such as Tesseract, and add the file again.",
                    ) from error
                raise
            yield columns_first([OcrLine(text, _box_around(corners), 0) for corners, text, _ in found])

    @cached_property
    def _network(self) -> _Network:
        return self._load()


def _load_rapidocr() -> _Network:
    """Load PP-OCR on ONNX Runtime."""
    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    folder = package_folder("rapidocr", "the networks that read pictures", "pip install rapidocr")
    for model in _RAPIDOCR:
        checked_weights(model, folder)
    network = RapidOCR(params={"Global.log_level": "error"})

    def read(grey: Any) -> Iterable[tuple[Any, str, float]]:
        found = network(np.repeat(grey[:, :, None], 3, axis=2))
        return () if found.boxes is None else zip(found.boxes, found.txts, found.scores, strict=True)

    return read


def _box_around(corners: Iterable[Iterable[float]]) -> Box:
    """Return the upright rectangle around four corners."""
    across, down = zip(*(map(float, corner) for corner in corners), strict=True)
    return Box(min(across), min(down), max(across), max(down))


def columns_first(lines: Sequence[OcrLine]) -> tuple[OcrLine, ...]:
    """Return lines column by column, each column a block.

    From the top down, a line continues the only open column above it. If columns part, the right one opens a new block.
    A line over several columns closes them and opens the next.

    >>> from rag_engine.types.document import Box
    >>> places = {"left": Box(0, 0, 40, 9), "right": Box(50, 0, 90, 9), "below left": Box(0, 10, 40, 19)}
    >>> [line.text for line in columns_first([OcrLine(text, box, 0) for text, box in places.items()])]
    ['left', 'below left', 'right']
    """
    columns: list[list[OcrLine]] = []
    closed: set[int] = set()
    for row in _rows(lines):
        for line in row:
            above = [
                index
                for index, column in enumerate(columns)
                if index not in closed and column[-1].box.x0 < line.box.x1 and line.box.x0 < column[-1].box.x1
            ]
            if len(above) == 1:
                columns[above[0]].append(line)
            else:
                closed.update(above)
                columns.append([line])
    return tuple(OcrLine(line.text, line.box, block) for block, column in enumerate(columns) for line in column)


def _rows(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Return the rows, each from left to right.

    A line whose top is above the middle of a row's first line is in it.
    """
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line.box.y0):
        if rows and line.box.y0 < (rows[-1][0].box.y0 + rows[-1][0].box.y1) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]
