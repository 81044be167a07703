"""Requests in plain language: turned into a run that is shown and confirmed before anything begins."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ingestion.jobs.negation import split_request
from ingestion.patterns import load_words
from ingestion.prompts import COMMAND_RULES, COMMAND_SCHEMA
from ingestion.protocols import LanguageModel
from ingestion.types.run import PHASES, Phase, RunRequest, Which
from rag_engine.errors import BackendError
from rag_engine.text.folding import fold

# "3" or "1, 2": phases by their numbers.
_PICKED = re.compile(r"\s*\d{1,9}(?:[\s,;]+\d{1,9})*[\s.]*")


@dataclass(frozen=True, slots=True)
class Command:
    """A request made of words; `by` is the name of the model that interpreted them, or "rules"."""

    request: RunRequest
    by: str


def interpret(
    words: str, codes: Collection[str], language_model: LanguageModel | None = None, *, seconds: float = 20.0
) -> Command | None:
    """Return the request that the words ask for, by the model when it answers, else by rules.

    Numbers alone pick from the phases in their order. None if the words are not understood. Nothing is run by it.
    """
    if not words.strip():
        return None
    if _PICKED.fullmatch(words):
        numbers = [int(number) for number in re.findall(r"\d+", words)]
        picked = tuple(phase for place, phase in enumerate(PHASES, 1) if place in numbers)
        return Command(RunRequest(picked), "rules") if len(picked) == len(set(numbers)) else None
    if language_model is not None:
        asked = _by_model(words, codes, language_model, seconds)
        if asked is not None:
            return Command(asked, language_model.name)
    asked = _by_rules(words, codes)
    return Command(asked, "rules") if asked else None


@dataclass(frozen=True, slots=True)
class _Named:
    """The phases and codes that a text names, and whether it asks for failures, newer files, all or a run."""

    phases: tuple[Phase, ...]
    codes: tuple[str, ...]
    failed: bool
    newer: bool
    everything: bool
    run: bool

    @property
    def anything(self) -> bool:
        return bool(self.phases or self.codes or self.failed or self.newer or self.everything or self.run)


def _by_rules(words: str, codes: Collection[str]) -> RunRequest | None:
    parts = split_request(words)
    asked, excepted, forbidden = (_named(text, codes) for text in (parts.asked, parts.excepted, parts.forbidden))
    if parts.excepted and not (excepted.phases or excepted.codes or excepted.newer):
        # An exception that no request can hold, as of what failed: nothing is better than too much.
        return None
    if parts.forbidden and not (forbidden.phases or forbidden.codes or forbidden.newer):
        return None
    if not asked.anything and not (excepted.phases or excepted.codes):
        return None
    left_out = frozenset(excepted.phases) | frozenset(forbidden.phases)
    phases = tuple(phase for phase in asked.phases or PHASES if phase not in left_out)
    without = tuple(dict.fromkeys(excepted.codes + forbidden.codes))
    named = tuple(code for code in asked.codes if code not in without)
    if not phases or (asked.codes and not named):
        return None
    which: Which = "failed" if asked.failed else "all" if asked.everything else "due"
    return RunRequest(phases, named, which, asked.newer and not (excepted.newer or forbidden.newer), without)


def _named(text: str, codes: Collection[str]) -> _Named:
    folded, known = fold(text), load_words("commands")

    def has(key: str) -> bool:
        return re.search(rf"\b(?:{known.get(key, key)})", folded) is not None

    everything = re.search(known["all"], folded) is not None
    phases = tuple(filter(has, PHASES))
    return _Named(phases, _codes(text, codes), has("failed"), has("newer"), everything, has("run"))


def _by_model(words: str, codes: Collection[str], language_model: LanguageModel, seconds: float) -> RunRequest | None:
    try:
        reply = language_model.complete_json(COMMAND_RULES, words[:1000], COMMAND_SCHEMA, seconds=seconds)
    except BackendError:
        return None
    phases, which = reply.get("phases"), reply.get("which")
    if not reply.get("understood") or not isinstance(phases, list) or which not in ("due", "failed", "all"):
        return None
    parts = split_request(words)
    if parts.excepted or parts.forbidden:
        # Models lose a "not": what is left out is read by rules alone.
        return None
    chosen = tuple(phase for phase in PHASES if phase in phases)
    # Codes that the words do not hold are an invention.
    return RunRequest(chosen or PHASES, _codes(words, codes), which, reply.get("refresh") is True)


def _codes(words: str, codes: Collection[str]) -> tuple[str, ...]:
    known = {code.casefold(): code for code in codes}
    found = (known.get(word.strip(".,;:!?()\"'").casefold()) for word in words.split())
    return tuple(dict.fromkeys(code for code in found if code))
