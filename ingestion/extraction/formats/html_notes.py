"""Notes of a page: taken from where they stand, to be put below the paragraph with their mark."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import TypeAlias

from lxml import html

from ingestion.web.html import text_of

Element: TypeAlias = html.HtmlElement

# Attributes of ours on the mark of a note: how it is printed, and on the first the note's own identity.
MARK, NOTE = "data-mark", "data-note"
_SHOWN = re.compile(r"[\[(]?\s?(\d{1,3}|[a-z]|[*†‡§]{1,3})\s?[\])]?")
_RAISED = re.compile(r"vertical-align\s{0,4}:\s{0,4}super", re.IGNORECASE)
_NAMED = re.compile(r"noteref|footnote|endnote|fnref", re.IGNORECASE)
# The words of a link from a note back to its mark.
_BACK = re.compile(r"[\s↩↑⤴︎^\[\]()\d*†‡§.]{0,8}|[a-z]")
_INLINE = ("a", "sup", "span", "b", "i", "em", "strong", "small")


class NotesElsewhere:
    """Notes in other files than their marks, by the names of these files; `page_of` gives their trees."""

    def __init__(self, page_of: Callable[[str], Element | None]) -> None:
        self._page_of = page_of
        self._named: dict[str, dict[str, Element]] = {}
        self._notes: dict[tuple[str, str], Element | None] = {}

    def bring(self, root: Element, file_of: Callable[[str], str]) -> None:
        """Move the notes of a page's marks from their files to its end, and let the marks link there.

        `file_of` returns the name of the file that an address leads to, "" for the page itself.
        """
        body = root.find(".//body")
        brought: set[str] = set()
        for link in root.iter("a") if body is not None else ():
            address, _, target = (link.get("href") or "").partition("#")
            file = file_of(address) if address and target and _SHOWN.fullmatch(text_of(link)) else ""
            if not file or not _looks_like_mark(link):
                continue
            identity = f"{file}#{target}"
            if identity not in brought and (note := self._taken(file, target)) is not None:
                brought.add(identity)
                note.set("id", identity)
                body.append(note)
            if identity in brought:
                link.set("href", f"#{identity}")

    def _taken(self, file: str, target: str) -> Element | None:
        """Return a copy of a note, which is taken from its file at the first time."""
        if (file, target) not in self._notes:
            if file not in self._named:
                page = self._page_of(file)
                self._named[file] = {} if page is None else _by_name(page)
            note = _block_around(self._named[file].get(target))
            self._notes[file, target] = note
            if note is not None and note.getparent() is not None:
                note.drop_tree()
        note = self._notes[file, target]
        return None if note is None else deepcopy(note)


def take_notes(root: Element) -> dict[str, Element]:
    """Take the notes of a page from their places, and return them by identity; `MARK` tells their marks."""
    links = [(link, target) for link in root.iter("a") if (target := _target(link))]
    by_id = _by_name(root) if links else {}
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


def _by_name(root: Element) -> dict[str, Element]:
    named = ((one.get("id") or one.get("name"), one) for one in root.iter())
    return {name: one for name, one in named if name}


def _block_around(target: Element | None) -> Element | None:
    """Return the block that a link leads into: the target itself, or the paragraph around it."""
    while target is not None and target.tag in _INLINE:
        target = target.getparent()
    return target


def _is_mark(link: Element, note: Element) -> bool:
    """Return whether a link is the mark of a note: raised, named as one, or led back to."""
    return _looks_like_mark(link) or any(_target(one) in _names(link) for one in note.iter("a"))


def _looks_like_mark(link: Element) -> bool:
    """Return whether a link is raised, or named as the mark of a note."""
    parent = link.getparent()
    around = (link,) if parent is None else (link, parent)
    raised = link.find(".//sup") is not None or any(
        one.tag == "sup" or _RAISED.search(one.get("style", "")[:500]) for one in (*around, *link)
    )
    named = " ".join(link.get(name, "") for name in ("class", "role", "epub:type", "id"))
    return raised or _NAMED.search(named) is not None


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
    # Programs hide a note where it stands, and show it at its mark.
    note.attrib.pop("hidden", None)
    note.set("style", "")
    note.drop_tree()
