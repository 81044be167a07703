"""Markdown of texts by documents, models and people, escaped so that nothing in them acts as markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from pages._shared.interface_language import _
from rag_engine.takeaway.exported_text import AnswerLine, AnswerRun, answer_lines

# Streamlit replaces some patterns after parsing, where a backslash is gone: links that are only an address,
# :icons:, and arrows. An empty directive between two of their letters keeps them apart; it draws nothing and is
# not copied along, as an invisible character would be.
_BREAK = ":small[]"
_LATE = re.compile(r"(?<=:)(?=[\w+/-])|(?<=www)(?=\.)|(?=@)|(?<=-)(?=[->])|(?<=<)(?=-)|(?<=[<>~])(?==)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"""([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])""")
# All but the narrow one, and one alone that does not break: before a colon in French they keep the two on one line.
_BLANKS = re.compile("\u00a0*[^\\S\u00a0\u202f][^\\S\u202f]*")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def escape(text: str) -> str:
    r"""Return markdown that shows the text unchanged in one line, without links, HTML or other markup.

    Control characters and those that reverse the direction of writing are dropped.

    >>> print(escape("Rule *3*"))
    Rule \*3\*
    """
    visible = _BLANKS.sub(" ", _UNSEEN.sub("", text)).strip()
    return _BREAK.join(_PUNCTUATION.sub(r"\\\1", piece) for piece in _LATE.split(visible))


def escape_paragraphs(text: str) -> str:
    """Return the markdown of several lines, each shown unchanged."""
    return "  \n".join(escape(line) for line in text.strip().splitlines())


def quoted(markdown: str) -> str:
    """Return markdown in the quotation marks of the language of the interface."""
    # For translators: only the quotation marks of the language.
    return _("“{text}”").format(text=markdown)


def highlighted(pieces: Sequence[tuple[str, bool]]) -> str:
    """Return the markdown of pieces of a text in one line, with the flagged pieces highlighted."""
    return "".join(f":green-background[{escape(text)}]" if marked else _spaced(text) for text, marked in pieces)


def faded(pieces: Sequence[tuple[str, bool, bool]]) -> str:
    """Return the markdown of pieces in one line: highlighted if marked, else gray unless near."""
    return "".join(
        f":green-background[{escape(text)}]" if marked else _spaced(text) if near else _gray(text)
        for text, marked, near in pieces
    )


def answer_markdown(text: str, mark: Callable[[int], str]) -> str:
    """Return an answer's markdown: lists, headings, bold words, and `mark(n)` for each [Source n]."""
    return "\n".join(_line(line, mark) for line in answer_lines(text))


def _line(line: AnswerLine, mark: Callable[[int], str]) -> str:
    words, indent = _words(line.runs, mark), "    " * line.depth
    match line.kind:
        case "bullet":
            return f"{indent}- {words}"
        case "numbered":
            return f"{indent}{line.number}. {words}"
        case "heading":
            return f"\n**{words}**\n"
        case "table":
            rows = [f"| {' | '.join(_words(cell, mark) for cell in row)} |" for row in line.cells]
            # A blank line parts a table from the text above it.
            return "\n".join(["", rows[0], "|" + " --- |" * len(line.cells[0]), *rows[1:], ""])
        case "text":
            # Two blanks at the end keep a single line break, as the model wrote it.
            return f"{words}  " if line.runs else ""


def _words(runs: Sequence[AnswerRun], mark: Callable[[int], str]) -> str:
    pieces: list[str] = []
    for bold, group in groupby(runs, key=lambda run: run.bold):
        words = "".join(_spaced(run.text) if run.n is None else mark(run.n) for run in group)
        pieces.append(f"**{words}**" if bold else words)
    return "".join(pieces)


def _gray(text: str) -> str:
    # Blanks stand outside: a directive that ends in one is not read as such.
    shown = _spaced(text)
    return shown.replace(shown.strip(), f":gray[{shown.strip()}]", 1) if shown.strip() else shown


def _spaced(text: str) -> str:
    """Return the text escaped, with the blanks at its ends, which separate it from its neighbours."""
    if not text.strip():
        return text and " "
    return f"{' ' if text[0].isspace() else ''}{escape(text)}{' ' if text[-1].isspace() else ''}"
