"""Search for inputs that break a parser, guided by the lines that they reach.

An input that reaches a line which no other has reached is kept, and changed further.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from tests.conftest import ROOT

_SIGNS = (
    *(
        b"<",
        b">",
        b"&",
        b'"',
        b"'",
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b")",
        b"/",
        b"\\",
        b":",
        b";",
        b",",
        b"=",
        b"%",
        b"#",
    ),
    *(
        b"\n",
        b"\r\n",
        b"\t",
        b" ",
        b"\0",
        b"\x1b",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xef\xbb\xbf",
    ),
    *(
        b"\xe2\x80\xa8",
        b"\xe2\x80\x8b",
        b"\xe2\x80\xae",
        b"\xcc\x81",
        b"\xc2\xb2",
        b"\xd9\xa3",
        b"-1",
        b"0",
        b"1e999",
        b"NaN",
    ),
    *(
        b"99999999999999999999",
        b"null",
        b"true",
        b"[Source 1]",
        b"[1]",
        b"</",
        b"<!--",
        b"<![CDATA[",
        b"&#0;",
        b"\\ud800",
    ),
    *(b"http://", b"https://a.b/", b"2020-13-45", b"../../", b"%00", b"@"),
)
_FIRST_SECONDS = 60.0


class TooSlow(BaseException):
    """One input took longer than it may; no parser catches it."""


@dataclass(frozen=True)
class Broken:
    """An input and the error that nobody promised."""

    content: bytes
    error: str


def search(
    parse: Callable[[bytes], object],
    seeds: Sequence[bytes],
    promised: tuple[type[Exception], ...],
    *,
    seconds: float,
    longest: float = 5.0,
    most_bytes: int = 4000,
    seed: int = 15,
) -> tuple[int, list[Broken]]:
    """Return the number of inputs tried within the time, and the inputs that broke the parser.

    An input breaks the parser if it ends in another error than the promised ones.
    """
    chance, reached, kept, broken = random.Random(seed), set[tuple[CodeType, int]](), list(seeds), dict[str, Broken]()
    # Also for the tables that are read at the first input.
    errors = [_error(parse, content, promised, reached, _FIRST_SECONDS) for content in seeds]
    broken |= {error: Broken(content, error) for content, error in zip(seeds, errors, strict=True) if error}
    end, tried = time.monotonic() + seconds, len(seeds)
    while time.monotonic() < end:
        content = _changed(chance.choice(kept), kept, chance)[:most_bytes]
        tried += 1
        before = len(reached)
        error = _error(parse, content, promised, reached, longest)
        if error:
            broken.setdefault(error, Broken(content, error))
        if len(reached) > before:
            kept.append(content)
    return tried, list(broken.values())


def _error(
    parse: Callable[[bytes], object],
    content: bytes,
    promised: tuple[type[Exception], ...],
    reached: set[tuple[CodeType, int]],
    longest: float,
) -> str:
    """Return the error that parsing ends in, "" if there is none or a promised one.

    Note the lines of ours that the parser reaches.
    """

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(_OWN):
            return None
        if event == "line":
            reached.add((frame.f_code, frame.f_lineno))
        return trace

    # Tests are measured by the same means.
    around = sys.gettrace()
    timed = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, longest)
    sys.settrace(trace)
    try:
        parse(content)
    except promised:
        return ""
    except TooSlow:
        return f"took more than {longest:g} s of processor"
    except Exception as error:
        sys.settrace(None)
        last = error.__traceback__
        while last and last.tb_next:
            last = last.tb_next
        place = f"{last.tb_frame.f_code.co_filename}:{last.tb_lineno}" if last else ""
        return f"{type(error).__name__} at {place}"
    finally:
        sys.settrace(around)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, timed)
    return ""


_OWN = tuple(f"{ROOT / package}/" for package in ("rag_engine", "ingestion"))


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooSlow


def _changed(content: bytes, kept: Sequence[bytes], chance: random.Random) -> bytes:
    """Return the input with one to four changes."""
    for _time in range(chance.randint(1, 4)):
        start = chance.randrange(len(content) + 1)
        stop = min(len(content), start + chance.choice((0, 1, 1, 4, 30)))
        other = chance.choice(kept)
        piece = other[chance.randrange(len(other) + 1) :][: chance.choice((1, 8, 60))]
        put = chance.choice(
            (chance.choice(_SIGNS), chance.choice(_SIGNS), b"", piece, content[start:stop] * 3, chance.randbytes(2))
        )
        content = content[:start] + put + content[stop:]
    return content
