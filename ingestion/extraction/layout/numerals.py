"""Numbers as documents print them."""

from __future__ import annotations

from collections.abc import Callable

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_VALUES = {numeral: value for value, numeral in _ROMAN}


def roman(number: int) -> str:
    """Return a positive number in small Roman numerals."""
    written = ""
    for value, numeral in _ROMAN:
        count, number = divmod(number, value)
        written += numeral * count
    return written


def roman_value(numeral: str) -> int:
    """Return the value of Roman numerals, also where they are not in their usual order."""
    values = [_VALUES[letter] for letter in numeral.lower()]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def letters(number: int) -> str:
    """Return a positive number as word processors letter their lists: a ... z, aa, bb ... zz, aaa."""
    return repeated("abcdefghijklmnopqrstuvwxyz", number)


def repeated(signs: str, number: int) -> str:
    """Return a positive number in signs, which are repeated when all are used."""
    repeats, place = divmod(number - 1, len(signs))
    return signs[place] * (repeats + 1)


def cyrillic(number: int) -> str:
    """Return a positive number in Russian letters."""
    return repeated("абвгдежзиклмнопрстуфхцчшщыэюя", number)


def greek(number: int) -> str:
    """Return a positive number in Greek letters."""
    return repeated("αβγδεζηθικλμνξοπρστυφχψω", number)


# How programs number the items of a list, by the number of the first as HTML and OpenDocument name it.
COUNTED: dict[str, Callable[[int], str]] = {
    "1": str,
    "a": letters,
    "A": lambda number: letters(number).upper(),
    "i": roman,
    "I": lambda number: roman(number).upper(),
}
