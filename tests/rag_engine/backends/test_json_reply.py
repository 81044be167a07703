from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.backends.llm_reply import read_object
from rag_engine.errors import BackendError

SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


@pytest.mark.parametrize("reply", ['{"a": "x"}', 'Sure:\n```json\n{"a": "x"}\n```\nDone.', ' {"a": "x"} {"a": "y"}'])
def test_the_first_object_is_read_whatever_stands_around_it(reply: str) -> None:
    assert read_object(reply, SCHEMA, model="m") == {"a": "x"}


@given(st.text() | st.text(alphabet='{}[]":a1,'))
def test_any_other_reply_is_refused_with_the_models_name(reply: str) -> None:
    with pytest.raises(BackendError, match=r"^m replied"):
        read_object(reply, SCHEMA, model="m")


def test_one_value_outside_a_closed_list_does_not_cost_the_reply() -> None:
    closed: dict[str, object] = {"properties": {"level": {"enum": ["National"]}, "quote": {"maxLength": 3}}}
    assert read_object('{"level": "Global", "quote": "abcd"}', closed, model="m") == {
        "level": "Global",
        "quote": "abcd",
    }
