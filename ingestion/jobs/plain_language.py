"""Requests in plain language: turned into a run that is shown and confirmed before anything begins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ingestion.patterns import load_words
from ingestion.prompts import COMMAND_RULES, COMMAND_SCHEMA
from ingestion.protocols import LanguageModel
from ingestion.types.run import PHASES, Phase, RunRequest, Which
from rag_engine.errors import BackendError
from rag_engine.text.folding import fold, fold_in_place

# "3" or "1, 2": phases by their numbers.
_PICKED = re.compile(r"\s*\d{1,9}(?:[\s,;]+\d{1,9})*[\s.]*")
_WORDS = load_words("commands")
_EXCEPT, _NOT, _NOT_ANYWHERE, _AFTER, _BUT, _AND, _OR, _NOT_YET = (
    re.compile(rf"\b(?:{_WORDS[key]})(?!\w)")
    for key in ("except", "not", "not_anywhere", "after", "but", "and", "or", "not_yet")
)
_CLAUSE = re.compile(r"[,;:!?]|\.(?=\s|$)|\s-\s")
_SENTENCE = re.compile(r"[;!?]|\.(?=\s|$)")
_NEGATIVE_VERB = re.compile(rf"\b(?:{_WORDS['negative_verbs']})(?=\s*(?:[,;:!?.]|$))")


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

    >>> request = interpret("Estrai tutto tranne EEA007", ["EEA001", "EEA007"]).request
    >>> request.phases, request.which, request.without
    (('extraction',), 'all', ('EEA007',))
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
    parts = _split_request(words)
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
    folded = fold(text)

    def has(key: str) -> bool:
        return re.search(rf"\b(?:{_WORDS.get(key, key)})", folded) is not None

    everything = re.search(_WORDS["all"], folded) is not None
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
    parts = _split_request(words)
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


@dataclass(frozen=True, slots=True)
class _RequestParts:
    """The words of a request that ask, that except something from all, and that forbid something."""

    asked: str
    excepted: str
    forbidden: str


def _split_request(words: str) -> _RequestParts:
    """Return the parts of a request ("extract all except A1"), with its codes as they were written."""
    folded = fold_in_place(words)
    folded = _NOT_YET.sub(lambda match: " " * len(match[0]), folded)
    excepted = list(_apart(_excepted(folded)))
    forbidden = list(_apart(_forbidden(folded)))
    taken = bytearray(len(words))
    parts = []
    for spans in (excepted, forbidden):
        parts.append(" ; ".join(words[start:end] for start, end in spans))
        for start, end in spans:
            taken[start:end] = b"\x01" * (end - start)
    asked = "".join(" " if taken[place] else character for place, character in enumerate(words))
    return _RequestParts(asked, *parts)


def _apart(found: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans in their order, each without its overlap with the one before."""
    last = 0
    for start, end in sorted(found):
        if end > last:
            yield max(start, last), end
            last = end


def _excepted(folded: str) -> Iterator[tuple[int, int]]:
    for match in _EXCEPT.finditer(folded):
        # "all but the downloads": what is all is asked for.
        start = match.end() - 3 if match[0].endswith(" but") else match.start()
        yield start, _end(folded, match.end(), _SENTENCE)
    for match in _AFTER.finditer(folded):
        yield _start(folded, match.start(), with_and=False), match.end()


def _forbidden(folded: str) -> Iterator[tuple[int, int]]:
    for match in _NOT.finditer(folded):
        yield match.start(), _end_of_list(folded, match.end())
    for match in _NOT_ANYWHERE.finditer(folded):
        yield _start(folded, match.start(), with_and=True), _end_of_list(folded, match.end())
    for match in _NEGATIVE_VERB.finditer(folded):
        yield _start(folded, match.start(), with_and=True), match.end()


def _end(folded: str, start: int, boundary: re.Pattern[str]) -> int:
    """Return where the clause or sentence ends, or where something else begins in it."""
    ends = (found.start() for pattern in (boundary, _BUT) if (found := pattern.search(folded, start)))
    return min(ends, default=len(folded))


def _end_of_list(folded: str, start: int) -> int:
    """Return the end of the clause, behind the last member of a list: "do not download, extract or index"."""
    end = _end(folded, start, _CLAUSE)
    beyond = end
    while beyond < len(folded) and folded[beyond] == ",":
        following = _end(folded, beyond + 1, _CLAUSE)
        if _OR.search(folded, beyond + 1, following):
            return following
        beyond = following
    return end


def _start(folded: str, end: int, *, with_and: bool) -> int:
    """Return where the clause begins that ends there."""
    patterns = (_CLAUSE, _BUT, _AND) if with_and else (_CLAUSE, _BUT)
    return max((found.end() for pattern in patterns for found in pattern.finditer(folded, 0, end)), default=0)
