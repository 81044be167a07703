"""An admin's words become a request that is confirmed before it runs."""

from __future__ import annotations

import pytest

from ingestion.jobs.plain_language import interpret
from ingestion.types import PHASES, RunRequest
from rag_engine.errors import BackendError

CODES = ("ADM001", "ADM002", "UN-7")


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ("check the licences of the new rows", RunRequest(("licence",))),
        ("run everything", RunRequest(PHASES, which="all")),
        ("retry what failed", RunRequest(PHASES, which="failed")),
        ("Try the failed downloads again", RunRequest(("acquisition",), which="failed")),
        ("download ADM002 and adm001", RunRequest(("acquisition",), ("ADM002", "ADM001"))),
        ("refresh the downloads", RunRequest(("acquisition",), refresh=True)),
        ("verifica le licenze", RunRequest(("licence",))),
        ("vérifier les droits des nouvelles lignes", RunRequest(("licence",))),
        ("Lizenzen prüfen", RunRequest(("licence",))),
        ("lisansları kontrol et", RunRequest(("licence",))),
        ("describe UN-7 and index it", RunRequest(("metadata", "indexing"), ("UN-7",))),
    ],
)
def test_words_in_several_languages_name_phases_sources_and_a_choice(words: str, request_: RunRequest) -> None:
    command = interpret(words, CODES)
    assert command is not None
    assert command.request == request_


@pytest.mark.parametrize("words", ["", "   ", "what is the weather?", "hello"])
def test_what_is_not_about_the_phases_is_not_understood(words: str) -> None:
    assert interpret(words, CODES) is None


class _Model:
    name = "model"

    def __init__(self, said: dict[str, object] | None) -> None:
        self._said = said

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        if self._said is None:
            raise BackendError("away")
        return self._said


def test_a_model_that_invents_codes_reaches_only_those_that_were_named() -> None:
    said: dict[str, object] = {
        "phases": ["quality"], "which": "all", "codes": ["ADM001", "XX9"], "refresh": False, "understood": True,
    }  # fmt: skip
    command = interpret("score ADM001 anew", CODES, _Model(said))
    assert command is not None
    assert command.request == RunRequest(("quality",), ("ADM001",), "all")
    assert command.by == "model"


@pytest.mark.parametrize("said", [None, {}, {"understood": True, "phases": "all", "which": "everything"}])
def test_a_model_that_is_away_or_talks_nonsense_leaves_it_to_the_rules(said: dict[str, object] | None) -> None:
    command = interpret("check the licences", CODES, _Model(said))
    assert command is not None
    assert (command.by, command.request.phases) == ("rules", ("licence",))
