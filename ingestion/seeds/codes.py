"""Codes for sources whose list gives none: a prefix from the authority or host, and the next free number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from rag_engine.text.folding import fold
from rag_engine.text.templates import kept_sentence

_LONGEST_PREFIX = 8
_LONGEST_CODE = 64
_IN_BRACKETS = re.compile(r"\(([A-Z][A-Z0-9]{1,7})\)")
_SMALL_WORDS = {
    "of", "the", "for", "and", "on", "in", "di", "della", "del", "dei", "delle", "per", "e", "de", "la", "le", "des",
    "du", "et", "y", "el", "los", "las", "para", "der", "die", "das", "und", "fur", "do", "da", "dos", "og", "ve",
}  # fmt: skip


class Codes:
    """Codes in use, compared without regard to case since they become file names; gives out free ones."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used: set[str] = set()
        self._last: dict[str, int] = {}
        for code in used:
            self.reserve(code)

    def __contains__(self, code: str) -> bool:
        return code.casefold() in self._used

    def reserve(self, code: str) -> None:
        """Reserve the code and the lower numbers of its prefix."""
        self._used.add(code.casefold())
        if match := re.fullmatch(r"(.{0,60}?)(\d{1,9})(?:[.-]\d{1,6})*", code.casefold()):
            self._last[match.group(1)] = max(self._last.get(match.group(1), 0), int(match.group(2)))

    def next(self, prefix: str) -> str:
        """Return the code after the highest one of a prefix, of at least three digits: EEA007."""
        number = self._last.get(prefix.casefold(), 0) + 1
        while f"{prefix}{number:03}" in self:
            number += 1
        self.reserve(code := f"{prefix}{number:03}")
        return code


def prefix_for(name: str, url: str = "") -> str:
    """Return two to eight capitals and digits for an authority, a folder or, without a name, an address's host."""
    if match := _IN_BRACKETS.search(name):
        return match.group(1)
    words = [re.sub(r"[^a-z0-9]", "", fold(word)) for word in re.split(r"[\s\-–—_/,.:;'’()]+", name)]
    words = [word for word in words if word and word not in _SMALL_WORDS]
    if len(words) > 1:
        return _capitals("".join(word[0] for word in words))
    if words:
        return _capitals(words[0])
    labels = (urlsplit(url).hostname or "").split(".")
    named = [label for label in labels if label not in ("www", "m", "en")] or labels
    return _capitals(re.sub(r"[^a-z0-9]", "", fold(named[0])))


def why_refused_code(code: str) -> str:
    """Return why a code cannot name a source and its file, or ""."""
    if len(code) > _LONGEST_CODE:
        return kept_sentence("the code “{code}…” is longer than {most} characters", code=code[:20], most=_LONGEST_CODE)
    if not code.isprintable() or re.search(r'[/\\<>:"|?*]', code) or code.startswith("."):
        return kept_sentence(
            "the code “{code}” cannot be part of a file name; use letters, digits, dot, hyphen and underscore",
            code=repr(code),
        )
    return ""


def _capitals(text: str) -> str:
    # A prefix that ends in a digit would run into the number.
    kept = text[:_LONGEST_PREFIX].upper().rstrip("0123456789")
    return kept if len(kept) > 1 else f"{kept}DOC"[:_LONGEST_PREFIX]
