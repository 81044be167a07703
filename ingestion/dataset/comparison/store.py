"""Comparisons among the records: their questions and columns, and a record for each cell."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import sqlalchemy as sql
from pydantic import TypeAdapter
from sqlalchemy.engine import Connection

from ingestion.dataset.comparison.comparison import Comparison, ComparisonCell, without_documents
from rag_engine.conversations.erased_documents import erased_since
from rag_engine.errors import InputError
from rag_engine.storage.catalog import Catalog, all_active
from rag_engine.storage.records import bodies, body_of, delete_record, reading, records, write_record, writing

_KIND, _CODEC, _CELL = "comparison", TypeAdapter(Comparison), TypeAdapter(ComparisonCell)


class ComparisonStore:
    """The comparisons of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog, self._workspace = catalog, catalog.workspace

    def list(self) -> list[Comparison]:
        """Return every comparison, the newest first."""
        with reading(self._workspace) as connection:
            found = [_comparison(connection, body) for body in bodies(connection, _KIND).values()]
        return sorted(sorted(found, key=lambda one: one.id), key=lambda one: one.made, reverse=True)

    def find(self, id: str) -> Comparison | None:
        """Return the comparison of this id, None where there is none."""
        with reading(self._workspace) as connection:
            body = body_of(connection, _KIND, id)
            return _comparison(connection, body) if body else None

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
        with writing(self._workspace) as connection:
            body = _CODEC.dump_json(replace(comparison, cells={})).decode()
            write_record(connection, _KIND, comparison.id, body)

    def put_cell(self, id: str, cell: ComparisonCell) -> bool:
        """Keep a cell in place of the former one; return False where its comparison has gone.

        One whose column is or that cites a document which was erased while it was asked is not kept, and none keeps its
        name.
        """
        with writing(self._workspace) as connection:
            body = body_of(connection, _KIND, id)
            if body is None:
                return False
            delete_record(connection, _cells(id), _place(cell))
            column = [cell.column] if _CODEC.validate_json(body).by == "document" else []
            if self._are_active(*column, *(one.document_id for one in cell.citations)):
                kept = cell if self._are_active(*cell.found) else replace(cell, warnings=())
                _write_cell(connection, id, kept)
        return True

    def remove(self, id: str) -> None:
        """Remove a comparison with every cell."""
        with writing(self._workspace) as connection:
            connection.execute(sql.delete(records).where(records.c.kind == _cells(id)))
            delete_record(connection, _KIND, id)

    def restore(self, comparison: Comparison) -> None:
        """Keep a comparison as it was before a change, without what is of a document erased since."""
        with writing(self._workspace) as connection:
            self.remove(comparison.id)
            erased = self._erased_since(comparison.made)
            columns = (one for one in comparison.columns if one.key not in erased or self._are_active(one.key))
            self.put(replace(comparison, columns=tuple(columns)))
            for cell in map(self._standing, comparison.cells.values()):
                if cell:
                    _write_cell(connection, comparison.id, cell)

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
        return {one.document_id for one in erased_since(self._workspace, moment)}

    def _are_active(self, *document_ids: str) -> bool:
        """Return whether the collection has each document; an erasure forgets again what is kept before its end."""
        with self._catalog.begin() as connection:
            return all_active(connection, document_ids)


def _comparison(connection: Connection, body: str) -> Comparison:
    comparison = _CODEC.validate_json(body)
    cells = map(_CELL.validate_json, bodies(connection, _cells(comparison.id)).values())
    return replace(comparison, cells={(cell.question, cell.column): cell for cell in cells})


def _cells(id: str) -> str:
    """Return the kind of the records that are cells of a comparison."""
    return f"cell of {id}"


def _place(cell: ComparisonCell) -> str:
    return f"{cell.column}\n{cell.question}"


def _write_cell(connection: Connection, id: str, cell: ComparisonCell) -> None:
    write_record(connection, _cells(id), _place(cell), _CELL.dump_json(cell).decode())
