"""One file to text with positions."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, DraftLine, Joint, assemble, one_line, too_long, within
from ingestion.extraction.file_type import CONVERTED, MEDIA_TYPES, UPLOAD_SUFFIXES, Format, detect
from ingestion.extraction.formats.delimited import extract_delimited
from ingestion.extraction.formats.docx import extract_docx
from ingestion.extraction.formats.epub import extract_epub
from ingestion.extraction.formats.html import extract_html
from ingestion.extraction.formats.law.law_xml import extract_law
from ingestion.extraction.formats.legacy_office import converted
from ingestion.extraction.formats.mail.message import Attachment, ReadAttachment
from ingestion.extraction.formats.mail.read import extract_mail, extract_web_archive
from ingestion.extraction.formats.odt import extract_flat, extract_odt
from ingestion.extraction.formats.pictures.package_pictures import flat_picture, sheet_pictures, with_odf_charts
from ingestion.extraction.formats.pictures.rtf_pictures import rtf_picture, rtf_pictures
from ingestion.extraction.formats.pptx import extract_pptx
from ingestion.extraction.formats.rtf import extract_rtf
from ingestion.extraction.formats.sheet_marks import count_unsaved, told_formulas
from ingestion.extraction.formats.text import extract_markdown, extract_text
from ingestion.extraction.formats.xlsx import extract_xlsx
from ingestion.extraction.formats.zip_container import open_package, parse_xml, transitional
from ingestion.extraction.layout.title import choose_title
from ingestion.extraction.runs import told
from ingestion.extraction.table_text import with_caption_units
from ingestion.file_names import check_size, safe_name
from ingestion.file_reading import ExtractionLimits, OcrEngine
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText

_PLAIN = {
    "html": extract_html,
    "rtf": extract_rtf,
    "fodt": extract_flat,
    "xml": extract_law,
    "markdown": extract_markdown,
    "text": extract_text,
    "mhtml": extract_web_archive,
}
_PACKED = {
    "docx": extract_docx,
    "pptx": extract_pptx,
    "xlsx": extract_xlsx,
    "odt": extract_odt,
    "epub": extract_epub,
    "csv": extract_delimited,
}
_MAILS = ("eml", "mbox", "msg")
# Bytes; a larger one is not read to its end, and therefore damaged.
_LARGEST_PICTURE = 100_000_000
# Raised when the same file comes to be read or described in another way, so that it is read again.
EXTRACTION_VERSION = "12"


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


def _read(
    path: Path, found: Format, limits: ExtractionLimits, ocr: OcrEngine | None, *, is_attached: bool = False
) -> ExtractedText:
    """Return the text of a file of a known format; what is attached to an attached file is only named."""
    if found in ("pdf", "tiff", "jpeg", "png"):
        # Imported where it is used: its library is large.
        from ingestion.extraction.formats.pdf import extract_pdf

        return extract_pdf(path, limits, ocr, found)
    if found in CONVERTED:
        # To the format that keeps headings, tables, slides and sheets; PDF would keep pages and lose those.
        with converted(path, CONVERTED[found], limits) as copy:
            read = _read(copy, detect(copy), limits, ocr)
        formulas = count_unsaved(path) if found == "ods" else 0
        warnings = (*read.warnings, *told_formulas(formulas, formulas))
        return replace(read, media_type=MEDIA_TYPES[found], warnings=warnings)
    draft = _draft(path, found, limits, None if is_attached else partial(_attached, limits=limits, ocr=ocr))
    draft = _with_pictures(path, found, draft, ocr)
    drafts, whole = within(with_caption_units(draft.blocks), limits.max_characters)
    text, lines, blocks, struck = assemble(drafts)
    # A law and a letter say what they are called.
    stated = one_line(draft.title) if found in (*_MAILS, "xml") and blocks else ""
    title = stated or (choose_title(draft.title, text, blocks, path) if blocks and found not in _MAILS else "")
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
        struck=struck,
        page_labels=draft.page_labels,
    )


def _draft(path: Path, found: Format, limits: ExtractionLimits, read: ReadAttachment | None) -> Draft:
    match found:
        case "eml" | "mbox" | "msg":
            return extract_mail(path, found, limits, read)
        case _ if found in _PLAIN:
            return _PLAIN[found](path)
        case "docx" | "pptx" | "xlsx":
            with transitional(path, limits) as copy:
                return _PACKED[found](copy, limits)
        case _:
            return _PACKED[found](path, limits)


def _attached(attachment: Attachment, limits: ExtractionLimits, ocr: OcrEngine | None) -> Draft | None:
    """Return what an attached file holds, None if it cannot be read."""
    with tempfile.TemporaryDirectory(prefix="sextant-attached-") as folder:
        path = Path(folder) / safe_name(attachment.name)
        path.write_bytes(attachment.content)
        try:
            found = detect(path)
            # Calendars, keys and XML are no text that somebody reads.
            if found in ("text", "html") and path.suffix[1:].lower() not in UPLOAD_SUFFIXES:
                return None
            extracted = _read(path, found, limits, ocr, is_attached=True)
        except Refusal:
            return None
    return Draft(list(_drafted(extracted)), pages=extracted.pages, warnings=extracted.warnings)


def _drafted(extracted: ExtractedText) -> Iterator[DraftBlock]:
    """Yield the blocks of a text that was read, for a document in which its pages have no drawing."""
    joints: dict[str, Joint] = {" ": " ", "": "", "\n": "\n", "\n\n": "\n\n"}
    waiting = list(reversed(extracted.lines))
    for block in extracted.blocks:
        lines = []
        while waiting and waiting[-1].start < block.end:
            line = waiting.pop()
            following = waiting[-1].start if waiting else line.end
            joint = joints.get(extracted.text[line.end : following], " ")
            lines.append(DraftLine(extracted.text[line.start : line.end], joint=joint, page=line.page))
        yield DraftBlock(block.page, block.kind, tuple(lines), block.font_size)


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
    from ingestion.extraction.formats.pictures.pasted_pictures import with_pictures

    if found == "rtf":
        return with_pictures(path, draft, ocr, partial(rtf_picture, content))
    if found == "fodt":
        root = parse_xml(path.read_bytes())
        return draft if root is None else with_pictures(path, draft, ocr, partial(flat_picture, root))
    with open_package(path) as package:
        return with_pictures(path, draft, ocr, partial(package.read, most=_LARGEST_PICTURE))
