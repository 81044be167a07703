"""PDF files: one or two columns, running heads, contents and index with their true pages; scans.

MuPDF sets the HTML with fonts that it carries itself, so nothing depends on the fonts of the machine and every
letter of the seven languages is there and can be read out again.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pymupdf
from PIL import Image

from rendering.markup import Heading, IndexLines, SampleDocument
from rendering.web import body_html

PAGE = pymupdf.paper_rect("a4")
LEFT, RIGHT, TOP, BOTTOM, GUTTER = 62.0, PAGE.width - 62.0, 74.0, PAGE.height - 70.0, 20.0
STYLE = """
body { margin: 0; font-family: serif; font-size: 10pt; line-height: 1.32 }
h1 { font-family: sans-serif; font-size: 20pt; margin: 4pt 0 8pt 0; color: #1c3d5a }
h2 { font-family: sans-serif; font-size: 13pt; margin: 14pt 0 4pt 0; color: #1c3d5a }
h3 { font-family: sans-serif; font-size: 10.5pt; margin: 9pt 0 3pt 0 }
p { margin: 0 0 6pt 0; text-align: justify }
p.office { font-family: sans-serif; font-size: 9pt; color: #555555; text-align: left }
p.mark { font-family: sans-serif; font-size: 8.5pt; color: #8a1c1c; text-align: left; margin-bottom: 14pt }
p.contents, p.contents2, p.entry, p.subentry { text-align: left; margin-bottom: 2pt }
p.contents, p.contents2 { font-family: sans-serif; font-size: 9pt; line-height: 1.2; margin-bottom: 0 }
p.contents2, p.subentry { margin-left: 14pt }
p.entry, p.subentry { font-size: 9pt }
li { margin-bottom: 3pt }
table { width: 100%; border-collapse: collapse; margin: 6pt 0 10pt 0; font-size: 8.5pt }
th { font-family: sans-serif; color: #1c3d5a; text-align: left; border: 0.5px solid #777777; padding: 3px }
td { border: 0.5px solid #777777; padding: 3px; text-align: left }
"""


@dataclass(frozen=True, slots=True)
class Part:
    """HTML that starts on a new page and flows through columns, below a front as wide as the page."""

    html: str
    columns: int = 1
    front: str = ""


@dataclass(frozen=True, slots=True)
class PlacedHeading:
    """A heading and where it came to stand."""

    level: int
    text: str
    page: int
    top: float

    @property
    def number(self) -> str:
        """The leading number, such as 3.2; empty when there is none."""
        found = re.match(r"\d+(\.\d+)*", self.text)
        return found.group() if found else ""


def pdf(document: SampleDocument) -> bytes:
    """The document as a PDF with title and author in its properties."""
    body = Part(body_html(tuple(p for p in document.pieces if not isinstance(p, IndexLines)), top=2), document.columns)
    index = next((piece for piece in document.pieces if isinstance(piece, IndexLines)), None)
    if index is None:
        raw, _ = _lay_out([Part(body.html, document.columns, _front(document))])
    else:
        raw, _ = _lay_out_handbook(document, body, index)
    return _finish(raw, document)


def scan(document: SampleDocument, *, dpi: int = 160) -> bytes:
    """The document as photographs of its pages: grey, a little askew and noisy, without any text."""
    noise = np.random.default_rng(20_110_624)
    with pymupdf.open(stream=pdf(document)) as source, pymupdf.open() as target:
        for page in source:
            pixels = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
            image = Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)
            image = image.rotate(noise.uniform(-0.5, 0.5), Image.Resampling.BICUBIC, fillcolor=255)
            grey = np.asarray(image, dtype=np.float64) * 0.93 + noise.normal(0.0, 5.0, (image.height, image.width))
            jpeg = io.BytesIO()
            Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(jpeg, "JPEG", quality=45)
            target.new_page(width=PAGE.width, height=PAGE.height).insert_image(PAGE, stream=jpeg.getvalue())
        return _save(target, document)


def _front(document: SampleDocument) -> str:
    return (
        f"<p class='office'>{escape(document.authority)} · {document.date}</p>"
        f"<h1>{escape(document.title)}</h1><p class='mark'>{escape(document.mark)}</p>"
    )


def _columns(count: int, top: float) -> list[pymupdf.Rect]:
    width = (RIGHT - LEFT - GUTTER * (count - 1)) / count
    return [
        pymupdf.Rect(LEFT + i * (width + GUTTER), top, LEFT + i * (width + GUTTER) + width, BOTTOM)
        for i in range(count)
    ]


def _lay_out(parts: list[Part]) -> tuple[bytes, list[PlacedHeading]]:
    """The pages as an unfinished PDF, and where each heading stands."""
    raw = io.BytesIO()
    writer = pymupdf.DocumentWriter(raw)
    headings: list[PlacedHeading] = []
    page = 0
    for part in parts:
        story = pymupdf.Story(part.html, user_css=STYLE)
        front = pymupdf.Story(part.front, user_css=STYLE)
        _, filled = front.place(pymupdf.Rect(LEFT, TOP, RIGHT, BOTTOM))
        top = filled[3] if part.front else TOP
        more = True
        while more:
            page += 1
            device = writer.begin_page(PAGE)
            if top > TOP:
                front.draw(device)
            for column in _columns(part.columns, top):
                more = bool(story.place(column)[0])
                headings += _placed_headings(story, page)
                story.draw(device)
                if not more:
                    break
            writer.end_page()
            top = TOP
    writer.close()
    return raw.getvalue(), headings


def _placed_headings(story: pymupdf.Story, page: int) -> list[PlacedHeading]:
    """The headings of what was placed last."""
    found: list[PlacedHeading] = []

    # PyMuPDF looks into the code object of the callback, so a bound method will not do.
    def keep(position: Any) -> None:
        if position.heading and position.text and position.open_close & 1:
            found.append(PlacedHeading(position.heading, position.text, page, position.rect[1]))

    story.element_positions(keep)
    return found


def _lay_out_handbook(document: SampleDocument, body: Part, index: IndexLines) -> tuple[bytes, list[PlacedHeading]]:
    """Title and contents, chapters, index: set once to learn the pages, then again with them filled in."""
    titles = [piece for piece in document.pieces if isinstance(piece, Heading)]
    index_title = f"<h2>{escape(titles[-1].text)}</h2>"
    chapters = [Part(f"<h2>{chapter}") for chapter in body.html.removesuffix(index_title).split("<h2>")[1:]]
    unplaced = [PlacedHeading(title.level + 1, title.text, 99, 0) for title in titles]
    _, placed = _lay_out([Part(_contents(document, unplaced)), *chapters])
    shown = [heading for heading in placed if heading.number]
    pages = section_pages(shown)
    entries = "".join(_index_entry(line, pages) for line in index.lines)
    return _lay_out([Part(_contents(document, shown)), *chapters, Part(index_title + entries, 2)])


def _contents(document: SampleDocument, headings: list[PlacedHeading]) -> str:
    font, size, indent = pymupdf.Font("helv"), 9.0, 14.0
    lines = []
    for heading in headings:
        style = "contents" if heading.level == 2 else "contents2"
        room = RIGHT - LEFT - indent * (heading.level - 2) - font.text_length(f"{heading.text}   99", size)
        dots = "." * int(room / font.text_length(".", size) - 2)
        lines.append(f"<p class='{style}'>{escape(heading.text)} {dots} {heading.page}</p>")
    return f"{_front(document)}<h2>{escape(document.contents_title)}</h2>{''.join(lines)}"


def section_pages(headings: list[PlacedHeading]) -> dict[str, range]:
    """The pages of every numbered section."""
    pages = {}
    for i, heading in enumerate(headings):
        following = next((h for h in headings[i + 1 :] if h.level <= heading.level), None)
        if following is None:
            last = max(h.page for h in headings)
        else:
            # A section that ends with its page leaves the next heading at the top of the following one.
            last = following.page - 1 if following.top < TOP + 30 else following.page
        pages[heading.number] = range(heading.page, max(heading.page, last) + 1)
    return pages


def page_ranges(pages: set[int]) -> list[str]:
    """The pages in order, neighbours joined: 4, 5, 6, 9 become 4–6 and 9."""
    firsts = sorted(page for page in pages if page - 1 not in pages)
    lasts = sorted(page for page in pages if page + 1 not in pages)
    return [str(first) if first == last else f"{first}–{last}" for first, last in zip(firsts, lasts, strict=True)]


def _index_entry(line: str, pages: dict[str, range]) -> str:
    style = "subentry" if line.startswith("  ") else "entry"
    term, _, sections = line.strip().partition(": ")
    numbers = ", ".join(page_ranges({page for name in sections.split(", ") if name for page in pages[name]}))
    text = re.sub(r"\b(see also|see)\b", r"<i>\1</i>", escape(term))
    return f"<p class='{style}'>{text}{', ' if numbers else ''}{numbers}</p>"


def _finish(raw: bytes, document: SampleDocument) -> bytes:
    """The PDF with running head, page numbers and properties."""
    with pymupdf.open(stream=raw) as target:
        font = pymupdf.Font("helv")
        for page in target:
            page.wrap_contents()
            text = pymupdf.TextWriter(page.rect, color=(0.35, 0.35, 0.35))
            text.append((LEFT, 48), document.authority, font=font, fontsize=7.5)
            width = font.text_length(document.short_title, fontsize=7.5)
            text.append((RIGHT - width, 48), document.short_title, font=font, fontsize=7.5)
            number = f"{page.number + 1} / {target.page_count}"
            width = font.text_length(number, fontsize=8)
            text.append(((PAGE.width - width) / 2, PAGE.height - 40), number, font=font, fontsize=8)
            text.write_text(page)
            page.draw_line((LEFT, 54), (RIGHT, 54), color=(0.6, 0.6, 0.6), width=0.5)
        target.subset_fonts()
        return _save(target, document)


def _save(target: pymupdf.Document, document: SampleDocument) -> bytes:
    date = f"D:{document.date.replace('-', '')}090000Z"
    target.set_metadata(
        {
            "title": document.title,
            "author": document.authority,
            "subject": document.mark,
            "creator": "data/sample/build.py",
            "producer": "MuPDF",
            "creationDate": date,
            "modDate": date,
        }
    )
    target.set_language(document.language)
    return bytes(target.tobytes(garbage=4, deflate=True, no_new_id=True))
