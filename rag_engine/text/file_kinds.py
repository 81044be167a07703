"""Kinds of files: whether a path can be read, and the names of its pages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from rag_engine.errors import InputError
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.text.wording import ENGLISH, Wording

# Folders in which Linux shows its own state as files.
_OF_SYSTEM = ("/proc", "/sys")

PageName = Literal["page", "slide", "sheet", ""]

_KINDS: tuple[tuple[PageName, str], ...] = (
    ("slide", "pptx pptm ppsx ppt pps pot odp otp"),
    ("sheet", "xlsx xlsm xls xlt ods ots"),
    # Their pages are made by the program that prints or shows them, unless a book says where those of its print begin.
    (
        "",
        "docx docm dotx doc dot odt ott fodt rtf html htm xhtml mht mhtml md markdown txt csv tsv tab xml eml msg mbox "
        "epub",
    ),
)
_KIND_OF: dict[str, PageName] = {suffix: kind for kind, suffixes in _KINDS for suffix in suffixes.split()}


def page_kind(file: str) -> PageName:
    """Return the name of a file's pages by its suffix, "" for a text without pages."""
    return _KIND_OF.get(file.rpartition(".")[2].lower(), "page")


def page_cell(file: str, page: int, label: str | None, words: Wording = ENGLISH) -> int | str | None:
    """Return a page as a table names it: its number, or the printed one with its sheet; None without."""
    if label is not None:
        return pages_text(file, {page: label}, words) or None
    return page if page_kind(file) else None


def pages_text(file: str, pages: Mapping[int, str | None], words: Wording = ENGLISH) -> str:
    """Return pages of a file as they are cited: "page 3", "slides 3, 5–7"; "" where it has none.

    `pages` maps each to the number printed on it, "" if it bears none, and None in a file whose pages are numbered as
    they follow. A printed number comes first: "p. 5 (sheet 9)". A book without sheets has it alone.

    >>> print(pages_text("act.pdf", {8: "4", 9: "5"}))
    pp. 4–5 (sheets 8–9)
    """
    kind = page_kind(file)
    printed = {page: label for page, label in sorted(pages.items()) if label}
    told = [_printed_text(kind, printed, words)] if printed else []
    others = sorted(pages.keys() - printed.keys())
    if kind and others:
        # Of a file with printed numbers, a page without is a sheet and nothing else.
        named = "sheet" if any(pages[page] is not None for page in others) else kind
        shown = _runs([(page, str(page)) for page in others])
        told.append(_numbered_text(named, shown, words, several=len(others) > 1))
    return ", ".join(told) if len(told) > 1 else told[0] if told else NO_MESSAGE


def _printed_text(kind: PageName, printed: Mapping[int, str], words: Wording) -> str:
    shown, sheets = _runs(list(printed.items())), _runs([(page, str(page)) for page in printed])
    if not kind or shown == sheets:
        return words.message("pp. {pages}", pages=shown) if len(printed) > 1 else words.message("p. {n}", n=shown)
    if len(printed) > 1:
        return words.message("pp. {pages} (sheets {sheets})", pages=shown, sheets=sheets)
    return words.message("p. {n} (sheet {sheet})", n=shown, sheet=sheets)


def _numbered_text(kind: PageName, shown: str, words: Wording, *, several: bool) -> str:
    match kind, several:
        case "page", True:
            return words.message("pages {pages}", pages=shown)
        case "page", _:
            return words.message("page {n}", n=shown)
        case "slide", True:
            return words.message("slides {pages}", pages=shown)
        case "slide", _:
            return words.message("slide {n}", n=shown)
        case _, True:
            return words.message("sheets {pages}", pages=shown)
        case _:
            return words.message("sheet {n}", n=shown)


def _runs(named: Sequence[tuple[int, str]]) -> str:
    """Return the names of pages, of those that follow each other the first and the last."""
    runs: list[list[str]] = []
    for place, (page, name) in enumerate(named):
        if place and page == named[place - 1][0] + 1 and _follows(name, named[place - 1][1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _follows(name: str, before: str) -> bool:
    if name.isdecimal() and before.isdecimal():
        return int(name) == int(before) + 1
    return not name.isdecimal() and not before.isdecimal()


def is_of_system(path: Path) -> bool:
    """Return whether a path leads to the folders in which the system shows itself as files.

    Such files have no size, and may never end.
    """
    return any(Path(os.path.realpath(path)).is_relative_to(folder) for folder in _OF_SYSTEM)


def why_no_file(path: Path, folder: Path | None = None) -> Message:
    """Return why a path cannot be read as a document, or "".

    `folder` is the folder that is being walked. A device or pipe may never end, and a link out of the folder leads to
    files that nobody asked for.
    """
    # From os.path: a link to itself makes Path.resolve raise.
    if folder is not None and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        return Message("{file} is a link that leads out of the folder", file=path.name)
    # Neither there nor reachable: what is wrong is reported when it is read.
    if not os.path.exists(path):  # noqa: PTH110 - Path's raises for too long a name
        return NO_MESSAGE
    if is_of_system(path):
        return Message("{file} is made by the system and is no file of a disk", file=path.name)
    if os.path.isfile(path):  # noqa: PTH113 - as above
        return NO_MESSAGE
    if path.is_dir():
        return Message("{file} is a folder and no file", file=path.name)
    if path.is_fifo():
        return Message("{file} is a pipe and no file", file=path.name)
    if path.is_socket():
        return Message("{file} is a socket and no file", file=path.name)
    return Message("{file} is a device and no file", file=path.name)


def check_file(path: Path) -> None:
    """Raise InputError for a folder, pipe, socket or device.

    A missing file passes: its reader reports it.
    """
    if why := why_no_file(path):
        raise InputError(f"{path} cannot be read: {why}.", help="Name a file.")
