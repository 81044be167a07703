"""Comparisons in the catalog database: their questions and columns, and a row for each cell."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import Any

import sqlalchemy as sql
from pydantic import TypeAdapter

from ingestion.dataset.comparison.comparison import Comparison, ComparisonCell, ComparisonColumn, without_documents
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.conversations.erased_documents import erased_since
from rag_engine.errors import InputError
from rag_engine.storage.catalog import Catalog, all_active

TABLES = sql.MetaData()
comparisons = sql.Table(
    "comparisons",
    TABLES,
    sql.Column("id", sql.String, primary_key=True),
    sql.Column("name", sql.String, nullable=False),
    sql.Column("columns_by", sql.String, nullable=False),
    sql.Column("layout", sql.String, nullable=False),
    sql.Column("made", sql.String, nullable=False),
)
cells = sql.Table(
    "comparison_cells",
    TABLES,
    sql.Column("comparison", sql.String, primary_key=True),
    sql.Column("question", sql.String, primary_key=True),
    sql.Column("column_key", sql.String, primary_key=True),
    sql.Column("cell", sql.String, nullable=False),
)
_CELL = TypeAdapter(ComparisonCell)
_COLUMNS = TypeAdapter(tuple[ComparisonColumn, ...])
_FORM: TypeAdapter[AnswerSchema | None] = TypeAdapter(AnswerSchema | None)


class ComparisonStore:
    """The comparisons of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    def list(self) -> list[Comparison]:
        """Return every comparison, the newest first."""
        rows = self._catalog.read(sql.select(comparisons).order_by(comparisons.c.made.desc(), comparisons.c.id))
        return [self._comparison(row) for row in rows]

    def find(self, id: str) -> Comparison | None:
        """Return the comparison of this id, None where there is none."""
        rows = self._catalog.read(sql.select(comparisons).where(comparisons.c.id == id))
        return self._comparison(rows[0]) if rows else None

    def require(self, id: str) -> Comparison:
        """Return the comparison of this id; InputError where there is none."""
        found = self.find(id)
        if found is None:
            raise InputError(
                "There is no comparison {id!r}.", help="It may have been deleted; choose another one.", id=id
            )
        return found

    def put(self, comparison: Comparison) -> None:
        """Keep a comparison's name, questions and columns in place of the former ones; its cells stay."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(comparisons).where(comparisons.c.id == comparison.id))
            connection.execute(sql.insert(comparisons).values(_row(comparison)))

    def put_cell(self, id: str, cell: ComparisonCell) -> bool:
        """Keep a cell in place of the former one; return False where its comparison has gone.

        One whose column is or that cites a document which was erased while it was asked is not kept, and none keeps its
        name.
        """
        with self._catalog.begin() as connection:
            by = connection.scalar(sql.select(comparisons.c.columns_by).where(comparisons.c.id == id))
            if by is None:
                return False
            c = cells.c
            place = sql.and_(c.comparison == id, c.question == cell.question, c.column_key == cell.column)
            connection.execute(sql.delete(cells).where(place))
            column = [cell.column] if by == "document" else []
            if all_active(connection, (*column, *(one.document_id for one in cell.citations))):
                kept = cell if all_active(connection, cell.found) else replace(cell, warnings=())
                connection.execute(sql.insert(cells).values(_cell_row(id, kept)))
        return True

    def remove(self, id: str) -> None:
        """Remove a comparison with every cell."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(cells).where(cells.c.comparison == id))
            connection.execute(sql.delete(comparisons).where(comparisons.c.id == id))

    def restore(self, comparison: Comparison) -> None:
        """Keep a comparison as it was before a change, without what is of a document erased since."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(cells).where(cells.c.comparison == comparison.id))
            connection.execute(sql.delete(comparisons).where(comparisons.c.id == comparison.id))
            erased = self._erased_since(comparison.made)
            columns = (one for one in comparison.columns if one.key not in erased or all_active(connection, [one.key]))
            connection.execute(sql.insert(comparisons).values(_row(replace(comparison, columns=tuple(columns)))))
            standing = (self._standing(cell) for cell in comparison.cells.values())
            rows = [_cell_row(comparison.id, cell) for cell in standing if cell]
            if rows:
                connection.execute(sql.insert(cells), rows)

    def forget_documents(self, document_ids: Collection[str]) -> None:
        """Remove the columns of these documents and the cells that cite one, to be asked again."""
        for one in self.list():
            columns = tuple(column for column in one.columns if column.key not in document_ids)
            left = {place: without_documents(cell, document_ids) for place, cell in one.cells.items()}
            kept = {place: cell for place, cell in left.items() if cell}
            if columns != one.columns or kept != one.cells:
                self.restore(replace(one, columns=columns, cells=kept))

    def _standing(self, cell: ComparisonCell) -> ComparisonCell | None:
        """Return what is left of a cell without the documents that were erased since it was asked."""
        erased = self._erased_since(cell.asked)
        return without_documents(cell, erased) if erased else cell

    def _erased_since(self, moment: str) -> set[str]:
        return {one.document_id for one in erased_since(self._catalog.workspace, moment)}

    def _comparison(self, row: Any) -> Comparison:
        id, name, by, layout, made = row
        values = json.loads(layout)
        asked = self._catalog.read(sql.select(cells.c.cell).where(cells.c.comparison == id))
        found = [_CELL.validate_json(cell) for (cell,) in asked]
        return Comparison(
            id,
            name,
            by,
            tuple(values["questions"]),
            _COLUMNS.validate_python(values["columns"]),
            {key: tuple(wanted) for key, wanted in values["wanted"].items()},
            made,
            {(cell.question, cell.column): cell for cell in found},
            _FORM.validate_python(values["form"]),
        )


def _row(comparison: Comparison) -> dict[str, str]:
    layout = {
        "questions": comparison.questions,
        "columns": [asdict(column) for column in comparison.columns],
        "wanted": dict(comparison.wanted),
        "form": comparison.form and asdict(comparison.form),
    }
    return {
        "id": comparison.id,
        "name": comparison.name,
        "columns_by": comparison.by,
        "layout": json.dumps(layout),
        "made": comparison.made,
    }


def _cell_row(id: str, cell: ComparisonCell) -> dict[str, str]:
    text = _CELL.dump_json(cell).decode()
    return {"comparison": id, "question": cell.question, "column_key": cell.column, "cell": text}
