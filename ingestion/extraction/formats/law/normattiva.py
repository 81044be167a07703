"""Akoma Ntoso of Normattiva: what it writes into the text of a law is made elements."""

from __future__ import annotations

import re

from ingestion.extraction.formats.law.schemes import local_name, words_of
from ingestion.extraction.formats.zip_container import Element

_SPACE = "normattiva.it"
# Double brackets enclose what an amendment brought; a number alone within them is the mark of an update.
_BROUGHT = re.compile(r"\(\((.*?)\)\)(?!\))", re.DOTALL)
_UPDATE_MARK = re.compile(r"\(\(\s*(\d+\w?)\s*\)\)")
_OMITTED = re.compile(r"[.\s]*")
_RULE = re.compile(r"[-–—\s]{5,}")
_UPDATE = re.compile(r"AGGIORNAMENTO\s*\((\d+\w?)\)")
_ARTICLE_OF = re.compile(r"\s*-\s*art\b", re.IGNORECASE)
# The title of a level with that of the one below it behind.
_LEVELS = re.compile(r"\s{2,}(?=(?:TITOLO|CAPO|SEZIONE|Titolo|Capo|Sezione|PARTE|Parte)\s|§\s)")


def write_out(root: Element) -> None:
    """Make elements of the marks of amendments, of updates and of paragraphs in the text of Normattiva."""
    if not any(_SPACE in space for space in root.nsmap.values()):
        return
    for article in list(root.iter("{*}article")):
        _take_updates(article)
    _name_annexes(root)
    for heading in list(root.iter("{*}heading")):
        _part_levels(heading)
    for element in list(root.iter("{*}p", "{*}ins", "{*}heading", "{*}crossHeading", "{*}num", "{*}ref")):
        if not any(local_name(one) == "meta" for one in element.iterancestors()):
            _write_text(element)
            _join_stop(element)


def _take_updates(article: Element) -> None:
    """Make remarks of the updates below an article, each with its number."""
    mark, begun = "", False
    for one in list(article.iter("{*}p")):
        words = words_of(one)
        if _RULE.fullmatch(words) or _UPDATE.match(words):
            begun = True
        if not begun:
            continue
        found = _UPDATE.match(words)
        one.tag = _named(one, "remark")
        if found:
            mark = found[1]
        if _RULE.fullmatch(words) or (found and len(words) == found.end()):
            _empty(one)
        elif mark:
            one.set("marker", mark)
            mark = ""


def _name_annexes(root: Element) -> None:
    """Give each annex a heading by its name; articles of an agreement are parts: "Accordo-art. 1"."""
    last = ""
    for document in root.iter("{*}doc"):
        name = _ARTICLE_OF.split(document.get("name", ""))[0].strip()
        if name and name != last:
            heading = document.makeelement(_named(document, "crossHeading"))
            heading.text = name if name.lower().startswith("allegat") else f"Allegato: {name}"
            document.insert(0, heading)
        last = name


def _part_levels(heading: Element) -> None:
    """Make a heading of each level whose title is in that of the level above."""
    first, *others = _LEVELS.split(heading.text or "")
    heading.text = first
    place = heading
    for title in others:
        below = heading.makeelement(_named(heading, "crossHeading"))
        below.text = title
        place.addnext(below)
        place = below


def _write_text(element: Element) -> None:
    """Write the text of an element without double brackets, and part it where a paragraph ends."""
    parts = [(element, "text"), *((child, "tail") for child in element)]
    for owner, slot in parts:
        text = getattr(owner, slot)
        if not (text or "").strip():
            continue
        lines = _without_brackets(text).split("\n") if local_name(element) == "p" else [_without_brackets(text)]
        pieces = _with_marks(element, lines)
        setattr(owner, slot, pieces[0])
        for piece in reversed(pieces[1]):
            if slot == "text":
                owner.insert(0, piece)
            else:
                owner.addnext(piece)


def _join_stop(element: Element) -> None:
    """Take the space before an element that begins with a stop, which stood before its double brackets."""
    if not (element.text or "").startswith((",", ";", ".", ":")):
        return
    before = element.getprevious()
    around = element.getparent()
    if before is not None:
        before.tail = (before.tail or "").rstrip()
    elif around is not None:
        around.text = (around.text or "").rstrip()


def _with_marks(element: Element, lines: list[str]) -> tuple[str, list[Element]]:
    """Return the text before the first mark or end of a paragraph, and these with the text behind them."""
    before: str | None = None
    made: list[Element] = []
    for number, line in enumerate(lines):
        if number:
            made.append(element.makeelement(_named(element, "parting")))
        first, *others = _UPDATE_MARK.split(line)
        if made:
            made[-1].tail = first
        else:
            before = first
        for mark, behind in zip(others[::2], others[1::2], strict=True):
            made.append(element.makeelement(_named(element, "noteRef"), marker=mark))
            made[-1].tail = behind
    return before or "", made


def _without_brackets(text: str) -> str:
    def inner(found: re.Match[str]) -> str:
        if _UPDATE_MARK.fullmatch(found[0]):
            return found[0]
        return "" if _OMITTED.fullmatch(found[1]) else found[1]

    text = _BROUGHT.sub(inner, text)
    text = re.sub(r"^\s*\(\((?!\s*\d+\w?\s*\)\))", "", text)
    unbalanced = text.count(")") > text.count("(")
    return re.sub(r"\)\)(\s*)$", r"\1", text) if unbalanced and text.rstrip().endswith("))") else text


def _empty(element: Element) -> None:
    for child in list(element):
        element.remove(child)
    element.text = ""


def _named(element: Element, name: str) -> str:
    return f"{str(element.tag).rpartition('}')[0]}}}{name}"
