"""Reading a document of 500 pages: seconds for what the Document page does, without the browser.

    python -m benchmarks.pipeline.reading      writes benchmarks/results/reading.md

The document is made of the English texts of the sample, over and over, a section a page.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from statistics import median

import pymupdf

from benchmarks.report import machine, write_table
from ingestion.tools import open_reader
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.config import ROOT
from rag_engine.viewer.find import find_words
from rag_engine.viewer.pages import PagedText, text_layer
from rag_engine.viewer.versions import VersionText, compare_versions

PAGES = 500
TURNS = range(100, 120)
WIDTH = 1000
# A word in so many is another one in the other version.
CHANGED = 150


def make_document(file: Path) -> None:
    """Write the document, with about 45 lines a page."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "data/sample/content").glob("en-*.md"))]
    words = cycle(word for text in texts for word in text.encode("latin-1", "ignore").decode("latin-1").split())
    with pymupdf.open() as document:
        for number in range(1, PAGES + 1):
            page = document.new_page()
            page.insert_text((72, 70), f"Section {number} Measures of district {number}", fontsize=15, fontname="hebo")
            for row in range(45):
                page.insert_text((72, 100 + 15 * row), " ".join(next(words) for _ in range(12)), fontsize=10)
        document.save(file, deflate=True)


def seconds(act: Callable[[], object]) -> float:
    """Return the seconds that an act takes."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def main() -> None:
    """Measure each act and write the table."""
    with tempfile.TemporaryDirectory() as folder, open_reader("none") as reader:
        file = Path(folder) / "district.pdf"
        make_document(file)
        extracted = reader.read(file).extracted
        document = PagedText(extracted.text, extracted.lines, extracted.blocks, extracted.pages)
        renderer = PageRenderer()
        first = seconds(renderer.page(file, PAGES, [], width=WIDTH).result)
        turned = [seconds(renderer.page(file, page, [], width=WIDTH).result) for page in TURNS]
        measured = [seconds(renderer.size(file, page).result) for page in TURNS]
        pictures = [len(renderer.page(file, page, [], width=WIDTH).result()) for page in TURNS]
        layers = [seconds(lambda page=page: text_layer(document, page)) for page in TURNS]
        renderer.close()
    words = document.text.split(" ")
    words[::CHANGED] = ["changed"] * len(words[::CHANGED])
    other = VersionText(" ".join(words))
    rows = [
        ["draw the last page, with the start of the process that draws", f"{first:.2f}"],
        ["draw another page", f"{median(turned):.2f}"],
        ["measure a page", f"{median(measured):.3f}"],
        ["place the words of a page", f"{median(layers):.4f}"],
        ["find a phrase in the whole document", f"{seconds(lambda: find_words(document, 'lead flood', 200)):.2f}"],
        ["compare two versions", f"{seconds(lambda: compare_versions(VersionText(document.text), other)):.2f}"],
    ]
    notes = [
        f"{PAGES} pages, {len(document.text):,} characters, {len(document.lines):,} lines; a drawn page has "
        f"{median(pictures) / 1000:,.0f} kB. Of the other version one word in {CHANGED} is another.",
        machine(),
    ]
    write_table("reading", "Reading a document of 500 pages", ["act", "seconds"], rows, notes)


if __name__ == "__main__":
    main()
