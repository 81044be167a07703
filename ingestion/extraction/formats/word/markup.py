"""Names of the elements of Word, and the values that they state."""

from __future__ import annotations

from functools import cache

from ingestion.extraction.formats.zip_container import Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
FALLBACK = f"{MC}Fallback"
# Attributes of ours on a run: that it is hidden, and that it is the number of its paragraph.
HIDDEN, NUMBER = "hidden", "number"


_VALUE = f"{W}val"


def value_of(element: Element, path: str) -> str:
    """Return the w:val of a descendant, named without its name space; empty if there is none."""
    found = element.find(_in_name_space(path))
    return "" if found is None else found.get(_VALUE, "")


@cache
def _in_name_space(path: str) -> str:
    return "/".join(W + step for step in path.split("/"))


def is_on(switch: Element | None) -> bool:
    """Return whether a property that is on or off is there and on."""
    return switch is not None and switch.get(f"{W}val", "1") not in ("0", "false", "off")
