"""Language of the pages that each person has chosen."""

from __future__ import annotations

from pathlib import Path

from rag_engine.conversations.person import Person
from rag_engine.storage.records import bodies, reading, write_record, writing

_KIND = "language"


def chosen_language(workspace: Path, person: Person) -> str:
    """Return the code of the language that a person has chosen; "" for somebody who has chosen none."""
    with reading(workspace) as connection:
        return bodies(connection, _KIND).get(person.key, "")


def choose_language(workspace: Path, person: Person, language: str) -> None:
    """Keep the language that a person has chosen, by its code, for every session from now on."""
    with writing(workspace) as connection:
        write_record(connection, _KIND, person.key, language, person.key)
