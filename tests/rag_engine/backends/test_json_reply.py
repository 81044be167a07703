import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.backends.llm_reply import joined, parse_object, read_object
from rag_engine.errors import BackendError, ReplyError

SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
# Words around an object; a brace or a fence in them would begin another one.
PROSE = st.text(st.characters(exclude_characters="{}`"), max_size=30)


@pytest.mark.parametrize("reply", ['{"a": "x"}', 'Sure:\n```json\n{"a": "x"}\n```\nDone.', ' {"a": "x"} {"a": "y"}'])
def test_the_first_object_is_read_whatever_stands_around_it(reply: str) -> None:
    assert read_object(reply, SCHEMA, model="m") == {"a": "x"}


@given(st.text() | st.text(alphabet='{}[]":a1,'))
def test_any_other_reply_is_refused_with_the_models_name(reply: str) -> None:
    if isinstance((parse_object(reply) or {}).get("a"), str):
        return
    with pytest.raises(BackendError, match=r"^m replied"):
        read_object(reply, SCHEMA, model="m")


def test_one_value_outside_a_closed_list_does_not_cost_the_reply() -> None:
    closed: dict[str, object] = {"properties": {"level": {"enum": ["National"]}, "quote": {"maxLength": 3}}}
    assert read_object('{"level": "Global", "quote": "abcd"}', closed, model="m") == {
        "level": "Global",
        "quote": "abcd",
    }


@given(OBJECTS, PROSE, PROSE, st.sampled_from(["{}", "```json\n{}\n```", "```\n{}```", "```json\n{}"]))
def test_an_object_survives_words_and_a_fence_around_it(
    wanted: dict[str, Any], before: str, after: str, around: str
) -> None:
    written = around.replace("{}", json.dumps(wanted))
    assert parse_object(before + written + after) == wanted


@given(OBJECTS, PROSE)
def test_an_object_follows_braces_that_hold_none(wanted: dict[str, Any], before: str) -> None:
    assert parse_object(f"{{note}} {before} {json.dumps(wanted)}") == wanted


@given(st.dictionaries(st.text(max_size=3), st.integers(), min_size=1, max_size=4), st.integers())
def test_of_a_key_that_is_there_twice_the_first_stays(wanted: dict[str, int], other: int) -> None:
    again = next(iter(wanted))
    pairs = [*wanted.items(), (again, other)]
    written = ", ".join(f"{json.dumps(key)}: {value}" for key, value in pairs)
    assert parse_object(f"{{{written}}}") == wanted


def test_an_object_without_duplicate_keys_is_preferred() -> None:
    assert parse_object('{"a": "x", "a": "y"}\n```json\n{"a": "z"}\n```') == {"a": "z"}


@pytest.mark.parametrize("reply", ['{"a":' * 5_000, "{" * 100_000, '{"a": NaN}', '{"a": -Infinity}', "[" * 5_000, ""])
def test_what_is_no_object_of_json_is_none(reply: str) -> None:
    assert parse_object(reply) is None


def test_an_object_that_breaks_off_gives_no_piece_of_it() -> None:
    assert parse_object('{"charges": [{"a": "x"}, {"a": "y"') is None


@pytest.mark.parametrize("loop", ["the act ", "\n ", '{"measure": "plan", "actor": null, "citation": 1}, '])
def test_a_reply_that_goes_round_is_ended_long_before_its_limit(loop: str) -> None:
    said: list[str] = []

    def pieces() -> Iterator[str]:
        yield '{"note": "'
        while len(said) < 2000:
            said.append(loop)
            yield loop

    with pytest.raises(ReplyError, match="kept repeating itself"):
        joined(pieces(), model="m")
    assert len("".join(said)) < 500


def test_a_reply_with_many_like_values_is_read_whole() -> None:
    verdicts = json.dumps({"verdicts": [True, False] * 12})
    assert joined(verdicts, model="m") == verdicts
