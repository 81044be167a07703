"""Kinds of jobs: title, words of the result, number of attempts, ways to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ingestion.types.run import describe_request
from rag_engine.text.wording import ENGLISH, Wording

if TYPE_CHECKING:
    from ingestion.jobs.queue import Job

Stop = Literal["pause", "cancel", "undo", ""]
Result = Mapping[str, Any]

# Sources that a title names.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job.

    `title` says what a job does, and `variant` names an argument with the title of a job that has it. `counted` says
    what its progress counts, `told` what a result is. Text is English, and pages translate it.

    `keeps`: finished parts stay, so an attempt that comes further counts from one again. `reads`: a language model
    reads passages for it. `stop`: it can be paused and cancelled, only cancelled, or undone until its work begins.
    """

    title: str | Callable[[Job, Wording], str]
    counted: str = "{done} of {total} documents"
    attempts: int = 2
    keeps: bool = False
    reads: bool = False
    stop: Stop = ""
    variant: tuple[str, str] = "", ""
    told: Callable[[Result, Wording], str] = lambda _result, _words: ""


def _add(job: Job, words: Wording) -> str:
    paths: Sequence[str] = job.arguments["paths"]
    if len(paths) == 1:
        return words.message("Adding {name}", name=Path(paths[0]).name)
    return words.counted("Adding {n} file", "Adding {n} files", len(paths))


def _compare(job: Job, words: Wording) -> str:
    first, *others = job.arguments["questions"]
    if not others:
        return words.message("Comparing: {question}", question=first)
    return words.counted(
        "Comparing: {question} and {n} more", "Comparing: {question} and {n} more", len(others), question=first
    )


def _erase(job: Job, words: Wording) -> str:
    if len(job.documents) > 1:
        return words.counted("Deleting {n} document", "Deleting {n} documents", len(job.documents))
    file = job.results[0]["file"] if job.results else words.value("document", job.documents[0])
    return words.message("Deleting {name}", name=file)


def _remove(job: Job, words: Wording) -> str:
    codes = job.arguments["codes"]
    listed = ", ".join([*codes[:_NAMED], *(["…"] if len(codes) > _NAMED else [])])
    return words.counted("Removing {n} source: {codes}", "Removing {n} sources: {codes}", len(codes), codes=listed)


def _run(job: Job, words: Wording) -> str:
    return describe_request(job.request, wording=words)


def _told_backup(result: Result, words: Wording) -> str:
    return words.counted(
        "{file}: {n} document, {size} MB",
        "{file}: {n} documents, {size} MB",
        int(result["documents"]),
        file=Path(str(result["file"])).name,
        size=words.number(int(result["size"]) / 1e6, 1),
    )


def _told_compare(result: Result, words: Wording) -> str:
    from ingestion.dataset.comparison.comparison import describe_counts

    asked, failed = int(result["asked"]), int(result["failed"])
    if failed:
        done = words.counted(
            "{n} cell asked, {failed} failed.", "{n} cells asked, {failed} failed.", asked, failed=failed
        )
    else:
        done = words.counted("{n} cell asked.", "{n} cells asked.", asked)
    if not result.get("counts"):
        return " ".join((done, words.message("The comparison was deleted meanwhile.")))
    return " ".join((done, words.message("Now {state}.", state=describe_counts(result["counts"], words))))


def _told_erase(result: Result, words: Wording) -> str:
    gone = {"passages": words.number(int(result["children"])), "vectors": words.number(int(result["vectors"]))}
    if left := ", ".join(map(words.kept, result["left_behind"])):
        return words.message(
            "{passages} passages and {vectors} vectors removed and checked: still found: {left}", **gone, left=left
        )
    return words.message("{passages} passages and {vectors} vectors removed and checked: nothing left behind.", **gone)


def _told_ground(result: Result, words: Wording) -> str:
    from rag_engine.grounding.build import GroundingSummary

    return GroundingSummary(**result).describe(words)


def _told_pull(result: Result, words: Wording) -> str:
    """Return the model that was downloaded, its answer to the test question, and in which time."""
    ready = words.message("{model} is ready.", model=result["model"])
    if "answer" not in result:
        return ready
    tried = {
        "seconds": words.message("{n} s", n=words.number(float(result["seconds"]), 1)),
        "answer": result["answer"],
    }
    right = words.message("Test question answered in {seconds}: {answer}", **tried)
    wrong = words.message("Test question answered wrongly in {seconds}, try a larger model: {answer}", **tried)
    return f"{ready} {right if result['right'] else wrong}"


def _told_test(result: Result, words: Wording) -> str:
    return words.counted(
        "{n} question asked; the Evaluation page has the results.",
        "{n} questions asked; the Evaluation page has the results.",
        int(result["questions"]),
    )


KINDS: Mapping[str, JobKind] = {
    # A file that ends its worker, for want of memory say, would end the next one too: it is set aside after two of
    # them, so that an addition needs two attempts for each of these, and one for the rest.
    "add": JobKind(_add, "{done} of {total} files", attempts=7, stop="cancel"),
    "backup": JobKind("Backing up the workspace", "{done} of {total} MB", stop="cancel", told=_told_backup),
    "compare": JobKind(
        _compare, "{done} of {total} cells", attempts=10, keeps=True, reads=True, stop="pause", told=_told_compare
    ),
    "decide": JobKind("Discarding the waiting index", variant=("accept", "Putting the waiting index in place")),
    "erase": JobKind(_erase, keeps=True, stop="undo", told=_told_erase),
    "gate": JobKind(
        "Checking the answers",
        "{done} of {total} questions",
        reads=True, stop="cancel", variant=("accept", "Accepting the current answers"),
    ),
    "ground": JobKind(
        "Building the knowledge base",
        "{done} of {total} entries",
        attempts=10, keeps=True, reads=True, stop="pause", told=_told_ground,
    ),
    "pull": JobKind(
        "Downloading a language model", "{done} of {total} MB", attempts=10, keeps=True, stop="cancel", told=_told_pull
    ),
    # It counts documents, then the questions that check it.
    "rebuild": JobKind(
        "Rebuilding the indexes",
        "{done} of {total} done",
        stop="cancel", variant=("encode", "Encoding every document again"),
    ),
    "relabel": JobKind("Updating titles in the index"),
    "remove": JobKind(_remove, "{done} of {total} sources", stop="undo"),
    "run": JobKind(_run, "{done} of {total} sources", attempts=10, keeps=True, stop="pause"),
    "test": JobKind(
        "Asking the test questions",
        "{done} of {total} questions",
        attempts=10, keeps=True, reads=True, stop="pause", told=_told_test,
    ),
}  # fmt: skip


def title_of(job: Job, words: Wording = ENGLISH) -> str:
    """Return what a job does, in words."""
    kind = KINDS[job.kind]
    argument, variant = kind.variant
    title = variant if job.arguments.get(argument) else kind.title
    return words.kept(title) if isinstance(title, str) else title(job, words)
