"""Kinds of jobs: how often the worker tries them, what stops them, and what they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Stop = Literal["pause", "cancel", "undo", ""]


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job.

    `keeps`: what it has done stays done, so an attempt that comes further counts anew. `reads`: a language model reads
    passages for it. `stop`: it can be paused and cancelled, only cancelled, or undone until its work begins.
    `counted` says what its progress counts. Both texts are English, and pages translate them.
    """

    title: str
    counted: str = "{done} of {total} documents"
    attempts: int = 2
    keeps: bool = False
    reads: bool = False
    stop: Stop = ""


KINDS: Mapping[str, JobKind] = {
    # A file that ends its worker, for want of memory say, would end the next one too: it is set aside after two of
    # them, so that an addition needs two attempts for each of these, and one for the rest.
    "add": JobKind("Adding documents", "{done} of {total} files", 7, stop="cancel"),
    "backup": JobKind("Backing up the workspace", "{done} of {total} MB", stop="cancel"),
    "compare": JobKind("Asking the cells of a comparison", "{done} of {total} cells", 10, True, True, "pause"),
    "decide": JobKind("Deciding on an index"),
    "erase": JobKind("Deleting a document", keeps=True, stop="undo"),
    "gate": JobKind("Checking the answers", "{done} of {total} questions", reads=True, stop="cancel"),
    "ground": JobKind("Building the knowledge base", "{done} of {total} entries", 10, True, True, "pause"),
    "pull": JobKind("Downloading a language model", "{done} of {total} MB", 10, keeps=True, stop="cancel"),
    # It counts documents, then the questions that check it.
    "rebuild": JobKind("Rebuilding the index", "{done} of {total} done", stop="cancel"),
    "relabel": JobKind("Updating titles in the index"),
    "remove": JobKind("Removing sources", "{done} of {total} sources", stop="undo"),
    "run": JobKind("Running the phases", "{done} of {total} sources", 10, keeps=True, stop="pause"),
    "test": JobKind("Asking the test questions", "{done} of {total} questions", 10, True, True, "pause"),
}
