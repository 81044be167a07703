"""Person who uses a workspace, with a role, and whose records are open to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, get_args

PersonRole = Literal["reader", "curator", "admin"]

# From the least rights to the most; each role includes the ones before it.
ROLES: tuple[PersonRole, ...] = get_args(PersonRole)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who uses a workspace: the name that others see, the key that identifies, and the role.

    The key is a verified address, in lower case, or the identity: the issuer and its subject. It is empty for the one
    person of a machine without logins. An address that was given a role has no identity until the first login.
    """

    name: str
    key: str
    role: PersonRole
    identity: str = ""

    def has_role(self, least: PersonRole) -> bool:
        """Return whether the person's role is this one or a higher one.

        >>> Person("Ann", "ann@example.org", "curator").has_role("reader")
        True
        """
        return ROLES.index(self.role) >= ROLES.index(least)


# The one person of a machine without logins, who may do everything.
LOCAL = Person("", "", "admin")


class OwnedRecord(Protocol):
    """A record that is its owner's alone, unless it is shared."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""

    @property
    def owner(self) -> str:
        """Key of the owner; empty for the local person."""

    @property
    def shared_by(self) -> str:
        """Name of the person who shared it with everybody; empty if it is private."""


class SharedRecord:
    """A record of the workspace, which no person owns."""

    __slots__ = ()
    owner: ClassVar = ""
    shared_by: ClassVar = ""


def owns(person: Person, owner: str) -> bool:
    """Return whether a record of this owner belongs to the person.

    Records of the local person belong to the admins as well.

    >>> owns(Person("ann", "Ann", "reader"), "bob")
    False
    """
    return owner == person.key or (not owner and person.role == "admin")


def may_read(person: Person, record: OwnedRecord) -> bool:
    """Return whether a person may read a record: their own, or a shared one."""
    return bool(record.shared_by) or owns(person, record.owner)
