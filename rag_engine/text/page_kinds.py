"""Names of the pages of files where they are cited: pages, slides, sheets; a file of text has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rag_engine.text.wording import ENGLISH, Wording

PageName = Literal["page", "slide", "sheet", ""]

_KINDS: tuple[tuple[PageName, str], ...] = (
    ("slide", "pptx pptm ppsx ppt pps pot odp otp"),
    ("sheet", "xlsx xlsm xls xlt ods ots"),
    # Their pages are made by the program that prints or shows them.
    ("", "docx docm dotx doc dot odt ott rtf html htm xhtml md markdown txt csv"),
)
_KIND_OF: dict[str, PageName] = {suffix: kind for kind, suffixes in _KINDS for suffix in suffixes.split()}


def page_kind(file: str) -> PageName:
    """Return what a page of a file is called by its suffix, "" where its text is not divided into pages."""
    return _KIND_OF.get(file.rpartition(".")[2].lower(), "page")


def page_number(file: str, page: int) -> int | None:
    """Return the number by which a page of a file is cited, None where it has none."""
    return page if page_kind(file) else None


def pages_text(file: str, pages: Iterable[int], words: Wording = ENGLISH) -> str:
    """Return pages of a file as they are cited: "page 3", "slides 3, 5–7"; "" where it has none."""
    kind, runs = page_kind(file), list[list[int]]()
    for page in sorted(set(pages)) if kind else ():
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    shown = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    if not runs:
        return ""
    if sum(map(len, runs)) > 1:
        several = {
            "page": words.message("pages {pages}", pages=shown),
            "slide": words.message("slides {pages}", pages=shown),
            "sheet": words.message("sheets {pages}", pages=shown),
        }
        return several[kind]
    one = {
        "page": words.message("page {n}", n=shown),
        "slide": words.message("slide {n}", n=shown),
        "sheet": words.message("sheet {n}", n=shown),
    }
    return one[kind]
