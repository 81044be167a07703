"""Markdown of texts by documents, models and people, escaped so that nothing in them acts as markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# Streamlit replaces some patterns after parsing, where a backslash is gone: links that are only an address,
# :icons:, and arrows. An empty directive between two of their letters keeps them apart; it draws nothing and is
# not copied along, as an invisible character would be.
_BREAK = ":small[]"
_LATE = re.compile(r"(?<=:)(?=[\w+/-])|(?<=www)(?=\.)|(?=@)|(?<=-)(?=[->])|(?<=<)(?=-)|(?<=[<>~])(?==)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"""([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])""")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

_MARK = re.compile(r"\[Source (\d+)\]")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*")
_BULLET = re.compile(r"(\s*)[-*•]\s+(.+)")
_NUMBERED = re.compile(r"(\s*)(\d{1,3})[.)]\s+(.+)")


def escape(text: str) -> str:
    """Return markdown that shows the text unchanged, in one line: no link, picture, HTML, formula, icon or colour.

    Control characters and those that reverse the direction of writing are dropped.
    """
    visible = " ".join(_UNSEEN.sub("", text).split())
    return _BREAK.join(_PUNCTUATION.sub(r"\\\1", piece) for piece in _LATE.split(visible))


def escape_paragraphs(text: str) -> str:
    """Return the same for several lines, each on a line of its own."""
    return "  \n".join(escape(line) for line in text.strip().splitlines())


def highlighted(pieces: Sequence[tuple[str, bool]]) -> str:
    """Return the markdown of pieces of a text in one line, those that are flagged marked as with a highlighter."""
    return "".join(f":green-background[{escape(text)}]" if marked else _spaced(text) for text, marked in pieces)


def answer_markdown(text: str, mark: Callable[[int], str]) -> str:
    """Return the markdown of an answer: its lists, headings and bold words, each [Source n] replaced by `mark(n)`."""
    return "\n".join(_line(line, mark) for line in text.splitlines())


def _line(line: str, mark: Callable[[int], str]) -> str:
    if match := _BULLET.fullmatch(line):
        return f"{_indent(match[1])}- {_words(match[2], mark)}"
    if match := _NUMBERED.fullmatch(line):
        return f"{_indent(match[1])}{match[2]}. {_words(match[3], mark)}"
    if match := _HEADING.fullmatch(line.strip()):
        return f"\n**{_words(match[1].replace('**', ''), mark)}**\n"
    # Two blanks at the end keep a single line break, as the model wrote it.
    return f"{_words(line, mark)}  " if line.strip() else ""


def _indent(blanks: str) -> str:
    return "    " * min(len(blanks.expandtabs(4)) // 2, 2)


def _words(text: str, mark: Callable[[int], str]) -> str:
    return _alternate(_BOLD, text, lambda bold: f"**{_marked(bold, mark)}**", lambda rest: _marked(rest, mark))


def _marked(text: str, mark: Callable[[int], str]) -> str:
    return _alternate(_MARK, text, lambda number: mark(int(number)), _spaced)


def _alternate(pattern: re.Pattern[str], text: str, matched: Callable[[str], str], rest: Callable[[str], str]) -> str:
    pieces = pattern.split(text)
    return "".join(matched(piece) if i % 2 else rest(piece) for i, piece in enumerate(pieces))


def _spaced(text: str) -> str:
    """Return the text escaped, with the blanks at its ends, which separate it from its neighbours."""
    if not text.strip():
        return text and " "
    return f"{' ' if text[0].isspace() else ''}{escape(text)}{' ' if text[-1].isspace() else ''}"
