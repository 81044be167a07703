"""One file to text with positions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from ingestion.extraction.assemble import Draft, assemble, too_long, within
from ingestion.extraction.file_type import CONVERTED, MEDIA_TYPES, Format, detect
from ingestion.extraction.formats.docx import extract_docx
from ingestion.extraction.formats.epub import extract_epub
from ingestion.extraction.formats.html import extract_html
from ingestion.extraction.formats.legacy_office import converted
from ingestion.extraction.formats.odt import extract_odt
from ingestion.extraction.formats.package_pictures import sheet_pictures, with_odf_charts
from ingestion.extraction.formats.pptx import extract_pptx
from ingestion.extraction.formats.rtf import extract_rtf
from ingestion.extraction.formats.rtf_pictures import rtf_picture, rtf_pictures
from ingestion.extraction.formats.text import extract_markdown, extract_text
from ingestion.extraction.formats.xlsx import extract_xlsx
from ingestion.extraction.formats.zip_container import open_package
from ingestion.extraction.layout.title import choose_title
from ingestion.extraction.runs import told
from ingestion.extraction.table_text import with_caption_units
from ingestion.file_names import check_size
from ingestion.file_reading import ExtractionLimits, OcrEngine
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText

_PLAIN = {"html": extract_html, "rtf": extract_rtf, "markdown": extract_markdown, "text": extract_text}
_PACKED = {
    "docx": extract_docx,
    "pptx": extract_pptx,
    "xlsx": extract_xlsx,
    "odt": extract_odt,
    "epub": extract_epub,
}
# Bytes; a larger one is not read to its end, and therefore damaged.
_LARGEST_PICTURE = 100_000_000
# Raised when the same file comes to be read or described in another way, so that it is read again.
EXTRACTION_VERSION = "10"


def extract(path: Path, limits: ExtractionLimits, ocr: OcrEngine | None) -> ExtractedText:
    """Return the text of a file, read by its bytes and not by its name.

    Refusal with the reason when there is none.

    Parsers are not trusted with foreign files: outside tests, call this through `Sandbox`.
    """
    if not path.is_file():
        raise Refusal("unsupported_type", "{file} is not a file.", help="Check the path.", file=path.name)
    if path.stat().st_size == 0:
        raise Refusal("empty", "{file} is empty.", help="Download or save it again.", file=path.name)
    check_size(path, limits)
    found = detect(path)
    extracted = _read(path, found, limits, ocr)
    if not extracted.text:
        raise _without_text(path, len(extracted.unread_pages))
    return extracted


def _without_text(path: Path, pictured: int) -> Refusal:
    if not pictured:
        return Refusal("no_text", "{file} has no text.", help="Open it and check that it is not blank.", file=path.name)
    return Refusal(
        "no_text",
        "{file} has no text ({pages} pages show a picture that OCR could not read).",
        help="Scan it again if it is hard to read.",
        file=path.name,
        pages=pictured,
    )


def _read(path: Path, found: Format, limits: ExtractionLimits, ocr: OcrEngine | None) -> ExtractedText:
    match found:
        case "pdf" | "tiff" | "jpeg" | "png":
            # Imported where it is used: its library is large.
            from ingestion.extraction.formats.pdf import extract_pdf

            return extract_pdf(path, limits, ocr, found)
        case "doc" | "ppt" | "xls" | "odp" | "ods":
            # To the format that keeps headings, tables, slides and sheets; PDF would keep pages and lose those.
            with converted(path, CONVERTED[found], limits) as copy:
                return replace(_read(copy, detect(copy), limits, ocr), media_type=MEDIA_TYPES[found])
        case "html" | "rtf" | "markdown" | "text":
            draft = _with_pictures(path, found, _PLAIN[found](path), ocr)
        case _:
            draft = _with_pictures(path, found, _PACKED[found](path, limits), ocr)
    drafts, whole = within(with_caption_units(draft.blocks), limits.max_characters)
    text, lines, blocks = assemble(drafts)
    title = choose_title(draft.title, text, blocks, path) if blocks else ""
    warnings = (*draft.warnings, *told(run for block in draft.blocks for run in block.left_out))
    warnings = warnings if whole else (*warnings, too_long(limits.max_characters))
    return ExtractedText(
        text,
        draft.pages,
        lines,
        blocks,
        MEDIA_TYPES[found],
        title,
        ocr_pages=draft.ocr_pages,
        unread_pages=draft.unread_pages,
        warnings=warnings,
    )


def _with_pictures(path: Path, found: Format, draft: Draft, ocr: OcrEngine | None) -> Draft:
    """Return the draft of an office file with the words of its pictures."""
    if found == "xlsx":
        with open_package(path) as package:
            draft = replace(draft, blocks=sorted([*draft.blocks, *sheet_pictures(package)], key=lambda one: one.page))
    if found == "odt":
        with open_package(path) as package:
            draft = replace(draft, blocks=list(with_odf_charts(package, draft.blocks)))
    content = b""
    if found == "rtf":
        content = path.read_bytes()
        draft = replace(draft, blocks=[*draft.blocks, *rtf_pictures(content)])
    if not any(block.picture for block in draft.blocks):
        return draft
    # Imported where it is used: its library is large.
    from ingestion.extraction.formats.pasted_pictures import with_pictures

    if found == "rtf":
        return with_pictures(path, draft, ocr, partial(rtf_picture, content))
    with open_package(path) as package:
        return with_pictures(path, draft, ocr, partial(package.read, most=_LARGEST_PICTURE))
