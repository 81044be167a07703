"""Requests in plain language: turned into a run that is shown and confirmed before anything begins."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ingestion.patterns import load_words
from ingestion.prompts import COMMAND_RULES, COMMAND_SCHEMA
from ingestion.protocols import LanguageModel
from ingestion.types import PHASES, RunRequest, Which
from rag_engine.errors import BackendError
from rag_engine.text.folding import fold


@dataclass(frozen=True, slots=True)
class Command:
    """A request made of words; `by` is the name of the model that interpreted them, or "rules"."""

    request: RunRequest
    by: str


def interpret(
    words: str, codes: Collection[str], language_model: LanguageModel | None = None, *, seconds: float = 20.0
) -> Command | None:
    """Return the request that the words ask for, by the model when it answers, else by rules.

    None where they are not understood. Nothing is run by it.
    """
    if not words.strip():
        return None
    if language_model is not None:
        asked = _by_model(words, codes, language_model, seconds)
        if asked is not None:
            return Command(asked, language_model.name)
    asked = _by_rules(words, codes)
    return Command(asked, "rules") if asked else None


def _by_rules(words: str, codes: Collection[str]) -> RunRequest | None:
    folded, known = fold(words), load_words("commands")

    def has(key: str) -> bool:
        return re.search(rf"\b(?:{known.get(key, key)})", folded) is not None

    phases = tuple(filter(has, PHASES))
    failed, newer, named = has("failed"), has("newer"), _codes(words, codes)
    if not (phases or failed or newer or named or has("run")):
        return None
    which: Which = "failed" if failed else "all" if re.search(known["all"], folded) else "due"
    return RunRequest(phases or PHASES, named, which, newer)


def _by_model(words: str, codes: Collection[str], language_model: LanguageModel, seconds: float) -> RunRequest | None:
    try:
        reply = language_model.complete_json(COMMAND_RULES, words[:1000], COMMAND_SCHEMA, seconds=seconds)
    except BackendError:
        return None
    phases, which = reply.get("phases"), reply.get("which")
    if not reply.get("understood") or not isinstance(phases, list) or which not in ("due", "failed", "all"):
        return None
    chosen = tuple(phase for phase in PHASES if phase in phases)
    # Codes that the words do not hold are an invention.
    return RunRequest(chosen or PHASES, _codes(words, codes), which, reply.get("refresh") is True)


def _codes(words: str, codes: Collection[str]) -> tuple[str, ...]:
    known = {code.casefold(): code for code in codes}
    found = (known.get(word.strip(".,;:!?()\"'").casefold()) for word in words.split())
    return tuple(dict.fromkeys(code for code in found if code))
