"""The formats in which a text can be taken away, by the suffix of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from rag_engine.answering.replies import CHECKED_MARK
from rag_engine.errors import InputError
from rag_engine.takeaway.bibliography import cited_entries, cited_pages, to_bibtex, to_ris
from rag_engine.takeaway.docx import to_docx
from rag_engine.takeaway.exported_text import ExportedSection, ExportedText, footnote_texts, in_one_line, visible_text
from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.document import DocumentRecord

# Each suffix with the name of its format; the last two hold the documents that are cited, and no text.
FORMATS: Mapping[str, str] = {".docx": "Word", ".md": "Markdown", ".bib": "BibTeX", ".ris": "RIS"}

_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&!$])")
# What a model or a document wrote keeps its lists and bold words, but no HTML, link, picture, formula or code.
# But for what a quotation has escaped already.
_ACTIVE = re.compile(r"\\(?![*|])|[<\[`~&$]")
# Where some readers make a link of an address alone; a backslash behind the match keeps it text.
_ADDRESS = re.compile(r"(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|(?=@)", re.IGNORECASE)
# A line that is indented as far is code.
_INDENTED = re.compile(r"^[ \t]{4,}(?![-*•]|\d{1,3}[.)])", re.MULTILINE)


def export_file(
    text: ExportedText, suffix: str, documents: Iterable[DocumentRecord], words: Wording = ENGLISH
) -> bytes:
    """Return the content of a file with this suffix; `documents` describe the cited documents.

    InputError for a suffix without a format.
    """
    match suffix:
        case ".docx":
            return to_docx(text, datetime.now(UTC), words)
        case ".md":
            return to_markdown(text, words).encode()
        case ".bib":
            return to_bibtex(cited_entries(text.citations, documents), cited_pages(text.citations)).encode()
        case ".ris":
            return to_ris(cited_entries(text.citations, documents), cited_pages(text.citations)).encode()
        case _:
            raise InputError(f"No file that ends in {suffix!r} can be exported.", help=f"Use {', '.join(FORMATS)}.")


def to_markdown(text: ExportedText, words: Wording = ENGLISH) -> str:
    """Return the text as Markdown: headings, answers and quotes, and the footnotes of each section.

    The title and the questions are headings.
    """
    blocks = [f"# {_escaped(text.title)}"]
    for number, section in enumerate(text.sections, start=1):
        blocks += filter(None, _section(section, number, words))
    return "\n\n".join(blocks) + "\n"


def _section(section: ExportedSection, number: int, words: Wording) -> Iterator[str]:
    if section.heading:
        yield f"## {_escaped(section.heading)}"
    if section.details:
        yield f"*{' · '.join(_escaped(detail) for detail in section.details)}*"
    footnotes = footnote_texts(section, words)
    labels = {n: f"[^{number}-{n}]" for n in footnotes}
    yield _marked(section.text, labels)
    yield _table(section.table, labels)
    yield "\n>\n".join(f"> “{_escaped(quote.quote)}” {labels[quote.n]}" for quote in section.quotes)
    yield _kept(section.remark)
    for note in section.notes:
        yield f"*{_escaped(note)}*"
    yield "\n".join(f"{labels[n]}: {_escaped(text)}" for n, text in footnotes.items())


def _marked(text: str, labels: dict[int, str]) -> str:
    """Return the text with each mark of a cited source as a footnote's."""
    pieces = CHECKED_MARK.split(text)
    marks = [labels.get(int(n), _kept(f"[Source {n}]")) for n in pieces[1::2]]
    return "".join(kept + mark for kept, mark in zip(map(_kept, pieces[::2]), [*marks, ""], strict=True)).strip("\n")


def _table(rows: tuple[tuple[str, ...], ...], labels: dict[int, str]) -> str:
    if not rows:
        return ""
    cells = [[*map(_escaped, row[:-1]), _marked(row[-1], labels)] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], ["---"] * len(cells[0]), *cells[1:]))


def _kept(text: str) -> str:
    """Return the text in its lines, with links and markup escaped."""
    return _unlinked(_ACTIVE.sub(r"\\\g<0>", _INDENTED.sub("   ", visible_text(text))))


def _escaped(text: str) -> str:
    """Return the text on one line, with nothing in it that acts as markup."""
    return _unlinked(_MARKUP.sub(r"\\\1", in_one_line(text)))


def _unlinked(text: str) -> str:
    return _ADDRESS.sub(r"\g<0>\\", text)
