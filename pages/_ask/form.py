"""Answers as a form: the choice of one, and its records as a table whose rows lead to their sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import streamlit as st

from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.answering.structured.answer_schema import AnswerSchema, parse_schema, read_schema, shipped_schemas
from rag_engine.config import RetrievalConfig
from rag_engine.conversations import Reply
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.types import AttributeContent, Evidence, StructuredAnswer

_TEXT, _OWN = "Text", "My own schema"


def draw_form_choice() -> AnswerSchema | None:
    """Draw in which form answers come; return the schema chosen, None for text."""
    shipped = {_title(file): file for file in shipped_schemas()}
    with st.expander("Answer format", icon=":material/table:"):
        chosen = st.selectbox(
            "Answer as",
            [_TEXT, *shipped, _OWN],
            key="answer format",
            help="Text, or a table with a page for every row. Tables need a language model.",
            persist_state="session",
        )
        with show_errors():
            if chosen == _OWN:
                return _draw_own_schema()
            return read_schema(shipped[chosen]) if chosen in shipped else None
    return None


def fill_in(
    engine: Engine, question: str, schema: AnswerSchema, wanted: Filter, retrieval: RetrievalConfig
) -> Iterator[Evidence | StructuredAnswer]:
    """Yield the evidence, then the form filled in from it."""
    engine.require_language_model()
    evidence = engine.search(question, wanted, retrieval)
    yield evidence
    yield engine.structure(evidence, schema)


def draw_records(reply: Reply, mark: Callable[[int], str]) -> None:
    """Draw what a form holds: its entities, and its records as a table; `mark(n)` leads to source n."""
    stated = [one for one in reply.entities if one.value is not None]
    if stated:
        st.markdown("  \n".join(f"**{escape(one.name)}**: {escape(_shown(one.value))}" for one in stated))
    names = [escape(attribute.name) for attribute in reply.records[0].attributes]
    rows = [
        [
            *(escape(_shown(attribute.value)) for attribute in record.attributes),
            f"{mark(record.citation.n)} page {record.citation.page}",
        ]
        for record in reply.records
    ]
    lines = [[*names, "Source"], ["---"] * (len(names) + 1), *rows]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _draw_own_schema() -> AnswerSchema | None:
    file = st.file_uploader("JSON schema", type="json", key="answer schema")
    if file is None:
        st.caption("Until a schema is uploaded, answers come as text.")
        return None
    return parse_schema(file.getvalue().decode("utf-8-sig", "replace"), file.name)


def _title(file: Path) -> str:
    return read_schema(file).title


def _shown(value: AttributeContent) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(value)
    return "–" if value is None else str(value)
