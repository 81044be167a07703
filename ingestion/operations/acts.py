"""Roles that the acts take, their check in every act, and the entry of a change in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ingestion.records.audit import AuditEntry, append_entry, begun, name_begun
from ingestion.records.source_store import now
from rag_engine.backends.sqlite_copy import keep_records
from rag_engine.conversations.person import Person, PersonRole
from rag_engine.errors import InputError

# Every act of a person, with the least role that it takes and what it does in words.
ACTS: Mapping[str, tuple[PersonRole, str]] = {
    # answers
    "queue_gate": ("curator", "Checking the answers"),
    "measure_gate": ("curator", "Checking the answers"),
    # backups
    "backup": ("admin", "Backing up the workspace"),
    "queue_backup": ("admin", "Backing up the workspace"),
    "keep_backup": ("admin", "Backing up the workspace"),
    "list_backups": ("admin", "Listing backups"),
    "backup_bytes": ("admin", "Downloading a backup"),
    "delete_backup": ("admin", "Deleting a backup"),
    "restore": ("admin", "Restoring a backup"),
    "bring_back": ("admin", "Repairing the workspace"),
    "take_up_journal": ("admin", "Repairing the workspace"),
    "read_again": ("admin", "Repairing the workspace"),
    "complete_records": ("admin", "Repairing the workspace"),
    # comparisons
    "list_comparisons": ("reader", "Listing comparisons"),
    "find_comparison": ("reader", "Opening a comparison"),
    "begin_comparison": ("curator", "Beginning a comparison"),
    "extend_comparison": ("curator", "Extending a comparison"),
    "continue_comparison": ("curator", "Continuing a comparison"),
    "shrink_comparison": ("curator", "Removing part of a comparison"),
    "ask_comparison": ("curator", "Asking the cells of a comparison"),
    "ask_cell_again": ("curator", "Asking the cells of a comparison"),
    "ask_columns_again": ("curator", "Asking the cells of a comparison"),
    "rename_comparison": ("curator", "Renaming a comparison"),
    "remove_comparison": ("curator", "Removing a comparison"),
    "restore_comparison": ("curator", "Restoring a comparison"),
    "comparison_runs": ("reader", "Looking at runs"),
    "exported_comparison": ("reader", "Exporting a comparison"),
    "export_comparison": ("reader", "Exporting a comparison"),
    # corrections
    "correct": ("curator", "Correcting a document"),
    "agree": ("curator", "Confirming values"),
    "undo": ("curator", "Undoing a correction"),
    "correction_history": ("reader", "Reading the history of a document"),
    "read_edited": ("reader", "Reading a workbook"),
    "import_corrections": ("curator", "Importing corrections"),
    "find_described": ("reader", "Reading a description"),
    "describe_record": ("reader", "Reading a description"),
    "describe_records": ("reader", "Reading descriptions"),
    "relabel": ("curator", "Updating titles in the index"),
    "restore_corrections": ("curator", "Restoring corrections"),
    # dataset
    "export_dataset": ("reader", "Exporting the dataset"),
    "exported_bytes": ("reader", "Exporting the dataset"),
    # decisions
    "decide": ("curator", "Deciding on a source"),
    # the way to the worker
    "queue_action": ("curator", "Starting a run"),
    "queue_once": ("curator", "Starting a run"),
    "queue_run": ("curator", "Starting a run"),
    # documents
    "add_files": ("curator", "Adding documents"),
    "queue_files": ("curator", "Adding documents"),
    "queue_uploads": ("curator", "Adding documents"),
    "preview_upload": ("curator", "Uploading a file"),
    "add_sample": ("curator", "Adding the invented samples"),
    "erase": ("curator", "Deleting a document"),
    "queue_erasure": ("curator", "Deleting a document"),
    "unfinished_erasures": ("reader", "Looking at erasures"),
    "resume_erasures": ("reader", "Finishing an erasure"),
    "finish_erasures": ("reader", "Finishing an erasure"),
    "preview_index_table": ("curator", "Applying an index"),
    "applied_index_tables": ("reader", "Looking at indexes"),
    "is_listed": ("reader", "Reading the list of sources"),
    "sources_erased_with": ("reader", "Reading the list of sources"),
    "apply_index_table": ("curator", "Applying an index"),
    "remove_index_table": ("curator", "Removing an index"),
    "ground": ("curator", "Building the knowledge base"),
    "export_knowledge_base": ("reader", "Exporting the knowledge base"),
    # evaluation
    "keep_answer": ("curator", "Keeping a test question"),
    "is_kept_answer": ("reader", "Looking at test questions"),
    "share_rating": ("reader", "Sharing a rating"),
    "is_shared_rating": ("reader", "Reading ratings"),
    "list_feedback": ("reader", "Reading ratings"),
    "good_answers": ("reader", "Reading ratings"),
    "keep_good_answers": ("curator", "Keeping test questions"),
    "put_question": ("curator", "Writing a test question"),
    "remove_questions": ("curator", "Removing test questions"),
    "restore_questions": ("curator", "Restoring test questions"),
    "import_questions": ("curator", "Importing test questions"),
    "exported_questions": ("reader", "Exporting test questions"),
    "export_questions": ("reader", "Exporting test questions"),
    "queue_test": ("curator", "Asking the test questions"),
    "ask_test_questions": ("curator", "Asking the test questions"),
    # indexes
    "rebuild": ("curator", "Rebuilding the index"),
    "queue_rebuild": ("curator", "Rebuilding the index"),
    "accept_index": ("admin", "Accepting what answers are measured by"),
    "discard_index": ("admin", "Discarding an index"),
    "queue_decision": ("admin", "Deciding on an index"),
    # language models
    "list_models": ("admin", "Listing language models"),
    "queue_pull": ("admin", "Downloading a language model"),
    "pull": ("admin", "Downloading a language model"),
    "use_model": ("admin", "Choosing a language model"),
    "try_model": ("admin", "Trying a language model"),
    # library
    "chosen_columns": ("reader", "Reading the columns"),
    "choose_columns": ("reader", "Choosing columns"),
    "saved_filters": ("reader", "Reading saved filters"),
    "save_filters": ("reader", "Saving filters"),
    "delete_filters": ("reader", "Deleting saved filters"),
    # people
    "list_people": ("admin", "Seeing who has which role"),
    "set_role": ("admin", "Giving a role"),
    "audit_entries": ("admin", "Reading the audit log"),
    "exported_audit": ("admin", "Exporting the audit log"),
    # runs
    "run": ("curator", "Starting a run"),
    "control": ("curator", "Controlling a run"),
    "unfinished_runs": ("reader", "Looking at runs"),
    "understand": ("curator", "Starting a run in words"),
    # settings
    "list_settings": ("reader", "Reading the settings"),
    "change_setting": ("admin", "Changing a setting"),
    "reset_setting": ("admin", "Resetting a setting"),
    # sources
    "read_list": ("curator", "Reading a list of sources"),
    "add_list": ("curator", "Adding sources"),
    "add_sources": ("curator", "Adding sources"),
    "correct_address": ("curator", "Correcting an address"),
    "add_own_files": ("curator", "Adding sources"),
    "discover_sources": ("curator", "Looking for sources"),
    "remove_sources": ("admin", "Removing sources"),
    "queue_removal": ("admin", "Removing sources"),
    "own_files": ("reader", "Finding own files"),
}

# Acts that `enter` what they changed: they are in the audit log before they begin, with what they are upon. Of some the
# first argument names it, of others it is always the same. The last ones name it themselves (`name_act`), before they
# change anything: what a person called a document may be its title, which is not to stay in the log. An erasure enters
# its beginning itself, and a restored workspace is not there when its restoring begins.
_NAMING = frozenset({
    "add_files", "apply_index_table", "backup", "change_setting", "correct_address", "decide", "delete_backup",
    "import_corrections", "pull", "remove_index_table", "remove_sources", "reset_setting", "set_role",
})  # fmt: skip
_ALWAYS_UPON = {
    "accept_index": "index",
    "bring_back": "catalog",
    "discard_index": "index",
    "ground": "knowledge base",
    "measure_gate": "answers",
    "read_again": "documents",
    "rebuild": "index",
    "take_up_journal": "decisions and corrections",
}
NAMED_INSIDE = frozenset({
    "add_sources", "agree", "ask_cell_again", "ask_columns_again", "ask_comparison",
    "begin_comparison", "control", "correct", "extend_comparison", "remove_comparison", "rename_comparison",
    "restore_comparison", "run", "shrink_comparison", "undo",
})  # fmt: skip
ENTERED = _NAMING | _ALWAYS_UPON.keys() | NAMED_INSIDE
# Where the log has another name for it, as it is the same act by another door.
_NAME_IN_LOG = {"add_list": "add_sources"}


class ActingPlace(Protocol):
    """A workspace with the person who acts in it."""

    @property
    def person(self) -> Person:
        """Who acts."""

    @property
    def workspace(self) -> Path:
        """Folder of the workspace."""


@dataclass(frozen=True, slots=True)
class ClosedDesk:
    """A workspace with an unopened collection, for acts upon its settings, people and audit log."""

    workspace: Path
    person: Person


AnyPlace = TypeVar("AnyPlace", bound=ActingPlace)
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def act(function: Callable[Concatenate[AnyPlace, Given], Returned]) -> Callable[Concatenate[AnyPlace, Given], Returned]:
    """Have a function of the table check the role of who acts and enter its beginning first."""
    name = function.__name__
    if name not in ACTS:
        raise KeyError(f"{name} declares no role: name it in ACTS.")

    @wraps(function)
    def checked(desk: AnyPlace, /, *args: Given.args, **kwargs: Given.kwargs) -> Returned:
        check_role(desk.person, name)
        in_log = _NAME_IN_LOG.get(name, name)
        if in_log not in ENTERED:
            return function(desk, *args, **kwargs)
        on = _named(args[0]) if name in _NAMING and args else _ALWAYS_UPON.get(in_log, "")
        with begun(desk.workspace, _entry(desk, in_log, on, by=str(kwargs.get("author", "")))):
            return function(desk, *args, **kwargs)

    return checked


def _named(value: object) -> str:
    """Return what an argument names: a name, a file by its own name, or several of them."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_named(one) for one in value)
    return str(value)


def missing_role(person: Person, name: str) -> PersonRole | None:
    """Return the role that a person would need for an act; None where the person may do it."""
    least, _words = ACTS[name]
    return None if person.has_role(least) else least


def check_role(person: Person, name: str) -> None:
    """Raise InputError where the role of a person is not enough for an act; it says who can change that."""
    least = missing_role(person, name)
    if least is None:
        return
    raise InputError(
        "{act} takes the role curator; you are a reader."
        if least == "curator"
        else "{act} takes the role admin; you are a reader."
        if person.role == "reader"
        else "{act} takes the role admin; you are a curator.",
        help="An admin can give it to you, on the People tab of the Admin page or with `sextant people set`.",
        act=ACTS[name][1],
    )


def signed(desk: ActingPlace, author: str) -> str:
    """Return the name that an act bears; InputError where nobody is named.

    That is the person who is logged in, whatever else is given. Where nobody logs in it is the name that is given.
    """
    name = (desk.person.name if desk.person.key else author).strip()
    if not name:
        raise InputError("A decision needs the name of who decides.", help="Give your name; it is kept.")
    return name


def name_act(desk: ActingPlace, on: str, by: str = "") -> None:
    """Enter what the act under way is upon, by a name that may stay, before it changes anything."""
    person = desk.person
    name_begun(on, (by if person.key else by.strip()) or person.name)


def enter(desk: ActingPlace, name: str, on: str, note: str = "", by: str = "") -> None:
    """Enter an act that was done in the audit log.

    It is by the name of the person or by the one that `signed` returned. What it changed in the catalog is then in the
    second copy of its records too.
    """
    append_entry(desk.workspace, _entry(desk, name, on, note, by))
    keep_records(desk.workspace)


@contextmanager
def entered_as_begun(desk: ActingPlace, name: str, on: str, note: str = "", by: str = "") -> Iterator[None]:
    """Enter that an act begins, or goes on where one upon the same was broken off, and how it ends."""
    with begun(desk.workspace, _entry(desk, name, on, note, by), resumes=True):
        yield


def _entry(desk: ActingPlace, name: str, on: str, note: str = "", by: str = "") -> AuditEntry:
    person = desk.person
    by = by.strip() if by and not person.key else by
    return AuditEntry(now(), by or person.name, person.key, name, on, note.strip())
