"""Errors in the language of the interface: raised on a page, or kept in English by an answer or a run."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.operations.acts import check_role, every_act
from ingestion.types.outcome import Refusal
from pages._shared import accessibility, errors, interface_language, numbers_and_dates
from pages._shared.errors import shown_error, shown_sentence
from rag_engine.conversations.person import Person
from rag_engine.errors import InputError, SextantError
from tests.conftest import ROOT
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


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def set_language(language: str) -> None:
        for module in (accessibility, errors, interface_language, numbers_and_dates):
            monkeypatch.setattr(module, "interface_language", lambda: language)

    return set_language


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
def test_an_error_is_said_in_the_language_with_its_numbers(
    speak: Callable[[str], None], language: str, said: str
) -> None:
    speak(language)
    assert shown_error(TOO_LONG).startswith(said)


@pytest.mark.parametrize("error", SENTENCES, ids=lambda error: error.template)
@pytest.mark.parametrize("language", ["en", "fr", "es", "it"])
def test_an_error_that_was_kept_as_text_reads_as_one_that_is_raised(
    speak: Callable[[str], None], language: str, error: SextantError
) -> None:
    speak(language)
    assert shown_sentence(str(error)) == shown_error(error)


@pytest.mark.parametrize(
    ("text", "french"),
    [
        # The sentence that goes on with an error, and one within another.
        (
            "Not reranked: The reranker is switched off.",
            "Sans réordonnancement\u202f: Le réordonnancement est désactivé.",
        ),
        (
            "scan.pdf has figures that could not be read: No OCR is installed. Install Tesseract.",
            "scan.pdf contient des figures qui n’ont pas pu être lues\u202f: Aucun OCR n’est installé. "
            "Installez Tesseract.",
        ),
        # A name with the marks of a sentence in it.
        ("v. 2. Final (1).pdf is empty. Download or save it again.", "v. 2. Final (1).pdf est vide. "),
        # What became of an address, with its cause, and the browser that was asked.
        (
            "https://a.example/x may not be fetched: 10.0.0.1 is not a public address. If the host belongs to your own "
            "network, name it in SEXTANT_INTRANET.",
            "https://a.example/x ne peut pas être récupéré\u202f: 10.0.0.1 n’est pas une adresse publique. Si l’hôte",
        ),
        (
            "https://a.example/x gave an empty file. Check the address. https://a.example shows nothing without "
            "its scripts; a browser was asked.",
            "https://a.example/x a donné un fichier vide. Vérifiez l’adresse. https://a.example n’affiche rien sans "
            "ses scripts\u202f; un navigateur a été utilisé.",
        ),
        (
            "Rights are reserved (All rights reserved). Restrictions: NC. Evidence: footer: “© 2020. All rights "
            "reserved.”. No language model was asked.",
            "Droits réservés (All rights reserved). Restrictions\u202f: NC. Preuve\u202f: footer: “© 2020. All rights "
            "reserved.”. Aucun modèle de langage n’a été interrogé",
        ),
        # A row of a list, and where it stands.
        ("Sheet1, row 7", "Sheet1, ligne 7"),
        (
            "Sheet1, row 7, Geographical Level: https://a.example/b c holds a space; write it as %20 or remove what "
            "is not the address",
            "Sheet1, ligne 7, Geographical Level\u202f: https://a.example/b c contient une espace\u202f;",
        ),
        (
            "questions.jsonl, line 2: the kind is 'guess'. Use fact, or leave it out.",
            "questions.jsonl, ligne 2\u202f: le type est «\u202fguess\u202f». Utilisez fact, ou omettez-le.",
        ),
        # What the audit log says of an act.
        (
            "Run all phases for everything new or changed of DOC-1, except DOC-2.",
            "Exécuter toutes les phases",
        ),
        ("role before: reader, now: curator", "rôle précédent\u202f: lecteur, désormais\u202f: curateur"),
        # What a form lacks, with the reasons within the reason.
        (
            "measures 1 (“build dams”) was left out for its actor: [Source 2] does not support “Ministry”: it does not "
            "name Ministry.",
            "measures 1 (“build dams”)\u202f: omis à cause de actor\u202f: [Source 2] n’étaye pas “Ministry”\u202f: "
            "elle ne nomme pas Ministry.",
        ),
        (
            "measures 3 (“raise dykes”) was left out of the list: it cites no source.",
            "measures 3 (“raise dykes”)\u202f: omis de la liste, car il ne cite aucune source.",
        ),
        (
            "measures 1: status was left not stated: [Source 2] does not state it.",
            "measures 1: status\u202f: laissé comme non indiqué, car [Source 2] ne le dit pas.",
        ),
        # What an erasure leaves.
        (
            "words and vectors in the files of the indexes, where no search finds them, until the worker rebuilds them",
            "des mots et des vecteurs dans les fichiers des index",
        ),
        # What the system says, alone and within another error.
        ("No space left on device", "Le disque est plein"),
        ("[Errno 13] Permission denied: '/data/a.pdf'", "Permission refusée: '/data/a.pdf'"),
        ("found.xlsx cannot be written: Read-only file system.", "found.xlsx ne peut pas être écrit"),
        # What is of no template stays as it was written, and what follows it is translated.
        ("Disk on fire. Try again.", "Disk on fire. Réessayez."),
    ],
)
def test_what_is_known_of_a_text_is_translated(speak: Callable[[str], None], text: str, french: str) -> None:
    speak("fr")
    assert shown_sentence(text).startswith(french)


def test_a_refused_role_is_said_in_the_language_of_the_page(speak: Callable[[str], None]) -> None:
    speak("fr")
    with pytest.raises(InputError) as refused:
        check_role(Person("Ada", "ada@example.org", "reader"), every_act()["set_role"])
    assert shown_error(refused.value).endswith("dans l’onglet Personnes de la page Administration.")
    assert "il faut le rôle d’administrateur\u202f; vous êtes lecteur." in shown_error(refused.value)
    assert every_act()["set_role"].title not in shown_error(refused.value)


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


def test_the_sizes_of_uploads_are_written_as_the_language_does(speak: Callable[[str], None]) -> None:
    speak("fr")
    shown = [
        re.sub(pattern, said.replace("$1", r"\1").replace("$2", r"\2"), size)
        for size in ("1.5KB", "48.0MB", "500MB per file")
        for pattern, said in accessibility._widget_words()
        if re.search(pattern, size)
    ]
    assert shown == ["1,5 ko", "48,0 Mo", "500 Mo par fichier"]
