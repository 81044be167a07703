"""Control characters of foreign texts, which a terminal or the reader's eye would obey."""

from __future__ import annotations

import io
import re
import sys

# All of C0 but tab and line feed, delete, and C1, whose CSI some terminals take for ESC and a bracket. Surrogates too:
# they replace bytes of a file's name that are not UTF-8, and no stream takes them.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

# They turn the order of the characters after them: a name that ends in "fdp.exe" is read as one in "exe.pdf".
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def without_direction_marks(text: str) -> str:
    """Return a name or title without the marks that change its direction of reading."""
    return _TURNING.sub("", text)


def without_controls(text: str) -> str:
    """Return the text without characters that control a terminal.

    They move its cursor, colour its words or rename its window.
    """
    return _OBEYED.sub("", text)


def escaped_controls(json: str) -> str:
    """Return JSON with its control characters as escapes, which stand for the same text."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", json)


class PlainStream(io.TextIOWrapper):
    """A stream that leaves out control characters.

    No title, name or text of a document can act on the terminal.
    """

    def write(self, text: str) -> int:
        """Write the text without its control characters; return its length, as given."""
        super().write(without_controls(text))
        return len(text)


def print_plainly() -> None:
    """Leave control characters out of all that this process prints.

    Errors and their tracebacks are included. For a process whose output is a log. Call it before other modules get hold
    of the streams.
    """
    for name in ("stdout", "stderr"):
        former = getattr(sys, name)
        plain = PlainStream(former.buffer, former.encoding, "backslashreplace", line_buffering=True, write_through=True)
        setattr(sys, name, plain)
