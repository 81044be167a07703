"""Notes of a page: taken from where they stand, to be put below the paragraph with their mark."""

from __future__ import annotations

import re
from typing import TypeAlias

from lxml import html

from ingestion.web.html import text_of

Element: TypeAlias = html.HtmlElement

# Attributes of ours on the mark of a note: how it is printed, and on the first the note's own identity.
MARK, NOTE = "data-mark", "data-note"
_SHOWN = re.compile(r"[\[(]?\s?(\d{1,3}|[a-z]|[*†‡§]{1,3})\s?[\])]?")
_NAMED = re.compile(r"noteref|footnote|endnote|fnref", re.IGNORECASE)
# The words of a link from a note back to its mark.
_BACK = re.compile(r"[\s↩↑⤴︎^\[\]()\d*†‡§.]{0,8}|[a-z]")
_INLINE = ("a", "sup", "span", "b", "i", "em", "strong", "small")


def take_notes(root: Element) -> dict[str, Element]:
    """Take the notes of a page from their places, and return them by identity; `MARK` tells their marks."""
    links = [(link, target) for link in root.iter("a") if (target := _target(link))]
    wanted = {target for _, target in links}
    named = ((one.get("id") or one.get("name"), one) for one in root.iter())
    by_id = {name: one for name, one in named if name in wanted}
    notes: dict[str, Element] = {}
    marks: dict[str, tuple[str, set[str | None]]] = {}
    for link, target in links:
        shown = _SHOWN.fullmatch(text_of(link))
        note = _block_around(by_id.get(target))
        if (
            shown is None
            or note is None
            or not _is_mark(link, note)
            or any(one is note for one in link.iterancestors())
        ):
            continue
        link.set(MARK, shown[1])
        if target not in notes:
            link.set(NOTE, target)
            notes[target], marks[target] = note, (shown[1], _names(link))
    for target, note in notes.items():
        _take(note, *marks[target])
    return notes


def _target(link: Element) -> str:
    return (link.get("href") or "").partition("#")[2]


def _block_around(target: Element | None) -> Element | None:
    """Return the block that a link leads into: the target itself, or the paragraph around it."""
    while target is not None and target.tag in _INLINE:
        target = target.getparent()
    return target


def _is_mark(link: Element, note: Element) -> bool:
    """Return whether a link is the mark of a note: raised, named as one, or led back to."""
    parent = link.getparent()
    raised = link.find(".//sup") is not None or (parent is not None and parent.tag == "sup")
    named = " ".join(link.get(name, "") for name in ("class", "role", "epub:type", "id"))
    back = any(_target(one) in _names(link) for one in note.iter("a"))
    return raised or back or _NAMED.search(named) is not None


def _names(link: Element) -> set[str | None]:
    """Return by which names others link to a mark, or to the raised element around it."""
    parent = link.getparent()
    return {link.get("id"), link.get("name"), None if parent is None else parent.get("id")} - {None}


def _take(note: Element, mark: str, names: set[str | None]) -> None:
    """Take a note from its place, without the links back and the number that it begins with."""
    for link in list(note.iter("a")):
        if link.get(MARK) is None and (_target(link) in names or (_target(link) and _BACK.fullmatch(text_of(link)))):
            link.drop_tree()
    begun = re.compile(rf"\s*[\[(]?\s*{re.escape(mark)}\s*[\])]?[.:]?\s+")
    first = next((one for one in note.iter() if (one.text or "").strip()), None)
    if first is not None:
        first.text = begun.sub("", f"{first.text} ", count=1).removesuffix(" ")
    note.drop_tree()
