"""Comparisons among the records of the workspace, each beside its cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from ingestion.dataset.comparison.comparison import (
    CellPlace,
    Comparison,
    ComparisonCell,
    SearchEffort,
    cell_id,
    documents_of,
    without_documents,
)
from ingestion.dataset.comparison.decisions import (
    CellDecision,
    enter_decision,
    forget_decisions,
    standing_decisions,
)
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
        """Return the outline of every comparison, the newest first."""
        found = [self._outlined(comparison) for comparison in COMPARISONS.read_all(self._workspace)]
        return sorted(
            sorted(found, key=lambda comparison: comparison.id), key=lambda comparison: comparison.made, reverse=True
        )

    def find(self, id: str) -> Comparison | None:
        """Return the comparison of this id with all its cells, None if there is none."""
        found = COMPARISONS.read_any(self._workspace, id)
        return found and self._with(found, _CELLS.read_all(self._workspace, id))

    def outline(self, id: str) -> Comparison | None:
        """Return the comparison with what is known of its cells but their texts, None if there is none."""
        found = COMPARISONS.read_any(self._workspace, id)
        return found and self._outlined(found)

    def cells(self, id: str, places: Collection[CellPlace]) -> Mapping[CellPlace, ComparisonCell]:
        """Return the cells at these places, as far as they were asked."""
        return self._decided(id, _CELLS.read_some(self._workspace, [cell_id(id, place) for place in places]))

    def require(self, id: str, *, whole: bool = True) -> Comparison:
        """Return the comparison of this id, or its outline; InputError if there is none."""
        found = self.find(id) if whole else self.outline(id)
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
            placed, erased = replace(cell, comparison=id, decision=None), self._erased_since(cell.asked)
            before = _CELLS.read_any(self._workspace, placed.id)
            same = before and (before.status, before.text) == (cell.status, cell.text)
            placed = replace(placed, since=before.since if before and same else cell.since or cell.asked)
            _CELLS.delete(self._workspace, placed.id)
            if standing := without_documents(placed, erased) if erased else placed:
                _CELLS.write(self._workspace, standing)
        return True

    def decide(self, id: str, place: CellPlace, decision: CellDecision, person: str) -> None:
        """Enter a decision on the answer that a cell has now; InputError without one."""
        with _CELLS.changing(self._workspace):
            cell = self.cells(id, [place]).get(place)
            if cell is None or cell.status == "failed":
                raise InputError("This cell has no answer to decide on.", help="Ask it first.")
            enter_decision(self._workspace, cell.id, replace(decision, since=cell.since), documents_of(cell), person)

    def remove(self, id: str) -> None:
        """Remove a comparison with every cell; decisions on these stay in the log."""
        with _CELLS.changing(self._workspace):
            for place in self._asked(id):
                _CELLS.delete(self._workspace, cell_id(id, place))
            COMPARISONS.delete(self._workspace, id)

    def shrink(self, comparison: Comparison) -> None:
        """Keep a comparison that has fewer questions or columns than before, without the cells of the others."""
        with _CELLS.changing(self._workspace):
            for place in self._asked(comparison.id).difference(comparison.places):
                _CELLS.delete(self._workspace, cell_id(comparison.id, place))
            self.put(comparison)

    def restore(self, comparison: Comparison) -> None:
        """Bring back what a comparison has lost, but no parts of documents erased since; other cells stay."""
        with _CELLS.changing(self._workspace):
            # Erased, and perhaps added again.
            gone = self._erased_since(comparison.made) - {
                document.document_id for document in self._catalog.active_documents()
            }
            columns = tuple(column for column in comparison.columns if column.key not in gone)
            self.put(replace(comparison, columns=columns))
            asked = self._asked(comparison.id)
            for place, cell in comparison.cells.items():
                if place not in asked:
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
            forget_decisions(self._workspace, document_id)

    def _erased_since(self, moment: str) -> set[str]:
        return {document.document_id for document in erased_since(self._workspace, moment)}

    def _asked(self, id: str) -> set[CellPlace]:
        """Return the places of a comparison that have a cell."""
        return {(question, column) for question, column in _CELLS.values(self._workspace, id, "$.question", "$.column")}

    def _outlined(self, comparison: Comparison) -> Comparison:
        names = ("question", "column", "status", "asked", "since", "effort.documents", "effort.passages", "effort.read")
        rows = _CELLS.values(self._workspace, comparison.id, *(f"$.{name}" for name in names))
        cells = (
            ComparisonCell(
                question,
                column,
                status,
                "",
                "",
                effort=SearchEffort(*effort),
                asked=asked,
                since=since,
                comparison=comparison.id,
            )
            for question, column, status, asked, since, *effort in rows
        )
        return self._with(comparison, cells)

    def _with(self, comparison: Comparison, cells: Iterable[ComparisonCell]) -> Comparison:
        return replace(comparison, cells=self._decided(comparison.id, cells))

    def _decided(self, id: str, cells: Iterable[ComparisonCell]) -> Mapping[CellPlace, ComparisonCell]:
        """Return cells by their places, each with the decision upon it."""
        made = standing_decisions(self._workspace, id)
        return {(cell.question, cell.column): replace(cell, decision=made.get(cell.id)) for cell in cells}
