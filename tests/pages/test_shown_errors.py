"""Messages in the language of the interface: of errors, and of what is kept with an answer or a run."""

import ast
import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.acts.register import check_role, every_act
from ingestion.spreadsheets.row import Row
from ingestion.types.outcome import Refusal
from ingestion.types.run import RunRequest, describe_request
from pages._shared import accessibility
from pages._shared.errors import show
from rag_engine.conversations.person import Person
from rag_engine.errors import BackendError, InputError, SextantError
from rag_engine.evaluation.datasets import FileLine
from rag_engine.messages import Message, dump_json, join_messages, load_json, message_of
from tests.conftest import ROOT
from tests.pages.conftest import Speak
from tests.pages.test_interface_language import browser

TOO_LONG = InputError(
    "The question has {length:,} characters; {limit:,} are allowed.",
    help="Shorten it, or add long texts to the collection and ask about them.",
    length=12345,
    limit=10000,
)
LOCKED = Refusal(
    "encrypted", "{file} asks for a password.", help="Save a copy without a password and add that.", file="plan.pdf"
)
SENTENCES = [TOO_LONG, LOCKED, InputError("The question is empty.", help="Ask in a few words what you want to find.")]


def test_the_terminal_and_the_log_say_an_error_in_english() -> None:
    assert str(LOCKED) == "plan.pdf asks for a password. Save a copy without a password and add that."
    assert str(TOO_LONG).startswith("The question has 12,345 characters; 10,000 are allowed. Shorten")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The question has 12,345 characters; 10,000 are allowed."),
        ("fr", "La question compte 12\u202f345 caractères\u202f; 10\u202f000 sont autorisés."),
        ("es", "La pregunta tiene 12.345 caracteres; se permiten 10.000."),
        ("it", "La domanda ha 12.345 caratteri; ne sono ammessi 10.000."),
    ],
)
def test_an_error_is_said_in_the_language_with_its_numbers(speak: Speak, language: str, said: str) -> None:
    speak(language)
    assert show(TOO_LONG.message).startswith(said)


@pytest.mark.parametrize("error", SENTENCES, ids=lambda error: error.fault.template)
@pytest.mark.parametrize("language", ["en", "fr", "es", "it"])
def test_an_error_that_was_kept_reads_as_one_that_is_raised(speak: Speak, language: str, error: SextantError) -> None:
    speak(language)
    assert show(load_json(dump_json(error.message))) == show(error.message)


@pytest.mark.parametrize(
    ("message", "english", "french"),
    [
        # A message that goes on with an error, and one within another.
        (
            Message("Not reranked: {error}", error=BackendError("The reranker is switched off.")),
            "Not reranked: The reranker is switched off.",
            "Sans réordonnancement\u202f: Le réordonnancement est désactivé.",
        ),
        (
            Message(
                "{file} has figures that could not be read: {error}",
                file="scan.pdf",
                error=join_messages([Message("No OCR is installed."), Message("Install Tesseract.")]),
            ),
            "scan.pdf has figures that could not be read: No OCR is installed. Install Tesseract.",
            "scan.pdf contient des figures qui n’ont pas pu être lues\u202f: Aucun OCR n’est installé. "
            "Installez Tesseract.",
        ),
        # A name with the marks of a sentence, and those of a template.
        (
            Refusal(
                "empty", "{file} is empty.", help="Download or save it again.", file="v. 2. {Final} (1).pdf"
            ).message,
            "v. 2. {Final} (1).pdf is empty. Download or save it again.",
            "v. 2. {Final} (1).pdf est vide. ",
        ),
        # A row of a list, and where it stands.
        (Row("Sheet1", 7, ()).place, "Sheet1, row 7", "Sheet1, ligne 7"),
        (
            FileLine(Path("questions.jsonl"), 2, "")
            .error(
                Message("the kind is {kind!r}.", kind="guess"),
                Message("Use {kinds}, or leave it out.", kinds="fact"),
            )
            .message,
            "questions.jsonl, line 2: the kind is 'guess'. Use fact, or leave it out.",
            "questions.jsonl, ligne 2\u202f: le type est «\u202fguess\u202f». Utilisez fact, ou omettez-le.",
        ),
        # What the audit log says of an act.
        (
            describe_request(RunRequest(codes=("DOC-1",), without=("DOC-2",))),
            "Run all phases for everything new or changed of DOC-1, except DOC-2.",
            "Exécuter toutes les phases",
        ),
        (
            Message("role before: {before}, now: {role}", before=Message("reader"), role=Message("curator")),
            "role before: reader, now: curator",
            "rôle précédent\u202f: lecteur, désormais\u202f: curateur",
        ),
        # What a form lacks, with the reasons within the reason.
        (
            Message(
                "{record} was left out for its {field}: {fault}.",
                record="measures 1 (“build dams”)",
                field="actor",
                fault=Message(
                    "[Source {n}] does not support {value}: {fault}",
                    n=2,
                    value="“Ministry”",
                    fault=Message("it does not name {name}", name="Ministry"),
                ),
            ),
            "measures 1 (“build dams”) was left out for its actor: [Source 2] does not support “Ministry”: it does not "
            "name Ministry.",
            "measures 1 (“build dams”)\u202f: omis à cause de actor\u202f: [Source 2] n’étaye pas “Ministry”\u202f: "
            "elle ne nomme pas Ministry.",
        ),
        # What the system says, alone and within another error.
        (
            message_of(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))),
            "No space left on device",
            "Le disque est plein",
        ),
        (
            message_of(OSError(errno.EACCES, os.strerror(errno.EACCES), "/data/a.pdf")),
            "Permission denied: '/data/a.pdf'",
            "Permission refusée\u202f: '/data/a.pdf'",
        ),
        (
            Message("{file} cannot be written: {error}.", file="found.xlsx", error=Message("Read-only file system")),
            "found.xlsx cannot be written: Read-only file system.",
            "found.xlsx ne peut pas être écrit",
        ),
        # What has no translation stays as it was written, and what follows it is translated.
        (
            join_messages([Message("Disk on fire."), Message("Try again.")]),
            "Disk on fire. Try again.",
            "Disk on fire. Réessayez.",
        ),
    ],
)
def test_a_message_is_shown_in_the_language_of_the_page(
    speak: Speak, message: Message, english: str, french: str
) -> None:
    assert str(message) == english
    speak("fr")
    assert show(load_json(dump_json(message))).startswith(french)


def test_a_refused_role_is_said_in_the_language_of_the_page(speak: Speak) -> None:
    speak("fr")
    with pytest.raises(InputError) as refused:
        check_role(Person("Ada", "ada@example.org", "reader"), every_act()["set_role"])
    assert show(refused.value.message).endswith("dans l’onglet Personnes de la page Administration.")
    assert "il faut le rôle d’administrateur\u202f; vous êtes lecteur." in show(refused.value.message)
    assert every_act()["set_role"].title not in show(refused.value.message)


def test_a_question_without_words_is_refused_in_the_language_of_the_page(
    start: Callable[..., AppTest], collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(monkeypatch, "fr-FR")
    app = start(collection).chat_input[0].set_value("?!").run()
    while not app.error:
        app.run()
    assert "ne contient aucun mot" in app.error[0].value
    assert "Indiquez en quelques mots" in app.error[0].value


@pytest.mark.parametrize("path", sorted((ROOT / "pages").rglob("*.py")), ids=lambda path: path.stem)
def test_what_deletes_for_good_is_behind_a_button_of_that_colour(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("button"):
            options = {one.arg: ast.unparse(one.value) for one in node.keywords}
            deletes = "delete" in options.get("icon", "") or re.search("remove_|erasure", ast.unparse(node))
            if deletes and options.get("type") == "'primary'":
                assert re.match("f?'(delete|remove)", options["key"]), options["key"]


def test_the_sizes_of_uploads_are_written_as_the_language_does(speak: Speak) -> None:
    speak("fr")
    shown = [
        re.sub(pattern, said.replace("$1", r"\1").replace("$2", r"\2"), size)
        for size in ("1.5KB", "48.0MB", "500MB per file")
        for pattern, said in accessibility._widget_words()
        if re.search(pattern, size)
    ]
    assert shown == ["1,5 ko", "48,0 Mo", "500 Mo par fichier"]
