"""Comparisons among the records of the workspace, each beside its cells."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from ingestion.dataset.comparison.comparison import Comparison, ComparisonCell, without_documents
from rag_engine.conversations.erased_documents import erased_since
from rag_engine.conversations.record_kinds import RecordKind
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.storage.catalog import Catalog

COMPARISONS = RecordKind("comparison", Message("comparison"), TypeAdapter(Comparison))
_CELLS = RecordKind("comparison cell", Message("comparison"), TypeAdapter(ComparisonCell))


class ComparisonStore:
    """The comparisons of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog, self._workspace = catalog, catalog.workspace

    def list(self) -> list[Comparison]:
        """Return every comparison, the newest first."""
        found = [self._with_cells(comparison) for comparison in COMPARISONS.read_all(self._workspace)]
        return sorted(
            sorted(found, key=lambda comparison: comparison.id), key=lambda comparison: comparison.made, reverse=True
        )

    def find(self, id: str) -> Comparison | None:
        """Return the comparison of this id, None if there is none."""
        found = COMPARISONS.read_any(self._workspace, id)
        return found and self._with_cells(found)

    def require(self, id: str) -> Comparison:
        """Return the comparison of this id; InputError if there is none."""
        found = self.find(id)
        if found is None:
            raise InputError(
                "There is no comparison {id!r}.", help="It may have been deleted; choose another one.", id=id
            )
        return found

    def put(self, comparison: Comparison) -> None:
        """Keep a comparison's name, questions and columns in place of the former ones; its cells stay."""
        COMPARISONS.write(self._workspace, replace(comparison, cells={}))

    def put_cell(self, id: str, cell: ComparisonCell) -> bool:
        """Keep a cell in place of the former one; return False if its comparison has gone.

        One whose column is or that cites a document which was erased since it was asked is not kept, and none keeps
        its name.
        """
        with _CELLS.changing(self._workspace):
            if COMPARISONS.version(self._workspace, id) is None:
                return False
            placed, erased = replace(cell, comparison=id), self._erased_since(cell.asked)
            _CELLS.delete(self._workspace, placed.id)
            if standing := without_documents(placed, erased) if erased else placed:
                _CELLS.write(self._workspace, standing)
        return True

    def remove(self, id: str) -> None:
        """Remove a comparison with every cell."""
        with _CELLS.changing(self._workspace):
            for cell in _CELLS.read_all(self._workspace, id):
                _CELLS.delete(self._workspace, cell.id)
            COMPARISONS.delete(self._workspace, id)

    def restore(self, comparison: Comparison) -> None:
        """Keep a comparison as it was before a change, without parts of documents erased since."""
        with _CELLS.changing(self._workspace):
            self.remove(comparison.id)
            # Erased, and perhaps added again.
            gone = self._erased_since(comparison.made) - {
                document.document_id for document in self._catalog.active_documents()
            }
            columns = tuple(column for column in comparison.columns if column.key not in gone)
            self.put(replace(comparison, columns=columns))
            for cell in comparison.cells.values():
                self.put_cell(comparison.id, cell)

    def forget_document(self, document_id: str) -> None:
        """Remove the column of a document and the cells that cite it, to be asked again."""

        def without_column(comparison: Comparison) -> Comparison:
            return replace(
                comparison, columns=tuple(column for column in comparison.columns if column.key != document_id)
            )

        with _CELLS.changing(self._workspace):
            COMPARISONS.change_all(self._workspace, document_id, without_column)
            # What failed may repeat the document without its id.
            _CELLS.change_all(self._workspace, "", lambda cell: without_documents(cell, {document_id}))

    def _erased_since(self, moment: str) -> set[str]:
        return {document.document_id for document in erased_since(self._workspace, moment)}

    def _with_cells(self, comparison: Comparison) -> Comparison:
        cells = _CELLS.read_all(self._workspace, comparison.id)
        return replace(comparison, cells={(cell.question, cell.column): cell for cell in cells})
