"""A new comparison: its questions, its columns, and its start."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from ingestion.acts.comparisons import ask_comparison, begin_comparison
from ingestion.dataset.comparison.comparison import (
    COUNTRY,
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_QUESTIONS,
    ColumnKind,
    ComparisonColumn,
    columns_of,
    read_questions,
    schema_questions,
)
from pages._shared import resources
from pages._shared.elements import act_button, open_in_address
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import count_active, display_text, draw_filters, offered_values
from pages._shared.frame import show_opened
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, number
from pages._uploads.schema_choice import draw_schema_choice
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.conversations.record_kinds import LONGEST_NAME
from rag_engine.engine import Engine
from rag_engine.filters import Filter

COMPARISON = "comparison"
_QUESTIONS = "compare questions"
_KINDS: dict[ColumnKind, str] = {"document": to_translate("Documents"), "country": to_translate("Countries")}


def draw_beginning(engine: Engine) -> None:
    """Draw the form of a new comparison; without documents the way to add some."""
    if not engine.collection.documents():
        st.info(_("Nothing is indexed yet: there are no documents to compare."), icon=":material/inbox:")
        st.page_link("pages/library.py", label=_("Add documents in the Library"), icon=":material/upload_file:")
        return
    st.markdown(
        _(
            "Ask documents or countries the same questions. Every cell has a short answer with its source, or says "
            "that nothing was found and how much was searched."
        )
    )
    with st.container(border=True):
        questions, form = _draw_questions()
        by: ColumnKind = st.segmented_control(
            _("Columns"),
            list(_KINDS),
            default="document",
            format_func=lambda kind: _(_KINDS[kind]),
            key="compare by",
            required=True,
        )
        active = count_active("compare")
        set_filters = counted("Filters ({n} active)", "Filters ({n} active)", active)
        with st.expander(set_filters if active else _("Filters"), icon=":material/filter_alt:", key="compare filters"):
            wanted = draw_filters("compare", engine.collection.facets())
        name = st.text_input(
            _("Name of the comparison"),
            key="compare name",
            max_chars=LONGEST_NAME,
            placeholder=_("Without one, the first question is its name"),
            persist_state="session",
        )
        with show_errors():
            found = columns_of(by, wanted, engine.collection.snapshot())
            every = counted("The one that matches the filters", "All {n} that match the filters", len(found))
            label = f"{kind_name(by)} ({number(len(found))})"
            picked = draw_column_choice(f"compare only {by}", found, by, label, every if found else _("No matches"))
            _draw_start(name, questions, form, by, wanted, picked or [column.key for column in found])


def shown_columns(by: ColumnKind, columns: Iterable[ComparisonColumn]) -> dict[str, str]:
    """Return the names of columns by their keys: titles, or countries in the reader's language."""
    return {column.key: display_text(COUNTRY, column.key) if by == COUNTRY else column.label for column in columns}


def draw_column_choice(
    place: str, found: tuple[ComparisonColumn, ...], by: ColumnKind, label: str, placeholder: str
) -> list[str]:
    """Draw the choice among columns and return the keys of those chosen."""
    labels = shown_columns(by, found)
    # A key for each set of columns: a chosen one may not be offered any more.
    key = f"{place} {hash(found)}"
    return st.multiselect(
        label,
        offered_values(kind_name(by), list(labels), labels.__getitem__, key, st.session_state.get(key, [])),
        format_func=labels.__getitem__,
        key=key,
        placeholder=placeholder,
        disabled=not found,
    )


def kind_name(by: ColumnKind) -> str:
    """Return what columns are called."""
    return _(_KINDS[by])


def _draw_questions() -> tuple[tuple[str, ...], AnswerSchema | None]:
    """Draw the questions, and return them with the form that every cell is to fill in, if any."""
    questions = read_questions(
        st.text_area(
            _("Questions, one per line"),
            key=_QUESTIONS,
            placeholder="\n".join((_("Who pays for heat plans?"), _("Which body coordinates the response?"))),
            height=130,
            max_chars=60_000,
            persist_state="session",
        )
    )
    show_opened()
    with st.expander(_("Questions from a form"), icon=":material/table:", key="compare form"):
        st.caption(_("Adds a question for each field of the form. You can edit them above."))
        schema = draw_schema_choice(_("Form"), "compare")
        st.button(
            _("Add questions"),
            key="compare add schema",
            icon=":material/playlist_add:",
            disabled=schema is None,
            on_click=_add_questions,
            args=(schema,),
        )
        fills = st.toggle(
            _("Fill in the form in every cell"),
            key="compare fill form",
            help=_("Each cell lists the records that its column states, with their pages. It needs a language model."),
            disabled=schema is None,
        )
    return questions, schema if fills else None


def _add_questions(schema: AnswerSchema) -> None:
    lines = read_questions("\n".join((str(st.session_state.get(_QUESTIONS, "")), *schema_questions(schema))))
    st.session_state[_QUESTIONS] = "\n".join(lines)


def _draw_start(
    name: str,
    questions: tuple[str, ...],
    form: AnswerSchema | None,
    by: ColumnKind,
    wanted: Filter,
    columns: list[str],
) -> None:
    if by == "country":
        st.caption(_("Leave country names out of the questions: each column searches the documents about its country."))
    fits = len(questions) <= MOST_QUESTIONS and len(columns) <= MOST_COLUMNS
    fits = fits and len(questions) * len(columns) <= MOST_CELLS
    if not fits:
        st.caption(
            _(
                ":material/info: A comparison has at most {questions} questions, {columns} columns and {cells} cells. "
                "Leave some out, or narrow the columns down with a filter."
            ).format(questions=number(MOST_QUESTIONS), columns=number(MOST_COLUMNS), cells=number(MOST_CELLS))
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        ready = bool(questions) and bool(columns) and fits
        if act_button(
            "begin_comparison",
            _("Start comparison"),
            type="primary",
            key="compare start",
            icon=":material/play_arrow:",
            disabled=not ready,
        ):
            begun = begin_comparison(resources.context(), questions, by, wanted, name=name, only=columns, form=form)
            ask_comparison(resources.context(), begun.id)
            open_in_address(COMPARISON, begun.id)
            st.rerun()
        if questions and columns:
            st.caption(_size(len(questions), len(columns)), width="content")


def _size(questions: int, columns: int) -> str:
    """Return "2 questions × 3 columns = 6 cells"."""
    rows = counted("{n} question", "{n} questions", questions)
    across = counted("{n} column", "{n} columns", columns)
    cells = counted("{n} cell", "{n} cells", questions * columns)
    return f"{rows} × {across} = {cells}"
