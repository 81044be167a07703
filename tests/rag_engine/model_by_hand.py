"""A language model whose words and replies are written down."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rag_engine.errors import BackendError
from rag_engine.token_usage import report_tokens
from rag_engine.types.language_model import Prompt


class Asked(NamedTuple):
    """A question for JSON, as the model was asked it."""

    system: str
    user: str
    schema: dict[str, Any]
    seconds: float


@dataclass
class ModelByHand:
    """A language model that says its words, then fails if told to, and gives its replies in order.

    A reply that is an error is raised; so is one where no reply is left. `tokens` are those of each question.
    """

    says: tuple[str, ...] = ()
    failure: BackendError | None = None
    replies: list[Any] = field(default_factory=list)
    name: str = "by hand"
    context_window: int = 8192
    tokens: tuple[int, int] | None = None
    prompts: list[Prompt] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.prompts.append(prompt)
        yield from self.says
        if self.failure:
            raise self.failure

    def complete_json(self, system: str, user: str, schema: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        self.asked.append(Asked(system, user, schema, seconds))
        if self.tokens:
            report_tokens(*self.tokens)
        reply = self.replies.pop(0) if self.replies else BackendError("The model is away.")
        if isinstance(reply, BackendError):
            raise reply
        return dict(reply)


def replying(*replies: Any, **traits: Any) -> ModelByHand:
    """Return a model with these replies."""
    return ModelByHand(replies=list(replies), **traits)
