"""OCR by the tesseract program: the right language at 200 dpi errs in one character of a thousand."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ingestion.extraction.assemble import one_line
from ingestion.file_reading import OcrLine, Picture
from rag_engine.errors import BackendError
from rag_engine.messages import Message
from rag_engine.text.languages import READ_LANGUAGES
from rag_engine.types.document import Box

# Tesseract's name and ISO 639-1 of the languages that are read, most likely first.
_LANGUAGES = {name: code for code, name in READ_LANGUAGES.items()}
_MINIMUM_CONFIDENCE = 30.0
_MINIMUM_LETTERS = 60
_PICTURE_AT_FAULT = "Error during processing"
_CURE = (
    "Install Tesseract 4 or later with the languages of your documents (Debian: tesseract-ocr, tesseract-ocr-deu ...)."
)


class TesseractOcr:
    """Tesseract with line boxes, in the language of each document.

    A page is read in the language of the page before it, the first one in English. If the text turns out to be in
    another language, the page is read again in that one. `seconds` bounds one reading.
    """

    def __init__(self, seconds: float, note: str = "") -> None:
        self._seconds = seconds
        self.note = note
        self._languages = installed_languages()
        if not self._languages:
            raise BackendError("Tesseract is not installed or has no language that we read.", help=_CURE)

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """Yield the lines of each picture, in Tesseract's reading order.

        None are yielded for a picture that takes too long or cannot be read. BackendError if Tesseract itself does not
        run.
        """
        language = self._languages[0]
        for picture in pictures:
            lines = self._lines(picture, language)
            identified = _identify(" ".join(line.text for line in lines), self._languages)
            if identified and identified != language:
                language = identified
                lines = self._lines(picture, language)
            yield lines

    def _lines(self, picture: Picture, language: str) -> tuple[OcrLine, ...]:
        # Orientation is looked for only where its data is installed; page segmentation is automatic either way.
        mode = "1" if "osd" in _listed() else "3"
        command = ["tesseract", "stdin", "stdout", "--dpi", str(picture.dpi), "-l", language, "--psm", mode, "tsv"]
        image = b"P5 %d %d 255\n" % (picture.width, picture.height) + picture.samples
        try:
            done = subprocess.run(
                command,
                input=image,
                capture_output=True,
                timeout=self._seconds,
                check=False,
                # One thread a page: its own threads halve the throughput.
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            )
        except subprocess.TimeoutExpired:
            return ()
        except OSError as error:
            raise BackendError("tesseract cannot be started: {error}.", help=_CURE, error=error) from error
        complaint = one_line(done.stderr.decode("utf-8", "replace"))
        if done.returncode != 0:
            # It read its data and gave up on this one picture, as on one wider than 32,767 pixels.
            if _PICTURE_AT_FAULT in complaint:
                return ()
            raise BackendError(
                "tesseract ended with code {returncode}: {error}.",
                help=_CURE,
                returncode=done.returncode,
                error=complaint or Message("no message"),
            )
        return parse_tsv(done.stdout.decode("utf-8", "replace"))


@cache
def _listed() -> frozenset[str]:
    if shutil.which("tesseract") is None:
        return frozenset()
    try:
        done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(done.stdout.split())


def installed_languages() -> tuple[str, ...]:
    """Return Tesseract's names of the installed languages that we read; empty without Tesseract."""
    return tuple(language for language in _LANGUAGES if language in _listed())


def parse_tsv(table: str) -> tuple[OcrLine, ...]:
    """Return the lines of Tesseract's TSV output without unsure ones (mean word confidence under 30)."""
    words: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and (row["text"] or "").strip():
            words.setdefault((row["block_num"], row["par_num"], row["line_num"]), []).append(row)
    paragraphs = {key: index for index, key in enumerate(dict.fromkeys(key[:2] for key in words))}
    lines = []
    for key, row_words in words.items():
        if sum(float(word["conf"]) for word in row_words) / len(row_words) < _MINIMUM_CONFIDENCE:
            continue
        edges = [[int(word[edge]) for edge in ("left", "top", "width", "height")] for word in row_words]
        box = Box(
            min(left for left, *_ in edges),
            min(top for _, top, *_ in edges),
            max(left + width for left, _, width, _ in edges),
            max(top + height for _, top, _, height in edges),
        )
        lines.append(OcrLine(" ".join(word["text"] for word in row_words), box, paragraphs[key[:2]]))
    return tuple(lines)


def _identify(text: str, languages: tuple[str, ...]) -> str | None:
    """Return Tesseract's name of the installed language of a text.

    None if the text is too short or in none of these languages.
    """
    if len(languages) < 2 or sum(character.isalpha() for character in text) < _MINIMUM_LETTERS:
        return None
    found = _detector(languages).detect_language_of(text)
    if found is None:
        return None
    code = found.iso_code_639_1.name.lower()
    return next((language for language in languages if _LANGUAGES[language] == code), None)


@cache
def _detector(languages: tuple[str, ...]) -> Any:
    from lingua import IsoCode639_1, LanguageDetectorBuilder

    codes = [getattr(IsoCode639_1, _LANGUAGES[language].upper()) for language in languages]
    return LanguageDetectorBuilder.from_iso_codes_639_1(*codes).with_low_accuracy_mode().build()
