"""Acts of a person upon comparisons: beginning, extending, asking, naming, removing, exporting."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ingestion.acts.context import ActContext, queue_once
from ingestion.acts.register import act, enter, name_act, signed
from ingestion.dataset.comparison.ask_cells import CellsRequest, moment
from ingestion.dataset.comparison.comparison import (
    COUNTRY,
    CellPlace,
    ColumnKind,
    Comparison,
    ComparisonCell,
    cell_id,
    columns_of,
    extended,
    present_columns,
    without,
)
from ingestion.dataset.comparison.decisions import CellChoice, CellDecision, enter_undoing
from ingestion.dataset.comparison.sheets import comparison_workbook
from ingestion.dataset.comparison.store import COMPARISONS, ComparisonStore
from ingestion.dataset.export import write_file
from ingestion.jobs.queue import Job
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.conversations.record_kinds import LONGEST_NAME
from rag_engine.conversations.store import new_id
from rag_engine.errors import InputError
from rag_engine.filters import Filter
from rag_engine.text.wording import ENGLISH, Wording


@act("reader")
def list_comparisons(context: ActContext) -> list[Comparison]:
    """Return the outlines of the workspace's comparisons, the newest first."""
    return _store(context).list()


@act("reader")
def find_comparison(context: ActContext, id: str) -> Comparison | None:
    """Return the comparison of this id, None if there is none."""
    return _store(context).find(id)


@act("reader")
def outline_comparison(context: ActContext, id: str) -> Comparison | None:
    """Return the comparison of this id without the texts of its cells, None if there is none."""
    return _store(context).outline(id)


@act("reader")
def comparison_cells(context: ActContext, id: str, places: Collection[CellPlace]) -> Mapping[CellPlace, ComparisonCell]:
    """Return the cells of a comparison at these places, as far as they were asked."""
    return _store(context).cells(id, places)


@act("curator", "Beginning a comparison", on="")
def begin_comparison(
    context: ActContext,
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
        context.engine.models.require_language_model()
    empty = Comparison(new_id(), "", by, (), (), wanted, moment(), {}, form)
    begun = _with_columns(context, empty, questions, wanted, only)
    taken = {comparison.name for comparison in list_comparisons(context)}
    plain = _cut_name(name or begun.questions[0])
    numbered = (f"{plain} ({number})" for number in range(2, len(taken) + 3))
    begun = replace(begun, name=next(one for one in (plain, *numbered) if one not in taken))
    name_act(context, begun.name)
    _store(context).put(begun)
    enter(context, begun.name)
    return begun


@act("curator", "Extending a comparison", on="")
def extend_comparison(
    context: ActContext,
    id: str,
    questions: Sequence[str] = (),
    wanted: Filter | None = None,
    *,
    only: Collection[str] = (),
) -> Comparison:
    """Add questions, and with a filter the columns that it chooses; return the comparison.

    Countries are added within the filter that the others are searched with: InputError for another one.
    """
    before = _outline(context, id)
    if wanted is not None and before.by == "country" and _beside_country(wanted) != _beside_country(before.wanted):
        raise InputError(
            "The countries of {name!r} are searched with another filter.",
            help="Begin another comparison.",
            name=before.name,
        )
    after = extended(before, questions) if wanted is None else _with_columns(context, before, questions, wanted, only)
    name_act(context, before.name)
    _store(context).put(after)
    enter(context, after.name)
    return after


@act("curator", "Continuing a comparison")
def continue_comparison(
    context: ActContext,
    questions: Sequence[str],
    by: ColumnKind,
    wanted: Filter,
    name: str = "",
    form: AnswerSchema | None = None,
) -> Comparison:
    """Return the comparison of this name, kind and form with the missing parts added, else begin one."""
    called = _cut_name(name or (questions[0] if questions else ""))
    alike = (called, by, form)
    found = next(
        (
            comparison
            for comparison in list_comparisons(context)
            if (comparison.name, comparison.by, comparison.form) == alike
        ),
        None,
    )
    if found is None:
        return begin_comparison(context, questions, by, wanted, name=name, form=form)
    return extend_comparison(context, found.id, questions, wanted)


@act("curator", "Removing part of a comparison", on="")
def shrink_comparison(context: ActContext, id: str, *, question: str = "", column: str = "") -> Comparison:
    """Remove a question or a column with its cells; return the comparison as it was."""
    before = _store(context).require(id)
    name_act(context, before.name)
    _store(context).shrink(without(before, question=question, column=column))
    enter(context, before.name)
    return before


@act("curator", "Asking the cells of a comparison", on="")
def ask_comparison(context: ActContext, id: str) -> Job | None:
    """Have the worker ask the cells that were not asked yet or failed; None if there are none."""
    comparison = _outline(context, id)
    present = present_columns(comparison, context.engine.collection.snapshot())
    if not any(column in present for _, column in comparison.open_places):
        return None
    columns = tuple(column.key for column in comparison.columns)
    name_act(context, comparison.name)
    enter(context, comparison.name)
    return queue_once(context, "compare", CellsRequest(id, comparison.questions, columns).to_json())


@act("curator", "Asking the cells of a comparison", on="")
def ask_cell_again(context: ActContext, id: str, question: str, column: str) -> Job:
    """Have the worker ask one cell once more, also an answered one."""
    comparison = _outline(context, id)
    if column not in present_columns(comparison, context.engine.collection.snapshot()):
        raise InputError("This column is no longer in the collection.", help="Add its documents again.")
    name_act(context, comparison.name)
    enter(context, comparison.name)
    return queue_once(context, "compare", CellsRequest(id, (question,), (column,), moment()).to_json())


@act("curator", "Asking the cells of a comparison", on="")
def ask_columns_again(context: ActContext, id: str, columns: Collection[str]) -> Job:
    """Have the worker ask every cell of columns again: their documents may have changed."""
    comparison = _outline(context, id)
    name_act(context, comparison.name)
    enter(context, comparison.name)
    return queue_once(
        context, "compare", CellsRequest(id, comparison.questions, tuple(sorted(columns)), moment()).to_json()
    )


@act("curator", "Deciding on a cell of a comparison", on="")
def decide_cell(
    context: ActContext, id: str, place: CellPlace, choice: CellChoice, *, author: str, note: str = "", text: str = ""
) -> None:
    """Accept, correct or reject the answer of a cell.

    InputError without a name, for a correction without a text, and for a rejection without a note.
    """
    name, said = signed(context, author), text.strip()
    if choice == "corrected" and not said:
        raise InputError("The correction has no words.", help="Write what the cell should say.")
    if choice == "rejected" and not note.strip():
        raise InputError("A rejection needs a reason.", help="Give a note; it is kept.")
    before = _outline(context, id)
    name_act(context, before.name, name)
    decision = CellDecision(choice, said if choice == "corrected" else "", name, note.strip(), moment(), "")
    _store(context).decide(id, place, decision, context.person.key)
    enter(context, before.name, choice, by=name)


@act("curator", "Taking back a decision on a cell", on="")
def undo_cell_decision(context: ActContext, id: str, place: CellPlace, *, author: str) -> None:
    """Take back the latest decision on a cell; the one before it stands again."""
    name, before = signed(context, author), _outline(context, id)
    name_act(context, before.name, name)
    enter_undoing(context.workspace, cell_id(id, place), name, moment(), context.person.key)
    enter(context, before.name, by=name)


@act("curator", "Renaming a comparison", on="")
def rename_comparison(context: ActContext, id: str, name: str) -> Comparison:
    """Give a comparison another name; InputError for an empty, too long or taken one."""
    wanted = COMPARISONS.free_name(name, list_comparisons(context), "", id)
    before = _outline(context, id)
    renamed = replace(before, name=wanted)
    name_act(context, before.name)
    _store(context).put(renamed)
    enter(context, wanted)
    return renamed


@act("curator", "Removing a comparison", on="")
def remove_comparison(context: ActContext, id: str) -> Comparison:
    """Remove a comparison with its cells and end its jobs; return it for `restore_comparison`."""
    removed = _store(context).require(id)
    name_act(context, removed.name)
    for job in comparison_jobs(context, id):
        context.jobs.cancel(job.id)
    _store(context).remove(id)
    enter(context, removed.name)
    return removed


@act("curator", "Restoring a comparison", on="")
def restore_comparison(context: ActContext, comparison: Comparison) -> None:
    """Bring back a comparison as it was; cells that were asked since stay."""
    name_act(context, comparison.name)
    _store(context).restore(comparison)
    enter(context, comparison.name)


@act("reader")
def comparison_jobs(context: ActContext, id: str) -> list[Job]:
    """Return the jobs of a comparison that have not ended, the oldest first."""
    return [job for job in context.jobs.unfinished() if job.kind == "compare" and job.arguments.get("comparison") == id]


@act("reader")
def exported_comparison(context: ActContext, id: str, base: str = "", words: Wording = ENGLISH) -> bytes:
    """Return the workbook of a comparison; links open passages at `base`, the address of the pages."""
    return comparison_workbook(_store(context).require(id), context.engine.collection.documents(), base, words)


@act("reader")
def export_comparison(context: ActContext, id: str, file: Path) -> None:
    """Write the workbook of a comparison; InputError if its folder or the file does not allow it."""
    write_file(file, exported_comparison(context, id))


def _cut_name(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME].rstrip()


def _beside_country(wanted: Filter) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in wanted.items() if name != COUNTRY}


def _with_columns(
    context: ActContext, comparison: Comparison, questions: Sequence[str], wanted: Filter, only: Collection[str]
) -> Comparison:
    found = columns_of(comparison.by, wanted, context.engine.collection.snapshot())
    return extended(comparison, questions, [column for column in found if not only or column.key in only])


def _outline(context: ActContext, id: str) -> Comparison:
    return _store(context).require(id, whole=False)


def _store(context: ActContext) -> ComparisonStore:
    return ComparisonStore(context.engine.catalog)
