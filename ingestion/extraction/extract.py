"""One file to text with positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ingestion.extraction.assemble import assemble, too_long, within
from ingestion.extraction.file_type import CONVERTED, MEDIA_TYPES, Format, detect
from ingestion.extraction.formats.delimited import extract_delimited
from ingestion.extraction.formats.docx import extract_docx
from ingestion.extraction.formats.epub import extract_epub
from ingestion.extraction.formats.html import extract_html
from ingestion.extraction.formats.legacy_office import converted
from ingestion.extraction.formats.odt import extract_odt
from ingestion.extraction.formats.pptx import extract_pptx
from ingestion.extraction.formats.rtf import extract_rtf
from ingestion.extraction.formats.sheet_marks import count_unsaved, told_formulas
from ingestion.extraction.formats.text import extract_markdown, extract_text
from ingestion.extraction.formats.xlsx import extract_xlsx
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
    "csv": extract_delimited,
}
# Raised when the same file comes to be read or described in another way, so that it is read again.
EXTRACTION_VERSION = "9"


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
        raise Refusal(
            "no_text",
            "{file} has no text ({pages} pages show a picture that OCR could not read)."
            if extracted.unread_pages
            else "{file} has no text.",
            help="Open it and check that it is not blank; scan it again if it is hard to read.",
            file=path.name,
            pages=len(extracted.unread_pages),
        )
    return extracted


def _read(path: Path, found: Format, limits: ExtractionLimits, ocr: OcrEngine | None) -> ExtractedText:
    match found:
        case "pdf":
            # Imported where it is used: its library is large.
            from ingestion.extraction.formats.pdf import extract_pdf

            return extract_pdf(path, limits, ocr)
        case "doc" | "ppt" | "xls" | "odp" | "ods":
            # To the format that keeps headings, tables, slides and sheets; PDF would keep pages and lose those.
            with converted(path, CONVERTED[found], limits) as copy:
                read = _read(copy, detect(copy), limits, ocr)
            formulas = count_unsaved(path) if found == "ods" else 0
            warnings = (*read.warnings, *told_formulas(formulas, formulas))
            return replace(read, media_type=MEDIA_TYPES[found], warnings=warnings)
        case "html" | "rtf" | "markdown" | "text":
            draft = _PLAIN[found](path)
        case _:
            draft = _PACKED[found](path, limits)
    drafts, whole = within(with_caption_units(draft.blocks), limits.max_characters)
    text, lines, blocks = assemble(drafts)
    title = choose_title(draft.title, text, blocks, path) if blocks else ""
    warnings = (*draft.warnings, *told(run for block in draft.blocks for run in block.left_out))
    warnings = warnings if whole else (*warnings, too_long(limits.max_characters))
    return ExtractedText(text, draft.pages, lines, blocks, MEDIA_TYPES[found], title, warnings=warnings)
