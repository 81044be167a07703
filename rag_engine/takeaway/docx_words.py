"""Words in a paragraph of python-docx, read in the direction of their script."""

from __future__ import annotations

import unicodedata
from typing import Any

from rag_engine.takeaway.exported_text import visible_text

# What follows the reading direction in a paragraph's properties (CT_PPrBase, ECMA-376 part 1, A.1).
_AFTER_DIRECTION = ("w:adjustRightInd", "w:snapToGrid", "w:spacing", "w:ind", "w:contextualSpacing", "w:jc", "w:rPr")


def write_words(paragraph: Any, text: str, *, bold: bool = False, italic: bool = False) -> None:
    """Add words to a paragraph; one that begins in a script from right to left is read so."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    begun = bool(paragraph.text.strip())
    run = paragraph.add_run(visible_text(text))
    run.bold, run.italic = bold or None, italic or None
    if _runs_leftwards(text):
        run.font.rtl = True
        properties = paragraph._p.get_or_add_pPr()  # noqa: SLF001 python-docx names its elements so
        if not begun and properties.find(qn("w:bidi")) is None:
            properties.insert_element_before(OxmlElement("w:bidi"), *_AFTER_DIRECTION)


def _runs_leftwards(text: str) -> bool:
    """Whether the first letter of a text is of a script that runs from right to left."""
    directions = (unicodedata.bidirectional(sign) for sign in text)
    return next((one for one in directions if one in ("L", "R", "AL")), "L") != "L"
