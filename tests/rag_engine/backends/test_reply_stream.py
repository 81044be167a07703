"""A slow model is heard from every second and can be left at once, against servers that do not answer."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

import pytest

from rag_engine.backends import llm_reply
from rag_engine.backends.ollama import OllamaGenerator
from rag_engine.backends.openai import OpenAIGenerator
from rag_engine.config import GenerationConfig
from rag_engine.protocols import Generator
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.language_model import Prompt
from rag_engine.waiting import while_waiting

PROMPT = Prompt("rules", "question", QueryPlan("question", "en", ("question",)), (), (), 900, 3072, 0.3)
SCHEMA: dict[str, object] = {"type": "object"}
Ask = Callable[[Generator], object]


class CancelledByPersonError(Exception):
    """Raised by a door when a person cancels."""


@dataclass
class SilentServer:
    """A server that takes a request and never answers; `left` is set when the client has hung up."""

    port: int
    asked: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)


@contextmanager
def silent_server() -> Iterator[SilentServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = SilentServer(listener.getsockname()[1])

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while connection.recv(65536):
                    server.asked.set()
            server.left.set()

        thread = threading.Thread(target=serve)
        thread.start()
        yield server
        thread.join(10)
        assert not thread.is_alive()


def ollama_at(port: int) -> Generator:
    return OllamaGenerator(GenerationConfig(ollama_url=f"http://127.0.0.1:{port}", answer_seconds=1200), "m", 8192)


def openai_at(port: int) -> Generator:
    url = f"http://127.0.0.1:{port}/v1"
    return OpenAIGenerator(GenerationConfig(openai_url=url, openai_model="m", answer_seconds=1200))


def write(model: Generator) -> object:
    return list(model.stream(PROMPT))


def fill_in(model: Generator) -> object:
    return model.complete_json("rules", "question", SCHEMA, seconds=1200)


@pytest.mark.parametrize("open_model", [ollama_at, openai_at], ids=["ollama", "openai"])
@pytest.mark.parametrize("ask", [write, fill_in], ids=["answer", "json"])
def test_who_waits_for_the_first_token_is_told_and_can_leave_at_once(
    open_model: Callable[[int], Generator], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm_reply, "_PULSE_SECONDS", 0.05)
    heard: list[float] = []

    with silent_server() as server:

        def cancel_soon(seconds: float) -> None:
            heard.append(seconds)
            # The library that asks takes a while to import.
            if len(heard) >= 3 and server.asked.is_set():
                raise CancelledByPersonError

        model = open_model(server.port)
        started = monotonic()
        with while_waiting(cancel_soon), pytest.raises(CancelledByPersonError):
            ask(model)
        assert monotonic() - started < 5  # of the 1200 seconds that it might have taken
        assert server.left.wait(5)
    assert heard == sorted(heard)
    assert heard[0] >= 0.05


def test_nobody_is_told_once_the_block_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_reply, "_PULSE_SECONDS", 0.01)
    heard: list[float] = []
    with while_waiting(heard.append):
        pass
    model = OllamaGenerator(GenerationConfig(ollama_url="http://127.0.0.1:9", answer_seconds=0.2), "m", 8192)
    with pytest.raises(Exception, match="does not answer"):
        list(model.stream(PROMPT))
    assert heard == []


def test_a_reply_is_read_where_an_event_loop_runs_already_as_in_a_notebook() -> None:
    async def parts() -> AsyncIterator[str]:
        yield "The dyke "
        yield "was raised."

    async def notebook() -> list[str]:
        return list(llm_reply.read_parts(parts(), seconds=30))

    # In a thread of its own, for a browser test beside this one may have left a loop running in the tests' own.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, notebook()).result() == ["The dyke ", "was raised."]
