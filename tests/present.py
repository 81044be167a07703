"""A value that there must be."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """Return the value, which is not None; the test fails where it is."""
    assert value is not None
    return value
