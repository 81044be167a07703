"""The list of conversations on the page, and what is drawn while one is answered."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Caption

from pages._shared import resources
from rag_engine.conversations.recording import AnswerPart
from rag_engine.conversations.store import (
    Conversation,
    Turn,
    list_conversations,
    new_id,
    read_conversation,
    restore_conversation,
)
from rag_engine.engine import Engine
from tests.pages.conftest import Start, texts
from tests.pages.conversations import listing
from tests.pages.test_ask import answered
from tests.present import present
from tests.rag_engine.conversations.test_store import REPLY

LASTS = "How long does a local flood plan remain valid?"


def kept(workspace: Path, question: str, days: float = 0) -> Conversation:
    """Store a conversation whose last question was asked these days ago."""
    asked = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    conversation = Conversation(new_id(), (Turn(question, asked, REPLY),))
    restore_conversation(workspace, conversation)
    return conversation


def listed(app: AppTest) -> list[str]:
    """Return the headings and the titles of the list in their order."""
    [folded] = [one for one in app.sidebar.expander if one.label == "Conversations"]
    drawn: list[str] = []
    for one in folded.children.values():
        if isinstance(one, Caption):
            drawn.append(str(one.value))
        elif isinstance(one, Block):
            drawn += [button.label.replace("\\", "") for button in one.button if str(button.key).startswith("open ")]
    return drawn


def test_conversations_stand_under_their_days_and_a_pinned_one_above_them(start: Start, own: Path) -> None:
    for question, days in (("Dykes", 0), ("Dunes", 1), ("Locks", 5), ("Wells", 30)):
        kept(own, question, days)
    wells = next(one.id for one in list_conversations(own) if one.title == "Wells")
    app = listing(start(own), wells)
    assert listed(app) == ["Today", "Dykes", "Yesterday", "Dunes", "Previous 7 days", "Locks", "Older", "Wells"]

    app.button(key=f"pin {wells}").click().run()

    assert listed(app)[:3] == ["Pinned", "Wells", "Today"]
    assert app.button(key=f"pin {wells}").label == "Unpin"
    app.button(key=f"pin {wells}").click().run()
    assert listed(app)[-2:] == ["Older", "Wells"]


def test_a_long_list_is_searched_by_words(start: Start, own: Path) -> None:
    for number in range(13):
        kept(own, f"Which canals has the Überlingen district {number}?")
    kept(own, "Who pays the lighthouse keeper?", days=40)
    app = listing(start(own))
    assert "2 older conversations: search for them." in texts(app)

    app.text_input(key="conversations searched").set_value("KEEPER lighthouse").run()
    assert listed(app) == ["Older", "Who pays the lighthouse keeper?"]
    app.text_input(key="conversations searched").set_value("uberlingen").run()
    assert len(listed(app)) == 14
    assert listed(app)[-1] == "1 older conversation: search for it."
    app.text_input(key="conversations searched").set_value("submarine").run()
    assert "No conversation has these words." in texts(app)


def test_a_conversation_is_shared_and_not_shared_any_more(start: Start, own: Path) -> None:
    conversation = kept(own, "Dykes")
    app = listing(start(own, conversation=conversation.id), conversation.id)
    share = f"share {conversation.id}"

    app.toggle(key=share).set_value(True).run()
    found = present(read_conversation(own, conversation.id))
    assert found.shared_by
    assert "Shared with everybody here by you." in texts(app)

    app.toggle(key=share).set_value(False).run()
    found = present(read_conversation(own, conversation.id))
    assert not found.shared_by
    assert "Shared with everybody here by you." not in texts(app)


def test_a_running_answer_says_its_stage_and_nothing_of_the_welcome_stays(start: Start, own: Path) -> None:
    stages = {name: (threading.Event(), threading.Event()) for name in ("searching", "writing")}

    def pause(name: str) -> None:
        reached, go_on = stages[name]
        reached.set()
        go_on.wait(60)

    engine: list[Engine] = []

    def ask(_: object) -> Iterator[AnswerPart]:
        pause("searching")
        for part in engine[0].ask(LASTS):
            if isinstance(part, str) and not stages["writing"][0].is_set():
                yield part
                pause("writing")
            else:
                yield part

    welcome = start(own)
    assert "Ask your documents" in [one.value for one in welcome.title]
    engine.append(resources.engine())
    id = new_id()
    resources.answer_jobs().start(id, LASTS, ask)
    try:
        assert stages["searching"][0].wait(60)
        app = start(own, conversation=id)
        assert "Searching your documents …" in texts(app)
        assert "Ask your documents" not in [one.value for one in app.title]
        assert "For example, from your documents:" not in texts(app)
        assert not [one for one in app.button if str(one.key).startswith("example ")]

        stages["searching"][1].set()
        assert stages["writing"][0].wait(60)
        app.run()
        assert "Writing the answer …" in texts(app)
        assert "six years" in texts(app)
    finally:
        for _reached, go_on in stages.values():
            go_on.set()
    assert "six years" in texts(answered(app))
