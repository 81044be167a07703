"""The language that a model answers in, which need not be the one it was asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rag_engine.answering.replies.marks import CHECKED_MARK
from rag_engine.text.languages import language_name
from rag_engine.types import QueryPlan

# Letters from which on the language of a text is known well enough to be held against a model.
_ENOUGH = 60


def written_language(text: str, plan: QueryPlan, identify: Callable[[str], str]) -> str:
    """Return the language of a checked answer (ISO 639-1), that of the question where it cannot be known."""
    plain = " ".join(CHECKED_MARK.sub(" ", text).split())
    if not plan.output_instructions and sum(map(str.isalpha, plain)) < _ENOUGH:
        return plan.language
    return identify(plain) or plan.language


def language_warning(written: str, plan: QueryPlan) -> Iterator[str]:
    """Yield a warning where an answer is in another language than the question, and no other was wished for."""
    if plan.output_instructions or not plan.language or written == plan.language:
        return
    yield (
        f"The model answered in {language_name(written) or 'another language'}, not in "
        f"{language_name(plan.language) or 'the language of the question'}. Ask again, or use another model."
    )
