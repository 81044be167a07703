"""The portal's files: PDFs, office files and pages, whose bytes are the same each time."""

from __future__ import annotations

import html
import io
import zipfile

import pymupdf

from tests.portal.texts import Text

CC_BY = "This document is licensed under a Creative Commons Attribution 4.0 International License (CC BY 4.0)."
_XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
xmlns:pdf="http://ns.adobe.com/pdf/1.3/" pdf:Producer="Sample" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
xmpRights:WebStatement="https://creativecommons.org/licenses/by/4.0/"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def pdf(text: Text, licence: str = CC_BY, *, xmp: bool = False, password: str = "") -> bytes:
    """Return a PDF of two pages: title, date and text, then the statement on its licence."""
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_textbox(pymupdf.Rect(72, 72, 520, 130), text.title, fontsize=18, fontname="hebo")
        page.insert_textbox(pymupdf.Rect(72, 140, 520, 160), text.dated, fontsize=11)
        page.insert_textbox(pymupdf.Rect(72, 180, 520, 780), "\n\n".join(text.paragraphs), fontsize=11)
        last = document.new_page()
        last.insert_textbox(pymupdf.Rect(72, 72, 520, 300), f"{text.paragraphs[-1]}\n\n{licence}", fontsize=11)
        if xmp:
            document.set_xml_metadata(_XMP)
        locked = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": password} if password else {}
        return bytes(document.tobytes(no_new_id=True, deflate=not xmp, **locked))


def scan(text: Text) -> bytes:
    """Return a PDF of one page that is a picture of text."""
    with pymupdf.open("pdf", pdf(text)) as printed, pymupdf.open() as document:
        picture = printed[0].get_pixmap(dpi=150).tobytes("png")
        page = document.new_page()
        page.insert_image(page.rect, stream=picture)
        return bytes(document.tobytes(no_new_id=True, deflate=True))


def docx(text: Text, licence: str = CC_BY) -> bytes:
    """Return a Word file."""
    kinds = (
        '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>'
    )
    parts = (text.title, text.dated, *text.paragraphs, licence)
    body = "".join(f"<w:p><w:r><w:t>{html.escape(part)}</w:t></w:r></w:p>" for part in parts)
    words = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = f'<?xml version="1.0"?><w:document xmlns:w="{words}"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": kinds, "word/document.xml": document})


def bomb() -> bytes:
    """Return a Word file of a few kilobytes that unpacks to two gigabytes."""
    kinds = docx(Text("en", "A", "", ("b",)))
    with zipfile.ZipFile(io.BytesIO(kinds)) as archive:
        first = archive.read("[Content_Types].xml")
    with io.BytesIO() as written:
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_entry("[Content_Types].xml"), first)
            with archive.open(_entry("word/document.xml"), "w", force_zip64=True) as part:
                for _ in range(128):
                    part.write(b" " * (16 << 20))
        return written.getvalue()


def zipped(parts: dict[str, str]) -> bytes:
    """Return a zip archive whose entries bear one fixed time."""
    with io.BytesIO() as written:
        with zipfile.ZipFile(written, "w") as archive:
            for name, content in parts.items():
                archive.writestr(_entry(name), content)
        return written.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def page(title: str, *parts: str, head: str = "", footer: str = "", language: str = "en") -> str:
    """Return a web page as institutions make them: menu, main part, footer."""
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)} - Portal</title>{head}</head>"
        f"<body><nav><a href='/'>Home</a> <a href='/contact'>Contact</a></nav>"
        f"<main><h1>{html.escape(title)}</h1>{''.join(parts)}</main><footer>{footer}</footer></body></html>"
    )


def content(text: Text, *, head: str = "", footer: str = "") -> str:
    """Return a page that is the document itself."""
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in (text.dated, *text.paragraphs))
    return page(text.title, paragraphs, head=head, footer=footer, language=text.language)


def links(*named: tuple[str, str]) -> str:
    """Return a list of links."""
    return "<ul>" + "".join(f'<li><a href="{url}">{html.escape(name)}</a></li>' for url, name in named) + "</ul>"
