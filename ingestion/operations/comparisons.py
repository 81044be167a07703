"""Acts of a person upon comparisons: beginning, extending, asking, naming, removing, exporting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.dataset.comparison.ask_cells import CellsRequest, moment
from ingestion.dataset.comparison.comparison import (
    COUNTRY,
    ColumnKind,
    Comparison,
    columns_of,
    extended,
    present_columns,
    without,
)
from ingestion.dataset.comparison.sheets import comparison_workbook
from ingestion.dataset.comparison.store import COMPARISONS, ComparisonStore
from ingestion.dataset.export import write_file
from ingestion.jobs.queue import Run
from ingestion.operations.acts import act, enter, name_act
from ingestion.operations.desk import LATEST_RUNS, Desk, queue_once
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.conversations.record_kinds import LONGEST_NAME
from rag_engine.conversations.store import new_id
from rag_engine.errors import InputError
from rag_engine.filters import Filter
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def list_comparisons(desk: Desk) -> list[Comparison]:
    """Return the comparisons of the workspace, the newest first."""
    return _store(desk).list()


@act("reader")
def find_comparison(desk: Desk, id: str) -> Comparison | None:
    """Return the comparison of this id, None if there is none."""
    return _store(desk).find(id)


@act("curator", "Beginning a comparison", on="")
def begin_comparison(
    desk: Desk,
    questions: Sequence[str],
    by: ColumnKind,
    wanted: Filter,
    *,
    name: str = "",
    only: Collection[str] = (),
    form: AnswerSchema | None = None,
) -> Comparison:
    """Keep a comparison by these questions and return it; nothing is asked yet.

    Its columns are the documents or countries that the filter chooses, `only` some of them where any are named. Without
    a name it is called by its first question. With a form, each cell fills it in. InputError for a filter that no
    document passes, and for more questions or columns than a table can show. BackendError for a form without a language
    model.
    """
    if form:
        desk.engine.require_language_model()
    empty = Comparison(new_id(), "", by, (), (), wanted, moment(), {}, form)
    begun = _with_columns(desk, empty, questions, wanted, only)
    taken = {one.name for one in list_comparisons(desk)}
    plain = _cut_name(name or begun.questions[0])
    numbered = (f"{plain} ({number})" for number in range(2, len(taken) + 3))
    begun = replace(begun, name=next(one for one in (plain, *numbered) if one not in taken))
    name_act(desk, begun.name)
    _store(desk).put(begun)
    enter(desk, begun.name)
    return begun


@act("curator", "Extending a comparison", on="")
def extend_comparison(
    desk: Desk, id: str, questions: Sequence[str] = (), wanted: Filter | None = None, *, only: Collection[str] = ()
) -> Comparison:
    """Add questions, and with a filter the columns that it chooses; return the comparison.

    Countries are added within the filter that the others are searched with: InputError for another one.
    """
    before = _store(desk).require(id)
    if wanted is not None and before.by == "country" and _beside_country(wanted) != _beside_country(before.wanted):
        raise InputError(
            "The countries of {name!r} are searched with another filter.",
            help="Begin another comparison.",
            name=before.name,
        )
    after = extended(before, questions) if wanted is None else _with_columns(desk, before, questions, wanted, only)
    name_act(desk, before.name)
    _store(desk).put(after)
    enter(desk, after.name)
    return after


@act("curator", "Continuing a comparison")
def continue_comparison(
    desk: Desk,
    questions: Sequence[str],
    by: ColumnKind,
    wanted: Filter,
    name: str = "",
    form: AnswerSchema | None = None,
) -> Comparison:
    """Return the comparison of this name, kind and form with the missing parts added, else begin one."""
    called = _cut_name(name or (questions[0] if questions else ""))
    alike = (called, by, form)
    found = next((one for one in list_comparisons(desk) if (one.name, one.by, one.form) == alike), None)
    if found is None:
        return begin_comparison(desk, questions, by, wanted, name=name, form=form)
    return extend_comparison(desk, found.id, questions, wanted)


@act("curator", "Removing part of a comparison", on="")
def shrink_comparison(desk: Desk, id: str, *, question: str = "", column: str = "") -> Comparison:
    """Remove a question or a column with its cells; return the comparison as it was."""
    before = _store(desk).require(id)
    name_act(desk, before.name)
    _store(desk).restore(without(before, question=question, column=column))
    enter(desk, before.name)
    return before


@act("curator", "Asking the cells of a comparison", on="")
def ask_comparison(desk: Desk, id: str) -> Run | None:
    """Have the worker ask the cells that were not asked yet or failed; None if there are none."""
    comparison = _store(desk).require(id)
    present = present_columns(comparison, desk.engine.collection.snapshot())
    if not any(column in present for _, column in comparison.open_places):
        return None
    columns = tuple(column.key for column in comparison.columns)
    name_act(desk, comparison.name)
    enter(desk, comparison.name)
    return queue_once(desk, "compare", CellsRequest(id, comparison.questions, columns).to_json())


@act("curator", "Asking the cells of a comparison", on="")
def ask_cell_again(desk: Desk, id: str, question: str, column: str) -> Run:
    """Have the worker ask one cell once more, also an answered one."""
    comparison = _store(desk).require(id)
    if column not in present_columns(comparison, desk.engine.collection.snapshot()):
        raise InputError("This column is no longer in the collection.", help="Add its documents again.")
    name_act(desk, comparison.name)
    enter(desk, comparison.name)
    return queue_once(desk, "compare", CellsRequest(id, (question,), (column,), moment()).to_json())


@act("curator", "Asking the cells of a comparison", on="")
def ask_columns_again(desk: Desk, id: str, columns: Collection[str]) -> Run:
    """Have the worker ask every cell of columns again: their documents may have changed."""
    comparison = _store(desk).require(id)
    name_act(desk, comparison.name)
    enter(desk, comparison.name)
    return queue_once(
        desk, "compare", CellsRequest(id, comparison.questions, tuple(sorted(columns)), moment()).to_json()
    )


@act("curator", "Renaming a comparison", on="")
def rename_comparison(desk: Desk, id: str, name: str) -> Comparison:
    """Give a comparison another name; InputError for an empty, too long or taken one."""
    wanted = COMPARISONS.free_name(name, list_comparisons(desk), "", id)
    before = _store(desk).require(id)
    renamed = replace(before, name=wanted)
    name_act(desk, before.name)
    _store(desk).put(renamed)
    enter(desk, wanted)
    return renamed


@act("curator", "Removing a comparison", on="")
def remove_comparison(desk: Desk, id: str) -> Comparison:
    """Remove a comparison with its cells and end its runs; return it for `restore_comparison`."""
    removed = _store(desk).require(id)
    name_act(desk, removed.name)
    for run in comparison_runs(desk, id):
        desk.jobs.cancel(run.id)
    _store(desk).remove(id)
    enter(desk, removed.name)
    return removed


@act("curator", "Restoring a comparison", on="")
def restore_comparison(desk: Desk, comparison: Comparison) -> None:
    """Bring back a comparison as it was; cells that were asked since stay."""
    name_act(desk, comparison.name)
    now = _store(desk).find(comparison.id)
    since = now.cells if now else {}
    _store(desk).restore(replace(comparison, cells={**comparison.cells, **since}))
    enter(desk, comparison.name)


@act("reader")
def comparison_runs(desk: Desk, id: str) -> list[Run]:
    """Return the runs of a comparison that have not ended, the newest first."""
    runs = desk.jobs.runs(LATEST_RUNS)
    unfinished = (run for run in runs if run.active or run.status == "paused")
    return [run for run in unfinished if run.action == "compare" and run.arguments.get("comparison") == id]


@act("reader")
def exported_comparison(desk: Desk, id: str, base: str = "", words: Wording = ENGLISH) -> bytes:
    """Return the workbook of a comparison; links open passages at `base`, the address of the pages."""
    return comparison_workbook(_store(desk).require(id), desk.engine.collection.documents(), base, words)


@act("reader")
def export_comparison(desk: Desk, id: str, file: Path) -> None:
    """Write the workbook of a comparison; InputError if its folder or the file does not allow it."""
    write_file(file, exported_comparison(desk, id))


def _cut_name(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME].rstrip()


def _beside_country(wanted: Filter) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in wanted.items() if name != COUNTRY}


def _with_columns(
    desk: Desk, comparison: Comparison, questions: Sequence[str], wanted: Filter, only: Collection[str]
) -> Comparison:
    found = columns_of(comparison.by, wanted, desk.engine.collection.snapshot())
    return extended(comparison, questions, [column for column in found if not only or column.key in only])


def _store(desk: Desk) -> ComparisonStore:
    return ComparisonStore(desk.engine.catalog)
