"""One file to text with positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.extraction.assemble import DraftBlock, assemble
from ingestion.extraction.file_type import CONVERTED, MEDIA_TYPES, Format, detect
from ingestion.extraction.layout.title import choose_title
from ingestion.types import ExtractionLimits, OcrEngine, Refusal
from rag_engine.types import ExtractedText

# Raised when the same file comes to be read or described in another way, so that it is read again.
EXTRACTION_VERSION = "3"


def extract(path: Path, limits: ExtractionLimits, ocr: OcrEngine | None) -> ExtractedText:
    """Return the text of a file, read by its bytes and not by its name; Refusal with the reason when there is none.

    Parsers are not trusted with foreign files: outside tests, call this through `Sandbox`.
    """
    _check_file(path, limits)
    found = detect(path)
    extracted = _read(path, found, limits, ocr)
    if not extracted.text:
        seen = f" ({len(extracted.unread_pages)} pages show a picture that OCR could not read)"
        raise Refusal(
            "no_text",
            f"{path.name} has no text{seen if extracted.unread_pages else ''}.",
            help="Open it and check that it is not blank; scan it again if it is hard to read.",
        )
    return extracted


def _check_file(path: Path, limits: ExtractionLimits) -> None:
    if not path.is_file():
        raise Refusal("unsupported_type", f"{path.name} is not a file.", help="Check the path.")
    size = path.stat().st_size
    if size == 0:
        raise Refusal("empty", f"{path.name} is empty.", help="Download or save it again.")
    if size > limits.max_bytes:
        raise Refusal(
            "too_large",
            f"{path.name} has {size:,} bytes; the limit is {limits.max_bytes:,}.",
            help="Split it into smaller files and add those.",
        )


def _read(path: Path, found: Format, limits: ExtractionLimits, ocr: OcrEngine | None) -> ExtractedText:
    # Imported where they are used: each brings a library, and most runs need one of them.
    match found:
        case "pdf":
            from ingestion.extraction.formats.pdf import extract_pdf

            return extract_pdf(path, limits, ocr)
        case "docx":
            from ingestion.extraction.formats.docx import extract_docx

            return _without_geometry(path, found, *extract_docx(path, limits))
        case "pptx":
            from ingestion.extraction.formats.pptx import extract_pptx

            return _without_geometry(path, found, *extract_pptx(path, limits))
        case "xlsx":
            from ingestion.extraction.formats.xlsx import extract_xlsx

            return _without_geometry(path, found, *extract_xlsx(path, limits))
        case "odt":
            from ingestion.extraction.formats.odt import extract_odt

            return _without_geometry(path, found, *extract_odt(path, limits))
        case "html":
            from ingestion.extraction.formats.html import extract_html

            return _without_geometry(path, found, *extract_html(path))
        case "epub":
            from ingestion.extraction.formats.epub import extract_epub

            return _without_geometry(path, found, *extract_epub(path, limits))
        case "rtf":
            from ingestion.extraction.formats.rtf import extract_rtf

            return _without_geometry(path, found, *extract_rtf(path))
        case "doc" | "ppt" | "xls" | "odp" | "ods":
            from ingestion.extraction.formats.legacy_office import converted

            # To the format that keeps headings, tables, slides and sheets; PDF would keep pages and lose those.
            with converted(path, CONVERTED[found], limits) as copy:
                return replace(_read(copy, detect(copy), limits, ocr), media_type=MEDIA_TYPES[found])
        case "markdown" | "text":
            from ingestion.extraction.formats.text import markdown_blocks, read_text, text_blocks

            blocks = markdown_blocks if found == "markdown" else text_blocks
            return _without_geometry(path, found, list(blocks(read_text(path))), "")


def _without_geometry(
    path: Path,
    found: Format,
    drafts: Sequence[DraftBlock],
    declared: str,
    pages: int = 1,
    warnings: tuple[str, ...] = (),
) -> ExtractedText:
    text, lines, blocks = assemble(drafts)
    title = choose_title(declared, text, blocks, path) if blocks else ""
    return ExtractedText(text, pages, lines, blocks, MEDIA_TYPES[found], title, warnings=warnings)
