"""Language of the pages that each person has chosen, in one file of the workspace."""

from __future__ import annotations

import json
from pathlib import Path

from filelock import FileLock

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.person import Person
from rag_engine.workspace import make_folder, read_json


def chosen_language(workspace: Path, person: Person) -> str:
    """Return the code of the language that a person has chosen; "" for somebody who has chosen none."""
    return str(read_json(_file(workspace)).get(person.key, ""))


def are_languages_damaged(workspace: Path) -> bool:
    """Return whether the languages that were chosen cannot be read."""
    return _file(workspace).exists() and not read_json(_file(workspace))


def choose_language(workspace: Path, person: Person, language: str) -> None:
    """Keep the language that a person has chosen, by its code, for every session from now on."""
    make_folder(workspace)
    path = _file(workspace)
    with FileLock(path.with_suffix(".lock")):
        chosen = read_json(path) | {person.key: language}
        write_atomic(path, json.dumps(chosen, indent=1, sort_keys=True).encode(), durable=True)


def _file(workspace: Path) -> Path:
    return workspace / "languages.json"
