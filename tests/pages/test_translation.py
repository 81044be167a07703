"""A source in a foreign language is translated beside its original."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Start
from tests.pages.conversations import converse
from tests.rag_engine.backends.scripted_server import Reply, Script
from tests.rag_engine.backends.test_openai import CHAT, serving_model, words
from tests.rag_engine.conversations.test_store import REPLY, SOURCE

ITALIAN = "I comuni approvano il piano entro il 30 giugno 2026, per 12 mesi."


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    translated = json.dumps({"translation": "Municipalities approve the plan by 30 June 2026, for 18 months."})
    with serving_model(monkeypatch, Reply(words(translated))) as script:
        yield script


@pytest.fixture
def shown(start: Start, own: Path) -> Callable[..., AppTest]:
    """Return the page with an answer that rests on an Italian passage, over a copy of the collection."""

    def show(*, foreign: bool) -> AppTest:
        end = SOURCE.start + len(ITALIAN)
        place = (SOURCE.start, end)
        source = replace(SOURCE, text=ITALIAN, end=end, passage=place, language="it", foreign=foreign)
        citation = replace(REPLY.citations[0], quote=ITALIAN, start=SOURCE.start, end=end)
        reply = replace(REPLY, sources=(source,), citations=(citation,))
        return start(own, conversation=converse(own, reply, question="When do municipalities approve the plan?").id)

    return show


def texts(app: AppTest) -> str:
    return "\n".join(str(one.value) for one in [*app.markdown, *app.caption]) + "".join(
        one.proto.body for one in app.get("html")
    )


def test_original_and_translation_stand_side_by_side_and_numbers_that_differ_are_named(
    shown: Callable[..., AppTest], model: Script
) -> None:
    app = shown(foreign=True)
    [toggle] = [one for one in app.toggle if one.label == "Translate"]

    app = toggle.set_value(True).run()

    assert not app.exception
    said = texts(app)
    assert '<p lang="it"' in said
    assert '<p lang="en"' in said
    assert "Municipalities approve the plan by 30 June 2026, for 18 months." in said
    assert "only the original has 12, only the translation has 18" in said
    app.run()
    assert [path for path, _ in model.asked].count(CHAT) == 1


def test_a_source_in_the_language_of_the_question_is_not_translated(
    shown: Callable[..., AppTest], model: Script
) -> None:
    assert not [one for one in shown(foreign=False).toggle if one.label == "Translate"]
    assert CHAT not in [path for path, _ in model.asked]


def test_without_a_model_nothing_offers_a_translation(
    shown: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    assert not [one for one in shown(foreign=True).toggle if one.label == "Translate"]
