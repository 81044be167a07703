"""Kinds of jobs: number of attempts, ways to stop, and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Stop = Literal["pause", "cancel", "undo", ""]


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job.

    `keeps`: finished parts stay, so an attempt that comes further counts from one again. `reads`: a language model
    reads passages for it. `stop`: it can be paused and cancelled, only cancelled, or undone until its work begins.
    `counted` says what its progress counts; `title` is "" if pages show the name of its object. Both are English, and
    pages translate them.
    """

    counted: str = "{done} of {total} documents"
    title: str = ""
    attempts: int = 2
    keeps: bool = False
    reads: bool = False
    stop: Stop = ""


KINDS: Mapping[str, JobKind] = {
    # A file that ends its worker, for want of memory say, would end the next one too: it is set aside after two of
    # them, so that an addition needs two attempts for each of these, and one for the rest.
    "add": JobKind("{done} of {total} files", attempts=7, stop="cancel"),
    "backup": JobKind("{done} of {total} MB", "Backing up the workspace", stop="cancel"),
    "compare": JobKind("{done} of {total} cells", attempts=10, keeps=True, reads=True, stop="pause"),
    "decide": JobKind(),
    "erase": JobKind(keeps=True, stop="undo"),
    "gate": JobKind("{done} of {total} questions", reads=True, stop="cancel"),
    "ground": JobKind(
        "{done} of {total} entries", "Building the knowledge base", attempts=10, keeps=True, reads=True, stop="pause"
    ),
    "pull": JobKind("{done} of {total} MB", "Downloading a language model", attempts=10, keeps=True, stop="cancel"),
    # It counts documents, then the questions that check it.
    "rebuild": JobKind("{done} of {total} done", stop="cancel"),
    "relabel": JobKind(title="Updating titles in the index"),
    "remove": JobKind("{done} of {total} sources", stop="undo"),
    "run": JobKind("{done} of {total} sources", attempts=10, keeps=True, stop="pause"),
    "test": JobKind(
        "{done} of {total} questions", "Asking the test questions", attempts=10, keeps=True, reads=True, stop="pause"
    ),
}
