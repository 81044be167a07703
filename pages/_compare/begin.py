"""A new comparison: its questions, its columns, and its start."""

from __future__ import annotations

import streamlit as st

from ingestion.dataset.comparison.comparison import (
    MOST_COLUMNS,
    ColumnKind,
    ComparisonColumn,
    columns_of,
    read_questions,
    schema_questions,
)
from ingestion.operations.comparisons import ask_comparison, begin_comparison
from ingestion.status.views import pluralised
from pages._shared import resources
from pages._shared.elements import act_button, open_in_address
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import count_active, draw_filters
from pages._shared.schema_choice import draw_schema_choice
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.engine import Engine
from rag_engine.filters import Filter

COMPARISON = "comparison"
_QUESTIONS = "compare questions"
_KINDS: dict[ColumnKind, str] = {"document": "Documents", "country": "Countries"}
_EXAMPLE = "Who pays for heat plans?\nWhich body coordinates the response?"


def draw_beginning(engine: Engine) -> None:
    """Draw the form of a new comparison; without documents the way to add some."""
    if not engine.collection.documents():
        st.info("Nothing is indexed yet: there are no documents to compare.", icon=":material/inbox:")
        st.page_link("pages/library.py", label="Add documents in the Library", icon=":material/upload_file:")
        return
    st.markdown(
        "Ask documents or countries the same questions. Every cell has a short answer with its source, or says that "
        "nothing was found and how much was searched."
    )
    with st.container(border=True):
        questions = _draw_questions()
        by: ColumnKind = st.segmented_control(
            "Columns", list(_KINDS), default="document", format_func=_KINDS.__getitem__, key="compare by", required=True
        )
        active = count_active("compare")
        with st.expander(f"Filter{f' ({active} active)' if active else ''}", icon=":material/filter_alt:"):
            wanted = draw_filters("compare", engine.collection.facets())
        with show_errors():
            found = columns_of(by, wanted, engine.collection.snapshot())
            columns = draw_column_choice(found, _KINDS[by], f"compare only {by}")
            _draw_start(questions, by, wanted, columns)


def draw_column_choice(found: tuple[ComparisonColumn, ...], kind: str, key: str) -> list[str]:
    """Draw the choice among columns and return the keys of those chosen; all where none is picked."""
    labels = {column.key: column.label for column in found}
    # A key for each set of columns: a chosen one may not be offered any more.
    picked = st.multiselect(
        f"{kind} ({len(found)})",
        list(labels),
        format_func=labels.__getitem__,
        key=f"{key} {hash(found)}",
        placeholder=f"All {len(found)} that the filter leaves" if found else "None matches the filter",
        disabled=not found,
    )
    return list(picked or labels)


def _draw_questions() -> tuple[str, ...]:
    questions = read_questions(
        st.text_area(
            "Questions, one a line",
            key=_QUESTIONS,
            placeholder=_EXAMPLE,
            height=130,
            max_chars=20_000,
            persist_state="session",
        )
    )
    with st.expander("Questions from a form", icon=":material/table:"):
        st.caption("A question for each field of a form; change the words above as you like.")
        schema = draw_schema_choice("Form", "compare")
        st.button(
            "Add its questions",
            key="compare add schema",
            icon=":material/playlist_add:",
            disabled=schema is None,
            on_click=_add_questions,
            args=(schema,),
        )
    return questions


def _add_questions(schema: AnswerSchema) -> None:
    lines = read_questions("\n".join((str(st.session_state.get(_QUESTIONS, "")), *schema_questions(schema))))
    st.session_state[_QUESTIONS] = "\n".join(lines)


def _draw_start(questions: tuple[str, ...], by: ColumnKind, wanted: Filter, columns: list[str]) -> None:
    if by == "country":
        st.caption("Name no country in the questions: each column is searched in the documents about its own.")
    if len(columns) > MOST_COLUMNS:
        st.caption(
            f":material/info: A comparison has at most {MOST_COLUMNS} columns; these are {len(columns)}. "
            "Narrow them down by a filter, or pick some."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        ready = bool(questions) and 0 < len(columns) <= MOST_COLUMNS
        if act_button(
            "begin_comparison",
            "Compare",
            type="primary",
            key="compare start",
            icon=":material/play_arrow:",
            disabled=not ready,
        ):
            begun = begin_comparison(resources.desk(), questions, by, wanted, only=columns)
            ask_comparison(resources.desk(), begun.id)
            open_in_address(COMPARISON, begun.id)
            st.rerun()
        if ready:
            kind = pluralised(len(columns), "column")
            st.caption(
                f"{pluralised(len(questions), 'question')} × {kind} = {len(questions) * len(columns)} cells",
                width="content",
            )
