"""The list of references that a model writes itself: it is dropped, since which those are is known from the catalog.

The text is read line by line as it comes, so that what is shown while it is written is what stays.
"""

from __future__ import annotations

import re

from rag_engine.prompts import LABEL_WORDS, PAGE_WORDS, REFERENCE_HEADINGS, SOURCE_WORDS
from rag_engine.text.sentences import Span

_YEAR = r"\(?(?:1[89]|20)\d\d[a-z]?\)?"
_PAGE = PAGE_WORDS + r"\.?\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?"
_YEAR_OR_PAGE = re.compile(rf"\s*(?:{_YEAR}|{_PAGE})\s*\.?\s*", re.IGNORECASE)
_DESCRIBED = re.compile(rf"(?:^|[,;:.(])\s*(?:{_YEAR}|{_PAGE})\s*(?=[,;:.)]|$)", re.IGNORECASE)
_LICENCE = re.compile(r"\s*(?:CC[ -]BY\b|CC0|public domain)[^,;]*", re.IGNORECASE)
# The end of what stands before the year of a date: "3 May, 2020".
_DAY = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)?|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s*$", re.IGNORECASE
)
_ADDRESS = re.compile(r"https?://|\bwww\.|\.(?:pdf|docx?|html?)\b", re.IGNORECASE)
_LINE_START = r"\s*(?:[-–—*•]\s*|\d{1,2}[.)]\s*)?\*{0,2}"
_ENTRY_START = re.compile(r"\s*[-–—*•\[【(（\d]")
_LISTED_START = re.compile(rf"\s*(?:[\[【［]|[(（]{SOURCE_WORDS}|\d{{1,2}}[.)]\s|[-–—*•]\s)", re.IGNORECASE)
_MARK = rf"[\[【［(（](?:{SOURCE_WORDS}|{LABEL_WORDS}|s)?\W{{0,3}}\^?\d{{1,3}}(?!\d)[^\]】］)）\n]{{0,20}}[\]】］)）]"
_MARKED_LINE = re.compile(rf"{_LINE_START}{_MARK}[*:.\s]*(?=\w|[“\"«])", re.IGNORECASE)
_MARK_BEGUN = re.compile(
    rf"{_LINE_START}(?:[\[【［(（][^\]】］)）\n]{{0,40}}(?:[\]】］)）][*:.\s]*)?)?$", re.IGNORECASE
)
# Words of a title or a name; a sentence without a comma is soon longer.
_LONGEST_PART = 24


class UnlistedWords:
    """An answer's words as they come, without the lists of references among them.

    `listed` are the places of what was dropped, in the text that came.
    """

    def __init__(self) -> None:
        self.listed: list[Span] = []
        self._line = ""  # what came of a line that is not decided yet
        self._start = 0  # where that begins in the text
        self._is_open = False  # whether the beginning of its line is given already
        self._is_list = False
        self._waiting: list[tuple[int, str]] = []  # blank lines and entries without a heading, until something follows
        self._has_given = False
        self._came = ""  # all that came before anything was given

    def take(self, piece: str) -> str:
        """Return what is certain to stay of the text so far and was not returned yet."""
        self._line += piece
        if not self._has_given:
            self._came += piece
        given = ""
        while "\n" in self._line:
            line, _, rest = self._line.partition("\n")
            given += self._decided(line)
            end = self._drop if self._is_list else self._wait
            end("\n")
            self._line = rest
        if self._line and (self._is_open or not self._may_be_listed(self._line)):
            given += self._given(self._line)
            self._line, self._is_open, self._is_list = "", True, False
        return given

    def rest(self) -> str:
        """Return what stays of what was held back when the text ended; blank lines at its end do not.

        A text that is nothing but a list stays.
        """
        given = self._decided(self._line) if self._line else ""
        if not self._has_given:
            self.listed = []
            return self._came
        self.listed += [(start, start + len(text)) for start, text in self._waiting if text.strip()]
        return given

    def _decided(self, line: str) -> str:
        """Return a whole line, without its end, as far as it is given now."""
        if self._is_open:
            self._is_open = False
            return self._given(line)
        if not line.strip():
            return self._drop(line) if self._is_list else self._wait(line)
        if _is_heading(line) or _is_inline_list(line):
            self._is_list = True
            return self._drop(line)
        if self._is_list and _is_entry(line):
            return self._drop(line)
        self._is_list = False
        return self._wait(line) if _is_marked_entry(line) else self._given(line)

    def _given(self, text: str) -> str:
        before = "".join(text for _, text in self._waiting)
        self._waiting = []
        self._start += len(text)
        self._has_given = self._has_given or bool(text.strip())
        return before + text

    def _wait(self, text: str) -> str:
        self._waiting.append((self._start, text))
        self._start += len(text)
        return ""

    def _drop(self, text: str) -> str:
        if text.strip():
            self.listed.append((self._start, self._start + len(text)))
        self._start += len(text)
        return ""

    def _may_be_listed(self, line: str) -> bool:
        """Whether the beginning of a line may turn out to belong to a list of references."""
        if self._is_list or not line.strip():
            return True
        plain = _plain(line)
        if any(heading.startswith(plain.partition(":")[0].rstrip("*_ ")) for heading in REFERENCE_HEADINGS):
            return plain.partition(":")[0].rstrip("*_ ") in REFERENCE_HEADINGS or ":" not in plain
        if _MARK_BEGUN.match(line):
            return True
        marked = _MARKED_LINE.match(line)
        return marked is not None and _has_short_parts(line[marked.end() :])


def without_references(text: str) -> str:
    """Return the text without the lists of references in it."""
    words = UnlistedWords()
    kept = words.take(text) + words.rest()
    return kept.strip() if words.listed else text


def listed_spans(text: str) -> list[Span]:
    """Return the places of the lists of references in a text."""
    words = UnlistedWords()
    words.take(text)
    words.rest()
    return words.listed


def _plain(line: str) -> str:
    """Return a line without the signs of a heading around it."""
    return " ".join(line.strip().lstrip("#*_ 0123456789.)").rstrip("*_:. ").casefold().split())


def _is_heading(line: str) -> bool:
    return _plain(line) in REFERENCE_HEADINGS


def _is_inline_list(line: str) -> bool:
    """Whether a line has a heading and what is listed: "Sources used: Ministry, 1999, page 77"."""
    head, colon, listed = line.partition(":")
    listed = listed.strip("*_ ")
    return bool(colon and listed) and _is_heading(head) and (bool(_LISTED_START.match(listed)) or _is_described(listed))


def _is_entry(line: str) -> bool:
    """Whether a line below a heading belongs to the list."""
    names = "," in line and not line.rstrip().endswith((".", "!", "?", ":")) and _has_short_parts(line)
    return names or bool(_ENTRY_START.match(line)) or _is_described(line)


def _is_described(text: str) -> bool:
    """Whether a text has a year, a page or an address between commas or brackets, as a sentence has not."""
    return bool(_ADDRESS.search(text) or _DESCRIBED.search(text))


def _is_marked_entry(line: str) -> bool:
    """Whether a line is an entry without any heading above: a mark, names, and last a year, a page or a licence."""
    match = _MARKED_LINE.match(line)
    if not match:
        return False
    *names, last = re.split("[,;]", line[match.end() :])
    return (
        bool(names)
        and bool(_YEAR_OR_PAGE.fullmatch(last) or _LICENCE.fullmatch(last))
        and not _DAY.search(names[-1])
        and _has_short_parts(line[match.end() :])
    )


def _has_short_parts(text: str) -> bool:
    return all(len(part.split()) <= _LONGEST_PART for part in re.split("[,;]", text))
