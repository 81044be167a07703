"""Kinds of files: what is read is a file, no pipe that never ends and no device."""

from __future__ import annotations

import os
from pathlib import Path

from rag_engine.errors import InputError
from rag_engine.text.templates import kept_sentence


def why_no_file(path: Path, folder: Path | None = None) -> str:
    """Return why a path is nothing to be read as a document, or ""; `folder` is the one that is being walked.

    A device or pipe may never end, and a link out of the folder leads to what nobody asked for.
    """
    # Of os.path: a link to itself makes Path.resolve raise.
    if folder is not None and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        return kept_sentence("{file} is a link that leads out of the folder", file=path.name)
    # Neither there nor reachable: what is wrong is reported when it is read.
    if not os.path.exists(path) or os.path.isfile(path):  # noqa: PTH110, PTH113 - Path's raise for too long a name
        return ""
    if path.is_dir():
        return kept_sentence("{file} is a folder and no file", file=path.name)
    if path.is_fifo():
        return kept_sentence("{file} is a pipe and no file", file=path.name)
    if path.is_socket():
        return kept_sentence("{file} is a socket and no file", file=path.name)
    return kept_sentence("{file} is a device and no file", file=path.name)


def check_file(path: Path) -> None:
    """Raise InputError for a folder, pipe, socket or device; a file that is not there is for who reads it to say."""
    if why := why_no_file(path):
        raise InputError(f"{path} cannot be read: {why}.", help="Name a file.")
