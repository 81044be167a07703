"""A language model: one that is installed, and its input."""

from __future__ import annotations

from dataclasses import dataclass

from rag_engine.types.evidence import QueryPlan
from rag_engine.types.passage import Source


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that the server has and that writes, with its size on disk in bytes."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Input of a generator: rules, the packed user message, and the parts it was made from.

    `sources` are the ones that fit, in their order in `user` (best last). `tokens` estimates the whole prompt;
    `num_ctx` is the context window it asks for. `encoded` are its tokens as the encoder counts them, 0 if unknown:
    language models count about as many or more.
    """

    system: str
    user: str
    plan: QueryPlan
    sources: tuple[Source, ...]
    left_out: tuple[Source, ...]
    tokens: int
    num_ctx: int
    temperature: float
    encoded: int = 0
