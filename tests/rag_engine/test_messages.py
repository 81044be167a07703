"""Messages: English text that keeps its template and values."""

import pickle
from copy import deepcopy
from dataclasses import asdict, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from rag_engine.errors import BackendError
from rag_engine.messages import Message, change_texts, dump_json, join_messages, load_json
from rag_engine.storage.schema import MessageText

CLOSED = Message("{host} refused: {why}", host="a.example", why=Message("{n:,} bytes came", n=12345))


@dataclass(frozen=True, slots=True)
class Kept:
    """A record with messages."""

    text: Message | str
    warnings: tuple[Message, ...] = ()


def test_a_message_is_its_english_text() -> None:
    assert CLOSED == "a.example refused: 12,345 bytes came"
    assert Message("{verbatim}") == "{verbatim}"


@given(st.text(), st.text(), st.integers())
def test_any_values_come_back_from_json(first: str, second: str, number: int) -> None:
    message = Message("{a} and {b!r}: {n:,}", a=first, b=Message("{inner}", inner=second), n=number)
    for back in (load_json(dump_json(message)), deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert (back, back.template, back.values) == (message, message.template, message.values)


def test_a_record_keeps_the_templates_of_its_messages() -> None:
    codec, record = TypeAdapter(Kept), Kept("An answer with {braces}.", (CLOSED, Message("Plain.")))
    back = codec.validate_json(codec.dump_json(record))
    assert back == record
    why = back.warnings[0].values["why"]
    assert isinstance(why, Message)
    assert why.values == {"n": 12345}
    assert load_json(dump_json(asdict(record)))["warnings"][0].template == CLOSED.template


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("{a.__class__}", {"a": ""}),
        ("{a:>999999999}", {"a": ""}),
        ("{a}", {"b": ""}),
        ("{0}", {"a": ""}),
        ("{", {"a": ""}),
    ],
)
def test_a_template_from_elsewhere_reaches_nothing_but_its_values(template: str, values: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no template"):
        load_json(dump_json({"template": template, "values": values}))
    with pytest.raises(ValidationError):
        TypeAdapter(Message).validate_python({"template": template, "values": values})


def test_no_address_in_a_message_has_a_password() -> None:
    error = BackendError("{url} is away.", url="https://me:secret@a.example")
    assert "secret" not in dump_json([error.message, Message("https://me:secret@a.example"), Message("{e}", e=error)])


def test_joined_messages_are_one_without_those_that_say_nothing() -> None:
    joined = join_messages(["", CLOSED, "A note of {somebody}."])
    assert joined == f"{CLOSED} A note of {{somebody}}."
    assert join_messages([CLOSED, ""]) is CLOSED


def test_the_texts_of_a_message_change_and_its_template_stays() -> None:
    changed = change_texts(CLOSED, str.upper)
    assert isinstance(changed, Message)
    assert (changed, changed.template) == ("A.EXAMPLE refused: 12,345 bytes came", CLOSED.template)


@pytest.mark.parametrize("text", ["{folder} of the quay", "{", '"Quay" is a title', '{"template": 1}', "plain", ""])
def test_a_text_comes_back_from_its_column_as_it_was(text: str) -> None:
    column, dialect = MessageText(), object()
    assert column.process_result_value(column.process_bind_param(text, dialect), dialect) == text
