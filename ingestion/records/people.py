"""People who have logged in to a workspace, with their roles, among its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.person import ROLES, Person, PersonRole
from rag_engine.errors import InputError
from rag_engine.storage.records import bodies, reading, write_record, writing

_CODEC, _KIND = TypeAdapter(Person), "person"
_LONGEST = 200


def known_people(workspace: Path) -> tuple[Person, ...]:
    """Return the people who have a role in a workspace, in the order in which they came."""
    with reading(workspace) as connection:
        return tuple(map(_CODEC.validate_json, bodies(connection, _KIND).values()))


def welcome(workspace: Path, identity: str, address: str, name: str) -> Person:
    """Return the person of a provider's identity, with the present name and role.

    A new person is a reader. A verified address belongs to the first identity that comes with it, with the role given
    to the address. Later identities, such as those of another provider, gain nothing from it.
    """
    people = _by_key(workspace)
    found = _find(people, identity, address)
    if found is not None and found == _shown(found, identity, name):
        return found
    with writing(workspace):
        people = _by_key(workspace)
        free = address and address not in people
        new = Person("", address if free else identity, "reader")
        person = _shown(_find(people, identity, address) or new, identity, name)
        _keep(workspace, person)
        return person


def _find(people: Mapping[str, Person], identity: str, address: str) -> Person | None:
    """Return who has the address and no other identity, else who has the identity."""
    owner = people.get(address)
    if owner is not None and owner.identity in ("", identity):
        return owner
    return next((person for person in people.values() if person.identity == identity), None)


def _shown(person: Person, identity: str, name: str) -> Person:
    """Return the person under the present name, with the key: a name is what somebody chose."""
    shown = f"{name[:_LONGEST]} ({person.key})" if name else person.key
    return replace(person, name=shown, identity=identity)


def give_role(workspace: Path, address: str, role: str) -> tuple[PersonRole | None, Person]:
    """Give a person a role; return the one before, None for somebody new, and the person.

    InputError for a role or address that there is not, and where no admin would be left.
    """
    wanted = next((one for one in ROLES if one == role.strip().lower()), None)
    if wanted is None:
        raise InputError("{role!r} is no role.", help="Give one of {roles}.", role=role, roles=", ".join(ROLES))
    key = address.strip().casefold()
    with writing(workspace):
        people = _by_key(workspace)
        found = people.get(key) or people.get(address.strip())
        if found is None and ("@" not in key or len(key) > _LONGEST):
            raise InputError(
                "{address!r} is no address.", help="`sextant people` lists those who have logged in.", address=address
            )
        admins = {person.key for person in people.values() if person.role == "admin"}
        if found is not None and admins == {found.key} and wanted != "admin":
            raise InputError("{name} is the only admin.", help="Make somebody else an admin first.", name=found.name)
        after = replace(found, role=wanted) if found else Person(key, key, wanted)
        _keep(workspace, after)
        return found.role if found else None, after


def _by_key(workspace: Path) -> dict[str, Person]:
    return {person.key: person for person in known_people(workspace)}


def _keep(workspace: Path, person: Person) -> None:
    with writing(workspace) as connection:
        write_record(connection, _KIND, person.key, _CODEC.dump_json(person).decode(), person.key)
