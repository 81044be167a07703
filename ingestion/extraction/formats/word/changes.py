"""Words that Word keeps and does not show: deleted and moved ones, instructions of fields."""

from __future__ import annotations

from ingestion.extraction.formats.word.markup import W
from ingestion.extraction.formats.zip_container import Element

_DELETED = (f"{W}del", f"{W}moveFrom")
_CONTENT = ("t", "sym", "drawing", "pict", "object", "fldChar", "footnoteReference", "endnoteReference")
_ROW_DELETED = f"{W}trPr/{W}del"
_MARK_DELETED = tuple(f"{W}pPr/{W}rPr/{one}" for one in _DELETED)


def accept_changes(part: Element) -> None:
    """Take what is deleted or moved elsewhere out of a part, as Word does when changes are accepted.

    A paragraph whose end is deleted goes on in the next one.
    """
    if next(part.iter(*_DELETED), None) is None:
        return
    for row in [one for one in part.iter(f"{W}tr") if one.find(_ROW_DELETED) is not None]:
        _drop(row)
    ended = [one for one in part.iter(f"{W}p") if any(one.find(path) is not None for path in _MARK_DELETED)]
    changed: list[Element] = []
    for element in list(part.iter(*_DELETED)):
        # Those within properties say so of a row or of the end of a paragraph.
        above = element.getparent()
        if above is not None and not str(above.tag).endswith("Pr"):
            changed += [above] if above.tag == f"{W}p" else list(above.iterancestors(f"{W}p"))[:1]
            above.remove(element)
    # From the last, so that several in a row come together.
    for paragraph in reversed(ended):
        _join_next(paragraph)
    # A paragraph of which nothing is left is gone; not all programs say so of its end.
    for paragraph in dict.fromkeys(changed):
        if _is_empty(paragraph):
            _join_next(paragraph)


def _drop(row: Element) -> None:
    table = row.getparent()
    if table is not None:
        table.remove(row)


def _join_next(paragraph: Element) -> None:
    """Put the words of a paragraph before those of the next; one without words just goes."""
    following = paragraph.getnext()
    while following is not None and str(following.tag).endswith(
        ("RangeStart", "RangeEnd", "bookmarkStart", "bookmarkEnd")
    ):
        following = following.getnext()
    above = paragraph.getparent()
    words = [child for child in paragraph if child.tag != f"{W}pPr"]
    if above is None or ((following is None or following.tag != f"{W}p") and any(map(_says, words))):
        return
    if following is not None and following.tag == f"{W}p":
        properties = following.find(f"{W}pPr")
        start = 0 if properties is None else 1
        for at, child in enumerate(words):
            following.insert(start + at, child)
    above.remove(paragraph)


def _is_empty(paragraph: Element) -> bool:
    return next(paragraph.iter(*(f"{W}{name}" for name in _CONTENT)), None) is None


def _says(element: Element) -> bool:
    return next(element.iter(f"{W}t"), None) is not None


def drop_instructions(part: Element) -> None:
    """Empty the texts before the result of a field, which are those of fields within it."""
    instructing: list[bool] = []
    if next(part.iter(f"{W}fldChar"), None) is None:
        return
    for element in part.iter(f"{W}fldChar", f"{W}t"):
        if element.tag == f"{W}t":
            if any(instructing):
                element.text = ""
            continue
        match element.get(f"{W}fldCharType"):
            case "begin":
                instructing.append(True)
            case "separate" if instructing:
                instructing[-1] = False
            case "end" if instructing:
                instructing.pop()
