"""A reply of a model: read as it comes over the network, and as the JSON object it was asked for."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

import jsonschema

from rag_engine.errors import BackendError, CutError, ReplyError
from rag_engine.text.repetition import CHECKED_EVERY, repetition_start
from rag_engine.waiting import still_waiting

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
# A text in quotation marks, or a brace outside of one.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)

_Pairs = list[tuple[str, Any]]


# A value outside a closed list or longer than asked costs that value, which the caller judges, not the whole reply.
_Shape = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, dict.fromkeys(("enum", "maxItems", "maxLength"), lambda *_: ())
)

ReplyPart = TypeVar("ReplyPart")

_PULSE_SECONDS = 1.0

# Why a server says that it has ended a reply that is not finished.
_UNFINISHED = frozenset({"abort", "aborted", "cancelled", "content_filter", "error", "repetition", "timeout", "unload"})
# How servers say that a prompt is longer than the window, and how long both are.
_FULL = re.compile(
    r"exceed_context_size|context_length_exceeded|exceeds? [^.]{0,40}(?:context|max_model_len|n_ctx)"
    r"|maximum (?:context|input|model) length|(?:longer|larger|greater) than [^.]{0,40}(?:context|max_model_len|n_ctx)"
    r"|(?:prompt|input|request) (?:is )?too (?:long|large)|too many tokens|context (?:the )?overflows?",
    re.IGNORECASE,
)
_TOLD = tuple(
    tuple(re.compile(form, re.IGNORECASE) for form in forms)
    for forms in (
        (
            r"\bn_ctx\W{1,4}(\d+)",
            r"(?:context|model|input) (?:length|size|window)(?: of| is|:)?[^\d.]{0,30}(\d{3,7})",
            r"max_model_len\W{1,4}(\d+)",
            r"(\d{3,7}) maximum",
            r"(?:max|maximum|limit)\D{0,20}(\d{3,7}) tokens",
        ),
        (
            r"n_prompt_tokens\W{1,4}(\d+)",
            r"(\d+) (?:tokens )?(?:in|from) the (?:messages|input|prompt)",
            r"(?:request(?:ed)?|prompt|messages|input)\b\D{0,30}?(\d+) (?:input )?tokens",
            r"(?:tokens|prompt) \((?:length )?(\d+)\)",
        ),
    )
)
# A server that counts so few of the encoder's tokens has cut the prompt: the least measured is .85 (data/tokens.toml).
_READ = 0.6


def check_read(counted: int | None, prompt: int, *, model: str, window: int = 0) -> None:
    """Raise CutError where a server has read too few tokens of a prompt, or its window full."""
    if counted and window and counted >= window:
        raise CutError(
            "The prompt filled the window of {window} tokens of {model}, and its server cut off the rest.",
            help="Ask for fewer sources, or use a model with a larger context window.",
            model=model,
            window=window,
        )
    if counted and counted < _READ * prompt:
        raise CutError(
            "{model} read {counted} of about {prompt} tokens: its server cut the passages off.",
            help="Give the model a larger context window, or ask for fewer sources.",
            model=model,
            counted=counted,
            prompt=prompt,
        )


def joined(pieces: Iterable[str], *, model: str) -> str:
    """Return the pieces of a reply in JSON as one text; ReplyError where the model repeats itself.

    Held to a schema, small models fill a text or the blanks between two values until their limit of tokens.
    """
    reply, checked = "", 0
    for piece in pieces:
        reply += piece
        if len(reply) - checked < CHECKED_EVERY:
            continue
        checked = len(reply)
        if repetition_start(reply, worded=False) is not None:
            raise ReplyError(
                "{model} kept repeating itself.",
                help="Ask again; if it stays so, use another model.",
                retryable=True,
                model=model,
            )
    return reply


@dataclass(slots=True)
class Manners:
    """The manners of a server with a model, as they were found.

    `refused` are parameters that it refuses, `window` is its window in tokens, 0 if unknown, and `levels` says that the
    model thinks by levels and cannot be told not to.
    """

    refused: set[str] = field(default_factory=set)
    window: int = 0
    levels: bool = False


def manners_of(url: str, model: str) -> Manners:
    """Return what is known of a server and a model, to be added to while the program runs."""
    return _MANNERS[url, model]


_MANNERS: defaultdict[tuple[str, str], Manners] = defaultdict(Manners)


def find_full_window(said: str) -> tuple[int, int] | None:
    """Return the window and the prompt's tokens, in the words by which a server refuses it.

    0 stands for what they do not say; None is another error.

    >>> find_full_window("This model's maximum context length is 4096 tokens. You requested 5000 tokens.")
    (4096, 5000)
    """
    if not _FULL.search(said):
        return None
    window, counted = (next((int(match[1]) for form in forms if (match := form.search(said))), 0) for forms in _TOLD)
    return window, counted


def check_whole(reason: str | None, *, model: str, tokens: int) -> None:
    """Raise BackendError for a reply that ends without a reason, at its limit, or by a failure."""
    if reason is None:
        raise BackendError("{model} stopped before it had finished.", help="Ask again.", retryable=True, model=model)
    if reason in _UNFINISHED:
        raise BackendError(
            "The server of {model} ended the answer before it was finished ({reason}).",
            help="Ask again, or use another model.",
            retryable=True,
            model=model,
            reason=reason,
        )
    if reason == "length":
        raise BackendError(
            "{model} reached its limit of {tokens} tokens.",
            help="Ask for a shorter answer or for one part of the question.",
            model=model,
            tokens=tokens,
        )


def read_object(reply: str, schema: dict[str, object], *, model: str) -> dict[str, object]:
    """Return the JSON object in a reply, of the shape of the schema; ReplyError when there is none.

    Values that the schema's closed lists do not hold are left for the caller to drop.
    """
    help = "Ask again; if it stays so, use another model."
    found = parse_object(reply)
    if found is None:
        raise ReplyError(
            "{model} replied with no JSON object: {reply!r}.", help=help, retryable=True, model=model, reply=reply[:80]
        )
    try:
        jsonschema.validate(found, schema, cls=_Shape)
    except jsonschema.ValidationError as error:
        raise ReplyError(
            "{model} replied with other JSON: {error}.",
            help=help,
            retryable=True,
            model=model,
            error=error.message[:200],
        ) from error
    return found


def parse_object(reply: str) -> dict[str, object] | None:
    """Return the JSON object that a reply holds, or None.

    Models add text to an object if their server cannot hold them back. So four passes are tried:

    - the whole text
    - a fenced block
    - the text from an opening brace to its closing one
    - all of these without duplicate keys, of which the first stays

    >>> parse_object('Here it is: {"pages": 3}.')
    {'pages': 3}
    """
    candidates = [reply.strip(), *(match[1].strip() for match in _FENCE.finditer(reply)), *_balanced(reply)]
    for pairs in (_unique, lambda pairs: dict(reversed(pairs))):
        for text in candidates:
            found = _decode(text, pairs)
            if found is not None:
                return found
    return None


def _balanced(reply: str) -> Iterator[str]:
    """Yield each text from a brace to its closing one; none out of an object that never ends."""
    start = reply.find("{")
    while start >= 0:
        end = _balance(reply, start)
        if end < 0:
            return
        yield reply[start:end]
        start = reply.find("{", end)


def _balance(reply: str, start: int) -> int:
    """Return the end of the braces that open at `start`, or -1 if they never close."""
    depth = 0
    for match in _TOKEN.finditer(reply, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return -1


def _decode(text: str, pairs: Callable[[_Pairs], dict[str, Any]]) -> dict[str, object] | None:
    """Return the object at the start of the text, None if there is none.

    Text after its closing brace is passed over.
    """
    if not text.startswith("{"):
        return None
    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_refuse)
    try:
        found, _ = decoder.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return dict(found)


def _unique(pairs: _Pairs) -> dict[str, Any]:
    """Return the object; ValueError for a key that occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("A key is there twice.")
    return found


def _refuse(constant: str) -> None:
    """Refuse NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(constant)


def read_parts(parts: AsyncIterator[ReplyPart], *, seconds: float) -> Iterator[ReplyPart]:
    """Yield the parts of a reply as they come.

    TimeoutError if `seconds` have passed and another part is awaited.

    The listener of rag_engine/waiting.py is called about once a second, with or without parts. Its exceptions, an
    interrupt and the closing of this iterator end the request at once. The server is then free for the next.
    """
    started = called = monotonic()
    with _event_loop() as loop:
        while True:
            coming = asyncio.run_coroutine_threadsafe(_next(parts), loop)
            while not coming.done():
                left = started + seconds - monotonic()
                if left <= 0:
                    raise TimeoutError
                wait([coming], min(left, _PULSE_SECONDS))
                if monotonic() - called >= _PULSE_SECONDS:
                    called = monotonic()
                    still_waiting(called - started)
            part = coming.result()
            if part is None:
                return
            yield part


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Yield an event loop that runs in a separate thread.

    Its open tasks are cancelled at the end. The asking thread may have a running loop already, as in a notebook, and a
    blocking read could not be left.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="read a reply", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _next(parts: AsyncIterator[ReplyPart]) -> ReplyPart | None:
    return await anext(parts, None)


async def _cancel_tasks() -> None:
    """Cancel every other task of the loop and close its generators, which hangs up."""
    # A connection attempt that has not begun could not be cancelled without a warning of the client's library.
    await asyncio.sleep(0)
    # A task that is cancelled may begin another.
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
