"""Text made fit for the cell of a spreadsheet, and read back from one."""

from __future__ import annotations

import re

# What Excel cuts off, in the UTF-16 units in which it counts.
LONGEST = 32_767

_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Spreadsheets take text that begins like this for a formula; full-width signs count in East Asian settings.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|[ \u00a0]*[=+\-@＝＋－＠])")


def storable(text: str) -> str:
    """The text without characters that a workbook cannot hold, cut with an ellipsis to what a cell can."""
    kept = _ILLEGAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(kept) * 2 <= LONGEST or len(kept.encode("utf-16-le")) // 2 <= LONGEST:
        return kept
    return kept.encode("utf-16-le")[: (LONGEST - 1) * 2].decode("utf-16-le", "ignore") + "…"


def neutral(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def without_apostrophe(text: str) -> str:
    """The text that `neutral` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
