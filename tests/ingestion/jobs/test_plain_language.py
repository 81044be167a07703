from __future__ import annotations

import pytest

from ingestion.jobs.plain_language import Command, interpret
from ingestion.types.run import PHASES, RunRequest
from tests.ingestion.small_web import SmallJudge

CODES = ("ADM001", "ADM002", "UN-7")


def understood(words: str, language_model: SmallJudge | None = None) -> Command:
    command = interpret(words, CODES, language_model)
    assert command is not None
    return command


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ("check the licences of the new rows", RunRequest(("licence",))),
        ("3", RunRequest(("portals",))),
        (" 2, 1. ", RunRequest(("licence", "acquisition"))),
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
    assert understood(words).request == request_


def _all_but(*left_out: str) -> tuple[str, ...]:
    return tuple(phase for phase in PHASES if phase not in left_out)


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        ("only check licences, do not download", RunRequest(("licence",))),
        ("don't download, extract or index, only check licences", RunRequest(("licence",))),
        ("everything except ADM001", RunRequest(which="all", without=("ADM001",))),
        ("all but the downloads", RunRequest(_all_but("acquisition"), which="all")),
        ("run all except ocr and dedup", RunRequest(_all_but("extraction", "deduplication"), which="all")),
        ("download what is not yet there", RunRequest(("acquisition",))),
        ("download ADM001 but not ADM002", RunRequest(("acquisition",), ("ADM001",), without=("ADM002",))),
        ("retry what failed without downloading", RunRequest(_all_but("acquisition"), which="failed")),
        ("controlla solo le licenze, non scaricare", RunRequest(("licence",))),
        ("descrivi di nuovo ADM001", RunRequest(("metadata",), ("ADM001",), which="all")),
        ("décris ADM001 à nouveau", RunRequest(("metadata",), ("ADM001",), which="all")),
        ("describe ADM001 de nuevo", RunRequest(("metadata",), ("ADM001",), which="all")),
        ("tutto tranne ADM001", RunRequest(which="all", without=("ADM001",))),
        ("descarga todo, pero no indexes", RunRequest(("acquisition",), which="all")),
        ("todo menos UN-7", RunRequest(which="all", without=("UN-7",))),
        ("n'indexe pas, télécharge seulement", RunRequest(("acquisition",))),
        ("tout télécharger sauf ADM001, ADM002", RunRequest(
            ("acquisition",), which="all", without=("ADM001", "ADM002"))),
        ("Lizenzen prüfen, nichts herunterladen", RunRequest(("licence",))),
        ("Lade nichts herunter, prüfe die Lizenzen", RunRequest(("licence",))),
        ("alles außer ADM001 und ADM002", RunRequest(which="all", without=("ADM001", "ADM002"))),
        ("não baixar, apenas verificar licenças", RunRequest(("licence",))),
        ("tudo exceto ADM001", RunRequest(which="all", without=("ADM001",))),
        ("lisansları kontrol et ama indirme", RunRequest(("licence",))),
        ("ADM001 hariç hepsi", RunRequest(which="all", without=("ADM001",))),
        ("indirmeden sadece lisansları kontrol et", RunRequest(("licence",))),
    ],
)  # fmt: skip
def test_negations_and_exceptions_mean_what_they_say(words: str, request_: RunRequest) -> None:
    assert understood(words).request == request_


@pytest.mark.parametrize(
    "words", ["do not run anything", "do not download", "everything except what failed", "all except the French ones"]
)
def test_a_request_that_forbids_all_or_excepts_what_no_run_can_is_not_understood(words: str) -> None:
    assert interpret(words, CODES) is None


def test_a_model_that_loses_a_not_does_not_get_its_way() -> None:
    said: dict[str, object] = {"phases": ["licence", "acquisition"], "which": "due", "understood": True}
    command = understood("only check licences, do not download", SmallJudge(said))
    assert (command.by, command.request) == ("rules", RunRequest(("licence",)))


@pytest.mark.parametrize("words", ["", "   ", "what is the weather?", "hello", "0", "9", "1 12", "9" * 5_000])
def test_what_is_not_about_the_phases_is_not_understood(words: str) -> None:
    assert interpret(words, CODES) is None


def test_a_model_that_invents_codes_reaches_only_those_that_were_named() -> None:
    said: dict[str, object] = {
        "phases": ["quality"], "which": "all", "codes": ["ADM001", "XX9"], "refresh": False, "understood": True,
    }  # fmt: skip
    command = understood("score ADM001 anew", SmallJudge(said))
    assert command.request == RunRequest(("quality",), ("ADM001",), "all")
    assert command.by == "small-model"


@pytest.mark.parametrize("said", [None, {}, {"understood": True, "phases": "all", "which": "everything"}])
def test_a_model_that_is_away_or_talks_nonsense_leaves_it_to_the_rules(said: dict[str, object] | None) -> None:
    command = understood("check the licences", SmallJudge(said))
    assert (command.by, command.request.phases) == ("rules", ("licence",))
