"""Answers as a form: the choice of one, and its records as a table whose rows lead to their sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import streamlit as st

from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.page_names import citation_page
from pages._uploads.schema_choice import draw_schema_choice
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.config import RetrievalConfig
from rag_engine.conversations.reply import Reply
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.takeaway.exported_text import attribute_text
from rag_engine.types.answer import StructuredAnswer
from rag_engine.types.evidence import Evidence

# A blank at which a narrow table does not break.
_TOGETHER = "\N{NO-BREAK SPACE}"


def draw_form_choice() -> AnswerSchema | None:
    """Draw in which form answers come; return the schema chosen, None for text."""
    with st.expander(_("Answer format"), icon=":material/table:"):
        return draw_schema_choice(
            _("Answer as"),
            "answer",
            first=_("Text"),
            help=_("Text, or a table with a page for every row. Tables need a language model."),
        )


def fill_in(
    engine: Engine, question: str, schema: AnswerSchema, wanted: Filter, retrieval: RetrievalConfig
) -> Iterator[Evidence | StructuredAnswer]:
    """Yield the evidence, then the form filled in from it."""
    engine.models.require_language_model()
    evidence = engine.search(question, wanted, retrieval)
    yield evidence
    yield engine.structure(evidence, schema)


def draw_records(reply: Reply, mark: Callable[[int], str]) -> None:
    """Draw what a form holds: its entities, and its records as a table; `mark(n)` leads to source n."""
    stated = [entity for entity in reply.entities if entity.value is not None]
    if stated:
        st.markdown(
            "  \n".join(f"**{escape(one.name)}**: {escape(attribute_text(one.value, WORDING))}" for one in stated)
        )
    names = [escape(attribute.name) for attribute in reply.records[0].attributes]
    rows = [
        [
            *(escape(attribute_text(attribute.value, WORDING)) for attribute in record.attributes),
            _TOGETHER.join((mark(record.citation.n), *citation_page(record.citation).split())),
        ]
        for record in reply.records
    ]
    lines = [[*names, _("Source")], ["---"] * (len(names) + 1), *rows]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))
