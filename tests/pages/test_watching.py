"""The searches for the parts of a question, shown while they are made, and Stop among them."""

import threading
from collections.abc import Iterator
from pathlib import Path

from pages._shared import resources
from rag_engine.conversations.recording import AnswerPart
from rag_engine.conversations.store import new_id
from rag_engine.types.evidence import ControllerStep
from tests.pages.conftest import Start, plain
from tests.pages.test_ask import answered

SHOWN = ("2 parts in this question", "Searching for: Who pays the lifeguards?")


def test_a_question_of_several_parts_shows_its_searches_and_keeps_them_when_it_is_stopped_in_one(
    start: Start, collection: Path
) -> None:
    searching, go_on = threading.Event(), threading.Event()

    def ask(_: object) -> Iterator[AnswerPart]:
        yield ControllerStep("plan", 0, done=1, of=2)
        yield ControllerStep("retrieve", 1, "Who pays the lifeguards?")
        searching.set()
        go_on.wait(60)
        yield ControllerStep("read", 1, done=4, of=14)

    start(collection)
    id = new_id()
    resources.answer_jobs().start(id, "How long is a plan valid, and who pays the lifeguards?", ask)
    assert searching.wait(60)
    app = start(collection, conversation=id)
    assert all(step in plain(app) for step in SHOWN)

    [stop] = [button for button in app.button if button.label == "Stop"]
    app = stop.click().run()
    assert "Stopping" in plain(app)
    go_on.set()
    app = answered(app)

    assert not app.exception
    assert "Answer cancelled." in plain(app)
    assert all(step in plain(app) for step in SHOWN)
    assert "4 new passages" not in plain(app)

    [edited] = app.text_area
    edited.set_value("How long is a plan valid?")
    app = answered(next(one for one in app.button if one.label == "Ask the question").click().run())

    assert not app.exception
    assert [one.value for one in app.header][1:] == ["How long is a plan valid\\?"]
