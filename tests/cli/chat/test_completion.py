"""The completion of a line of a session."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cli.chat.chat import Suggestion, chat_completer, suggestions, typed_lines
from cli.chat.session import ChatSession
from rag_engine.config import read_config
from rag_engine.conversations.store import Conversation, new_id
from rag_engine.engine import Engine
from rag_engine.filters import Facets

FACETS: Facets = {
    "hazard": {"Climate change": frozenset({1}), "Coastal flood": frozenset({2}), "Flood": frozenset({2})},
    "country": {"Ireland": frozenset({1})},
}
COMMANDS = ("/filter", "/sources", "/open", "/exit")


def completed(line: str) -> list[str]:
    """Return the line with each suggestion in it."""
    found = suggestions(line, COMMANDS, FACETS, (1, 2, 12))
    return [line[: len(line) - one.replaces] + one.text for one in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/", list(COMMANDS)),
        ("/so", ["/sources"]),
        ("/filter c", ["/filter country=", "/filter clear"]),
        ("/filter hazard=cl", ["/filter hazard=Climate change"]),
        ("/filter hazard=climate ch", ["/filter hazard=Climate change"]),
        ("/filter hazard=Climate change cou", ["/filter hazard=Climate change country="]),
        ("/filter hazard=Flood country=i", ["/filter hazard=Flood country=Ireland"]),
        ("/filter versions=", ["/filter versions=all"]),
        ("/filter colour=r", []),
        ("/open 1", ["/open 1", "/open 12"]),
        ("/do x", []),
        ("Which plans are there /", []),
        ("", []),
    ],
)
def test_commands_keys_values_and_numbers_are_completed(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_a_suggestion_takes_the_place_of_what_is_typed() -> None:
    assert list(suggestions("/op", COMMANDS, FACETS, ())) == [Suggestion("/open", 3)]


@dataclass
class Keys:
    """Keys that a person presses, and a prompt that reads them."""

    session: ChatSession

    def typed(self, keys: str) -> list[str]:
        # In a thread of its own: a browser that another test has open keeps an event loop running in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(self._typed, keys).result()

    def _typed(self, keys: str) -> list[str]:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            pipe.send_text(keys)
            prompt: PromptSession[str] = PromptSession(completer=chat_completer(self.session))
            return list(typed_lines(self.session, prompt))


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    session = ChatSession(Engine(read_config(tmp_path)), Conversation(new_id(), ()), {})
    yield Keys(session)
    session.close()


def test_the_prompt_offers_the_commands_of_the_session(keys: Keys) -> None:
    completer = chat_completer(keys.session)
    offered = list(completer.get_completions(Document("/e"), CompleteEvent()))
    assert [(one.text, one.start_position) for one in offered] == [("/export", -2), ("/exit", -2)]


def test_ctrl_c_clears_the_line_and_ctrl_d_ends_the_session(keys: Keys) -> None:
    assert keys.typed("What is\x03Who pays?\r\x04") == ["Who pays?"]
