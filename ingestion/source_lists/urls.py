"""The web addresses in a piece of text, and the reasons why others cannot be fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.text.folding import fold

_START = re.compile(r"(?:https?://|www\.)", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{1,20}):", re.IGNORECASE)
_FOREIGN = ("mailto", "javascript", "file", "ftp", "ftps", "data", "tel", "sftp", "vbscript", "about", "blob")
_SEPARATORS = re.compile(r"[\n\r\t]|[;,|](?=\s*(?:https?://|www\.))", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0]")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_FILE = re.compile(r"\w\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|html?|rtf|epub|txt|csv|md)[)\]>'\".,]*$", re.IGNORECASE)
# A remark on an address, folded: in brackets, behind a dash, or when somebody looked at it.
_REMARK = re.compile(
    r"[(\[\u2013\u2014]|-\s|"
    r"(?:(?:last|ultimo|ultima|derniere|zuletzt|stand|on|am|il|le|el|em)\b.{0,12})?\b(?:"
    r"visited|accessed|retrieved|viewed|checked|seen|abgerufen|aufgerufen|besucht|zugriff|consult\w+|acces\w+|visitat\w+|"
    r"visite\w*|visitad\w+|acess\w+|erisim\w*|geraadpleegd|bezocht|besokt|lest)\b"
)
_LONGEST = 4_000
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses as they would be fetched, and reasons for the refused ones."""

    found: tuple[str, ...] = ()
    refused: tuple[Message, ...] = ()


def addresses_in(text: str, *, with_words: bool = False) -> Addresses:
    """Return the addresses of a cell, each once.

    They are parted by line ends, semicolons, commas, bars or spaces. A remark may follow the address of a cell, as in
    "see https://... (visited 3 May 2021)".

    Other words after an address mean that it holds spaces. It is read if it then ends in the name of a file, and
    refused otherwise. A line of free text (`with_words`) may go on.

    >>> addresses_in("https://example.org/a; https://example.org/b").found
    ('https://example.org/a', 'https://example.org/b')
    """
    found: list[str] = []
    refused: list[Message] = []
    for piece in filter(None, map(str.strip, _SEPARATORS.split(text))):
        words = piece.split()
        starts = [number for number, word in enumerate(words) if _START.match(word.lstrip("<(['\""))]
        if not starts:
            scheme = _SCHEME.match(piece)
            if scheme and scheme.group(1).lower() in _FOREIGN:
                refused.append(
                    Message(
                        "{text} is an address of {scheme}; only http and https are read",
                        text=_short(piece),
                        scheme=scheme.group(1).lower(),
                    )
                )
            continue
        if not with_words:
            if len(starts) == 1 and _FILE.search(words[-1]) and not _FILE.search(words[starts[0]]):
                words = [*words[: starts[0]], "%20".join(words[starts[0] :])]
            words = _without_remark(words, starts[-1])
        if not with_words and starts[-1] < len(words) - 1:
            refused.append(
                Message("{text} holds a space; write it as %20 or remove what is not the address", text=_short(piece))
            )
            continue
        for number in starts:
            address = _trimmed(words[number])
            if reason := why_refused(address):
                refused.append(reason)
            else:
                found.append(address)
    return Addresses(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(refused)))


def _without_remark(words: list[str], last: int) -> list[str]:
    """Return the words up to a remark behind the last address, all of them where there is none."""
    for place in range(last + 1, len(words)):
        if _REMARK.match(fold(" ".join(words[place:]))):
            return words[:place]
    return words


def why_refused(address: str) -> Message:
    """Return why an address cannot be fetched, or "" if it can as far as its form tells."""
    if len(address) > _LONGEST:
        return Message("{text} is longer than {most:,} characters", text=_short(address), most=_LONGEST)
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return Message("{text} is no valid address", text=_short(address))
    if parts.scheme.lower() not in ("http", "https"):
        return Message("{text} does not begin with http:// or https://", text=_short(address))
    if not host or host.startswith(".") or ".." in host or re.search(r"[^\w.:\-]", host):
        return Message("{text} names no valid host", text=_short(address))
    if parts.username is not None:
        return Message("{host} is given with a user name; lists keep no passwords, remove it", host=_short(host))
    if _UNPRINTABLE.search(address):
        return Message("{text} holds a space or a control character", text=_short(address))
    return NO_MESSAGE


def _trimmed(word: str) -> str:
    """Return a word without the quotes, brackets and stops around it.

    www. without a scheme gets http, behind which https is tried too where nobody answers.
    """
    if len(word) > 2 * _LONGEST:  # too long to be taken, and to be looked at again for each bracket
        return word
    address = word.strip("<>'\"“”«»").lstrip("([")
    while address and (address[-1] in ".,;|" or _closes_nothing(address)):
        address = address[:-1]
    return address if address[:4].lower() == "http" else f"http://{address}"


def _closes_nothing(address: str) -> bool:
    opening = _CLOSING.get(address[-1])
    return opening is not None and address.count(opening) < address.count(address[-1])


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * _SHOWN].split())
    return f"“{flat[:_SHOWN]}…”" if len(flat) > _SHOWN else f"“{flat}”"
