"""People who have logged in to a workspace, with their roles, in one file of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.person import ROLES, Person, PersonRole
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.workspace import make_folder

_CODEC = TypeAdapter(tuple[Person, ...])
_LONGEST = 200


def known_people(workspace: Path) -> tuple[Person, ...]:
    """Return the people who have a role in a workspace; WorkspaceError for a file that cannot be read."""
    path = _file(workspace)
    try:
        return _CODEC.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except ValidationError as error:
        # Not the error's own words: they quote what is in the file, to whoever logs in.
        why = error.errors(include_input=False)[0]["msg"].rstrip(".")
        raise WorkspaceError(
            "The file of people {path} cannot be read: {error}.", help="Repair that file.", path=path, error=why
        ) from error


def welcome(workspace: Path, key: str, name: str) -> Person:
    """Return the person of this key with the present name and role; whoever is new is a reader from now on."""
    shown = name[:_LONGEST]
    found = next((one for one in known_people(workspace) if one.key == key), None)
    if found is not None and found.name == shown:
        return found
    with _changing(workspace) as people:
        role: PersonRole = people[key].role if key in people else "reader"
        people[key] = Person(shown, key, role)
        return people[key]


def give_role(workspace: Path, address: str, role: str) -> tuple[PersonRole | None, Person]:
    """Give a person a role; return the one before, None for somebody new, and the person.

    InputError for a role or address that there is not, and where no admin would be left.
    """
    wanted = next((one for one in ROLES if one == role.strip().lower()), None)
    if wanted is None:
        raise InputError("{role!r} is no role.", help="Give one of {roles}.", role=role, roles=", ".join(ROLES))
    key = address.strip().casefold()
    with _changing(workspace) as people:
        found = people.get(key) or people.get(address.strip())
        if found is None and ("@" not in key or len(key) > _LONGEST):
            raise InputError(
                "{address!r} is no address.", help="`sextant people` lists those who have logged in.", address=address
            )
        admins = {one.key for one in people.values() if one.role == "admin"}
        if found is not None and admins == {found.key} and wanted != "admin":
            raise InputError("{name} is the only admin.", help="Make somebody else an admin first.", name=found.name)
        after = replace(found, role=wanted) if found else Person(key, key, wanted)
        people[after.key] = after
        return found.role if found else None, after


def _file(workspace: Path) -> Path:
    return workspace / "people.json"


@contextmanager
def _changing(workspace: Path) -> Iterator[dict[str, Person]]:
    """Yield the people by key, and write what the block has made of them."""
    path = _file(workspace)
    make_folder(workspace)
    with FileLock(path.with_suffix(".lock")):
        people = {one.key: one for one in known_people(workspace)}
        yield people
        write_atomic(path, _CODEC.dump_json(tuple(people.values()), indent=1), durable=True, private=True)
