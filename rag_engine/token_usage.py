"""Tokens of a model's requests: a listener is told how many its server counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag_engine.protocols import Generator
from rag_engine.types.evidence import TokenCount
from rag_engine.types.language_model import Prompt

_listener: ContextVar[Callable[[TokenCount], None] | None] = ContextVar("token_listener", default=None)


@contextmanager
def while_counting(listener: Callable[[TokenCount], None]) -> Iterator[None]:
    """Call the listener with the server's counts of each request that is made in this block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report_tokens(prompt: int | None, reply: int | None) -> None:
    """Tell the listener how many tokens a server has counted for a request.

    None means that the server does not count them.
    """
    listener = _listener.get()
    if listener is not None and (prompt is not None or reply is not None):
        listener(TokenCount(prompt or 0, reply or 0))


class CountedModel:
    """A language model with the tokens of all its replies in JSON, including unusable ones."""

    def __init__(self, model: Generator) -> None:
        self._model = model
        self.name, self.context_window = model.name, model.context_window
        self.tokens: TokenCount | None = None

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the model's words; their tokens are not counted here."""
        return self._model.stream(prompt)

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return the model's reply."""
        with while_counting(self._add):
            return self._model.complete_json(system, user, schema, seconds=seconds)

    def _add(self, more: TokenCount) -> None:
        before = self.tokens or TokenCount(0, 0)
        self.tokens = TokenCount(before.prompt + more.prompt, before.reply + more.reply)
