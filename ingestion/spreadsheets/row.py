"""A row of a sheet or a delimited file, as a person sees it, and a row that could not be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_engine.messages import Message, join_messages


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a row, "" for an empty cell; `number` counts from 1 as spreadsheets show it.

    `links` holds the address behind a cell by its column (from 0), even if the cell shows other text. `unsaved` names
    the columns whose formula was stored without its value.
    """

    sheet: str
    number: int
    cells: tuple[str, ...]
    links: Mapping[int, str] = field(default_factory=dict)
    unsaved: tuple[int, ...] = ()

    @property
    def place(self) -> Message:
        """Position of the row as a person sees it: "Sheet1, row 7".

        >>> str(Row("Sheet1", 7, ("EEA001", "https://example.org/plan")).place)
        'Sheet1, row 7'
        """
        return join_messages([self.sheet, Message("row {which}", which=str(self.number))], ", ")

    def cell(self, column: int | None) -> str:
        """Return the text in a column without surrounding space; "" beyond the end of the row.

        >>> row = Row("Sheet1", 7, ("EEA001", " https://example.org/plan "))
        >>> row.cell(1), row.cell(5)
        ('https://example.org/plan', '')
        """
        return self.cells[column].strip() if column is not None and column < len(self.cells) else ""


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """Row that was not imported: its position ("Sheet1, row 7"), the reason and the remedy."""

    place: Message
    reason: Message


def column_letter(column: int) -> str:
    """Return the letter of a column that counts from 0: A, B, ... Z, AA.

    >>> column_letter(27)
    'AB'
    """
    from openpyxl.utils import get_column_letter

    return get_column_letter(column + 1)
