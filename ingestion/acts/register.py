"""Acts of people: the role that each takes, its check, and the entry of a change in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from ingestion.records.audit import AuditEntry, append_entry, begun, name_begun
from ingestion.records.source_store import now
from rag_engine.conversations.person import Person, PersonRole
from rag_engine.errors import InputError
from rag_engine.messages import Message, change_texts


@dataclass(frozen=True, slots=True)
class DeclaredAct:
    """An act of a person: its name, its least role, and its title in English.

    `entered`: the audit log has it before it begins. An erasure enters its beginning itself; a restored workspace is
    not there when its restoring begins.
    """

    name: str
    role: PersonRole
    title: str
    entered: bool = False


_ACTS: dict[str, DeclaredAct] = {}


class ActingPlace(Protocol):
    """A workspace with the person who acts in it."""

    @property
    def person(self) -> Person:
        """Who acts."""

    @property
    def workspace(self) -> Path:
        """Folder of the workspace."""


@dataclass(frozen=True, slots=True)
class ClosedContext:
    """A workspace whose collection is not opened, for acts upon settings, people and audit log."""

    workspace: Path
    person: Person


AnyPlace = TypeVar("AnyPlace", bound=ActingPlace)
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def act(
    role: PersonRole, title: str = "", *, on: str | None = None, on_first: bool = False
) -> Callable[[Callable[Concatenate[AnyPlace, Given], Returned]], Callable[Concatenate[AnyPlace, Given], Returned]]:
    """Declare a function as an act, which first checks the role of who acts and enters its beginning.

    `on` or `on_first` (the first argument) says what the entry is upon. With "" the act names its object (`name_act`)
    before it changes anything. A person's name for a document may be its title, which must not stay in the log. An act
    of readers needs no title.
    """

    def declared(
        function: Callable[Concatenate[AnyPlace, Given], Returned],
    ) -> Callable[Concatenate[AnyPlace, Given], Returned]:
        this = DeclaredAct(function.__name__, role, title, on is not None or on_first)
        _ACTS[this.name] = this

        @wraps(function)
        def checked(context: AnyPlace, /, *args: Given.args, **kwargs: Given.kwargs) -> Returned:
            check_role(context.person, this)
            if not this.entered:
                return function(context, *args, **kwargs)
            upon = _named(args[0]) if on_first and args else on or ""
            with begun(context.workspace, _entry(context, this.name, upon, by=str(kwargs.get("author", "")))):
                return function(context, *args, **kwargs)

        return checked

    return declared


@cache
def every_act() -> Mapping[str, DeclaredAct]:
    """Return every act by its name."""
    for file in Path(__file__).parent.glob("*.py"):
        import_module(f"ingestion.acts.{file.stem}")
    return _ACTS


def _named(value: object) -> str:
    """Return what an argument names: a name, a file by its own name, or several of them."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_named(one) for one in value)
    return str(value)


def missing_role(person: Person, act: DeclaredAct) -> PersonRole | None:
    """Return the role that a person would need for an act; None if the person may do it.

    >>> missing_role(Person("Ada", "", "reader"), DeclaredAct("erase", "curator", "Deleting a document", True))
    'curator'
    """
    return None if person.has_role(act.role) else act.role


def check_role(person: Person, act: DeclaredAct) -> None:
    """Raise InputError if the role of a person is not enough for an act; it says who can change that."""
    least = missing_role(person, act)
    if least is None:
        return
    raise InputError(
        "{act} takes the role curator; you are a reader."
        if least == "curator"
        else "{act} takes the role admin; you are a reader."
        if person.role == "reader"
        else "{act} takes the role admin; you are a curator.",
        help="An admin can give it to you, on the People tab of the Admin page or with `sextant people set`.",
        act=Message(act.title),
    )


def signed(context: ActingPlace, author: str) -> str:
    """Return the name that an act bears; InputError if nobody is named.

    It is the person who is logged in, if there is one, and not the given author. Where nobody logs in it is the name
    that is given.
    """
    name = (context.person.name if context.person.key else author).strip()
    if not name:
        raise InputError("A decision needs the name of who decides.", help="Give your name; it is kept.")
    return name


def name_act(context: ActingPlace, on: str, by: str = "") -> None:
    """Enter the object of the act under way by a name for the log, before anything changes."""
    person = context.person
    name_begun(Message(on), (by if person.key else by.strip()) or person.name)


def enter(context: ActingPlace, on: str, note: str = "", by: str = "", act: str = "") -> None:
    """Enter the object of the act under way in the audit log, or another act as a part of it.

    It is by the name of the person or by the one that `signed` returned.
    """
    append_entry(context.workspace, _entry(context, act, on, note, by))


@contextmanager
def entered_as_begun(context: ActingPlace, name: str, on: str, note: str = "", by: str = "") -> Iterator[None]:
    """Enter that an act begins, or resumes an interrupted one on the same object, and how it ends."""
    with begun(context.workspace, _entry(context, name, on, note, by), resumes=True):
        yield


def _entry(context: ActingPlace, name: str, on: str, note: str = "", by: str = "") -> AuditEntry:
    person = context.person
    by = by.strip() if by and not person.key else by
    return AuditEntry(now(), by or person.name, person.key, name, Message(on), Message(change_texts(note, str.strip)))
