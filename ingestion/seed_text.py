"""Text of a list that any database can hold: without halves of characters."""

from __future__ import annotations


def whole(text: str) -> str:
    """The text with a replacement character for every half of a character; two halves that fit become one."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_whole(text: str) -> bool:
    """Whether the text can be written as UTF-8; the name of a file that is not UTF-8 itself cannot."""
    return whole(text) == text
