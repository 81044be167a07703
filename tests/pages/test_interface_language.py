"""The language of the interface: whose choice it is, and what is written in it."""

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from ingestion.types.description import FieldName
from ingestion.types.run import RunRequest, describe_request
from pages._shared import interface_language, numbers_and_dates, shown_names
from pages._shared.field_inputs import value_text
from pages._shared.filter_widgets import WORDING, display_text, filter_label
from pages._shared.interface_language import LANGUAGES
from rag_engine.config import DATA
from rag_engine.filters import AS_OF, DOCUMENT, VERSIONS
from rag_engine.grounding.build import GroundingSummary
from tests.pages.conftest import Speak, Start
from tests.pages.test_ask import answered


def browser(monkeypatch: pytest.MonkeyPatch, locale: str | None) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda _: locale))


def choice(app: AppTest) -> Any:
    return app.selectbox("interface language choice")


@pytest.mark.parametrize(
    ("locale", "language"),
    [(None, "en"), ("it-IT", "it"), ("fr", "fr"), ("es-MX", "es"), ("en-US", "en"), ("de-DE", "en")],
)
def test_the_language_is_the_browsers_where_there_is_one_of_the_four(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch, locale: str | None, language: str
) -> None:
    browser(monkeypatch, locale)
    app = start(collection)
    assert not app.exception
    assert choice(app).value == language
    assert choice(app).options == list(LANGUAGES.values())


def test_a_choice_counts_at_once_and_in_later_sessions(
    start: Start, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(monkeypatch, "it-IT")
    app = start(own)
    choice(app).select("fr").run()
    assert "Mon propre schéma" in app.selectbox("answer format").options
    assert choice(start(own)).value == "fr"


def test_messages_are_compiled_once_in_a_process() -> None:
    interface_language._messages.cache_clear()
    interface_language._catalog.cache_clear()
    started = time.process_time()
    first = interface_language._messages("it")
    compiled = time.process_time()
    assert interface_language._messages("it") is first
    assert time.process_time() - compiled < (compiled - started) / 10


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", ["12,345", "62%", "5 Nov 2026", "5 November 2026", "1.5 h"]),
        ("it", ["12.345", "62%", "5 nov 2026", "5 novembre 2026", "1,5 h"]),
        ("fr", ["12\u202f345", "62\u00a0%", "5 nov. 2026", "5 novembre 2026", "1,5 h"]),
        ("es", ["12.345", "62\u00a0%", "5 nov 2026", "5 de noviembre de 2026", "1,5 h"]),
    ],
)
def test_numbers_and_dates_are_written_as_the_language_does(speak: Speak, language: str, written: list[str]) -> None:
    speak(language)
    when = "2026-11-05T12:00:00+00:00"
    assert [
        numbers_and_dates.number(12345),
        numbers_and_dates.percent(0.62),
        numbers_and_dates.day(when),
        numbers_and_dates.long_day(when),
        numbers_and_dates.duration(5400),
    ] == written


@pytest.mark.parametrize(
    ("known", "written"),
    [("2026-11-05", "5 nov. 2026"), ("2026-11", "nov. 2026"), ("2026", "2026"), ("2026-13", "2026-13"), ("", "")],
)
def test_a_documents_date_is_written_as_far_as_it_is_known(speak: Speak, known: str, written: str) -> None:
    speak("fr")
    assert numbers_and_dates.known_date(known) == written


def _words(app: AppTest) -> str:
    kinds = (
        app.title,
        app.header,
        app.subheader,
        app.markdown,
        app.caption,
        app.info,
        app.button,
        app.expander,
        app.checkbox,
    )
    return "\n".join(str(getattr(one, "label", "") or getattr(one, "value", "")) for kind in kinds for one in kind)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("ask", ["Interroga i tuoi documenti", "Nuova conversazione", "Impostazioni di ricerca"]),
        ("search", ["Ricerca", "Scrivi parole chiave", "Ricerche salvate", "Alluvione (1)", "3 di 3 documenti"]),
        ("notebook", ["Taccuino", "Ancora nessuna voce."]),
    ],
)
def test_a_page_speaks_the_language_of_the_browser(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch, page: str, said: list[str]
) -> None:
    browser(monkeypatch, "it-IT")
    app = start(collection)
    if page != "ask":
        app.switch_page(f"pages/{page}.py")
        app.run()

    assert not app.exception
    words = _words(app).replace("\\", "")
    assert [one for one in said if one not in words] == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("it", ["Corrispondenza", "Come è stata trovata", "Irlanda", "Alluvione"]),
        ("fr", ["Correspondance", "Comment la réponse a été trouvée", "Irlande", "Inondation"]),
        ("es", ["Coincidencia", "Cómo se encontró", "Irlanda", "Inundación"]),
    ],
)
def test_an_answer_comes_with_its_sources_described_in_the_language(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch, language: str, said: list[str]
) -> None:
    browser(monkeypatch, language)
    app = answered(start(collection).chat_input[0].set_value("How long does a local flood plan remain valid?").run())

    assert not app.exception
    words = _words(app)
    assert "six years" in words
    assert [one for one in said if one not in words] == []


def test_every_label_of_the_taxonomy_has_a_name_in_every_language() -> None:
    taxonomy = tomllib.loads((DATA / "taxonomy.toml").read_text(encoding="utf-8"))
    labels = {entry["label"] for entries in taxonomy.values() for entry in entries}
    assert labels <= shown_names._TAXONOMY


@pytest.mark.parametrize(("language", "written"), [("en", "+0.500 -1,234.000"), ("it", "+0,500 -1.234,000")])
def test_a_difference_has_its_sign_and_a_chart_the_same_marks(speak: Speak, language: str, written: str) -> None:
    speak(language)
    assert f"{numbers_and_dates.signed(0.5, 3)} {numbers_and_dates.signed(-1234, 3)}" == written
    marks = numbers_and_dates.vega_numbers()["embedOptions"]
    assert marks["formatLocale"]["decimal"] == written[2]


@pytest.mark.parametrize(
    ("request_", "italian"),
    [
        (RunRequest(), "Esegui tutte le fasi per tutto ciò che è nuovo o cambiato."),
        (
            RunRequest(("licence", "metadata"), ("A1",), "failed", refresh=True),
            "Esegui le fasi licenza, metadati per tutto ciò che non è riuscito di A1. "
            "Si chiede agli indirizzi noti se hanno file più recenti.",
        ),
        (
            RunRequest(("licence",), tuple("ABCD"), "all", without=("E",)),
            "Esegui la fase licenza per tutto, anche ciò che è già fatto di 4 fonti, tranne E.",
        ),
    ],
)
def test_a_run_is_described_in_the_language(speak: Speak, request_: RunRequest, italian: str) -> None:
    speak("it")
    assert describe_request(request_, wording=WORDING) == italian


def test_the_knowledge_base_is_described_in_the_language(speak: Speak) -> None:
    speak("fr")
    assert (
        GroundingSummary(3, 2, 1, 0, 0, 0, "extractive").describe(WORDING) == "3 entrées\u202f: 2 écrites, 1 inchangées"
    )


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("countries", "Italy", "Italie"),
        ("hazards", "Flood", "Inondation"),
        ("language", "pt", "Portugais"),
        # As it is entered.
        ("date", "2026-11-05", "2026-11-05"),
        # What is not of a list stays, also where a message has the same words.
        ("title", "Flood", "Flood"),
        ("notes", "Licence", "Licence"),
        ("authority", "Other", "Other"),
    ],
)
def test_values_of_fields_are_translated_where_they_are_of_a_list(
    speak: Speak, field: FieldName, value: str, shown: str
) -> None:
    speak("fr")
    assert value_text(field, value) == shown


def test_every_filter_has_a_name_in_the_language(speak: Speak) -> None:
    speak("it")
    assert [filter_label(name) for name in (DOCUMENT, VERSIONS, AS_OF)] == ["Documento", "Versioni", "Alla data del"]
    assert display_text(VERSIONS, "all") == "Tutti"


def test_what_is_chosen_stays_chosen_when_the_language_changes(
    start: Start, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start(own)
    app.multiselect(key="ask hazard").set_value(["Flood"]).run()
    app.selectbox(key="profile").set_value("rrf").run()

    browser(monkeypatch, "it-IT")
    app.run()

    assert not app.exception
    assert app.multiselect(key="ask hazard").value == ["Flood"]
    assert "Alluvione (1)" in app.multiselect(key="ask hazard").options
    assert app.selectbox(key="profile").value == "rrf"


@pytest.mark.parametrize("locale", ["en-GB", "fr-FR"])
def test_a_date_is_typed_as_it_is_written_with_the_day_first(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    browser(monkeypatch, locale)
    app = start(collection).switch_page("pages/admin.py")
    app.query_params["tab"] = "people"
    assert [one.proto.format for one in app.run().date_input] == ["DD/MM/YYYY"]
