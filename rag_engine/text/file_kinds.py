"""Kinds of files: whether a path can be read, and the names of its pages."""

from __future__ import annotations

import os
from collections.abc import Iterable
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
    # Their pages are made by the program that prints or shows them.
    ("", "docx docm dotx doc dot odt ott rtf html htm xhtml md markdown txt csv tsv tab"),
)
_KIND_OF: dict[str, PageName] = {suffix: kind for kind, suffixes in _KINDS for suffix in suffixes.split()}


def page_kind(file: str) -> PageName:
    """Return the name of a file's pages by its suffix, "" for a text without pages."""
    return _KIND_OF.get(file.rpartition(".")[2].lower(), "page")


def page_number(file: str, page: int) -> int | None:
    """Return the number by which a page of a file is cited, None for a text without pages."""
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
        return NO_MESSAGE
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
