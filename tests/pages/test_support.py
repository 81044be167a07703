"""The support of an answer's sentences is said under it; a text without sources is no answer."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from streamlit.testing.v1 import AppTest

from rag_engine.answering.support import support_accuracy
from rag_engine.conversations.reply import Reply
from rag_engine.types.answer import SentenceSupport, SupportLabel
from tests.pages.conftest import Start, texts
from tests.pages.conversations import converse
from tests.rag_engine.conversations.test_store import REPLY

TEXT = "A plan is valid for *six* years [Source 1]. It costs 9 euros [Source 1]."


def shown(start: Start, collection: Path, reply: Reply) -> AppTest:
    app = start(collection, conversation=converse(collection, reply).id)
    assert not app.exception
    return app


def test_the_sentences_that_are_not_supported_are_listed_with_the_reason(start: Start, collection: Path) -> None:
    end = TEXT.index(" It costs")
    reasons = ("number 9 is not in the passage",)
    support = (SentenceSupport(0, end, "supported"), SentenceSupport(end + 1, len(TEXT), "unsupported", reasons))
    app = shown(start, collection, replace(REPLY, text=TEXT, support=support))

    assert "1 of 2 sentences supported by the cited passages; 1 unsupported" in texts(app).replace("\\", "")
    assert support_accuracy() in texts(app).replace("\\", "")
    [expander] = [one for one in app.expander if one.label == "Sentences to check"]
    [line] = expander.markdown
    assert "It costs 9 euros" in line.value
    assert "number 9 is not in the passage" in line.value


def test_a_mark_is_green_only_where_its_sentence_is_supported(start: Start, collection: Path) -> None:
    text = f"{TEXT} It is kept [Source 1]."
    places = [0, text.index(" It costs"), text.index(" It is"), len(text)]
    labels: tuple[SupportLabel, ...] = ("supported", "unsupported", "not checked")
    spans = zip(pairwise(places), labels, strict=True)
    support = tuple(SentenceSupport(begin, end, label, ("so",)) for (begin, end), label in spans)
    app = shown(start, collection, replace(REPLY, text=text, support=support))
    [answer] = [one.value for one in app.markdown if "valid for" in one.value]
    badges = [answer.index(f":{colour}-badge[1]") for colour in ("green", "orange", "gray")]
    assert badges == sorted(badges)


def test_nothing_is_said_of_support_where_nothing_was_labelled(start: Start, collection: Path) -> None:
    app = shown(start, collection, replace(REPLY, text=TEXT))

    assert "supported by the cited passages" not in texts(app)


def test_what_a_model_wrote_without_a_source_can_be_looked_at(start: Start, collection: Path) -> None:
    withheld = replace(
        REPLY,
        status="insufficient_evidence",
        text="The language model named no source.",
        citations=(),
        withheld="Plans are <b>valid</b> forever.",
    )
    app = shown(start, collection, withheld)

    [expander] = [one for one in app.expander if one.label == "The model's text"]
    [written] = expander.markdown
    assert "forever" in written.value
    assert "<b>" not in written.value
