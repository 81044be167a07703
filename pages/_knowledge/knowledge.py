"""Knowledge tab: the entries of the indexes with their best passages, built as a run and exported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from ingestion.dataset.knowledge_base import knowledge_base, knowledge_base_bytes
from ingestion.operations.documents import ground
from ingestion.status.views import pluralised
from pages._knowledge.index_tables import draw_index_tables
from pages._shared import resources
from pages._shared.elements import act_button, draw_table
from pages._shared.errors import show_errors
from pages._shared.jobs import draw_runs
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs
from rag_engine.grounding.knowledge import GroundedEntry
from rag_engine.storage.index_entries import OWN_GLOSSARY, OWN_INDEX, index_sources

_FORMATS = {
    ".xlsx": ("Excel workbook", ":material/table_view:", "One row per entry, with its passages beside each other."),
    ".json": ("JSON", ":material/data_object:", "Everything that is known of each entry, for programs."),
}
_INSIDE = {OWN_INDEX: "an index", OWN_GLOSSARY: "a glossary"}


def draw_knowledge() -> None:
    """Draw the indexes of the collection, the run that builds the knowledge base, its entries and its export."""
    indexes = index_sources(resources.engine().catalog)
    if not indexes:
        st.info(
            "No index found. Add a document with an index or glossary, or apply a table of terms.",
        )
        draw_index_tables()
        return
    st.markdown(
        "Each entry of an index with its three best passages and a short text that cites them. "
        "Entries that have not changed are kept."
    )
    inside = [_index(name, documents) for name, documents in indexes.items() if name in _INSIDE]
    if inside:
        st.caption(" · ".join(inside))
    draw_index_tables()
    with st.container(horizontal=True):
        if act_button("ground", "Build the knowledge base", type="primary", icon=":material/play_arrow:", key="ground"):
            _build(again=False)
        if act_button("ground", "Build everything again", icon=":material/replay:", key="ground again"):
            _build(again=True)
    draw_runs()
    entries = knowledge_base(resources.engine())
    if entries:
        _draw_entries(entries)


def _build(*, again: bool) -> None:
    with show_errors():
        ground(resources.desk(), again=again)
        st.rerun()


def _index(name: str, documents: int) -> str:
    return f"{pluralised(documents, 'document')} with {_INSIDE[name]} inside"


def _draw_entries(entries: Sequence[GroundedEntry]) -> None:
    st.header(f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}", anchor=False)
    with st.container(horizontal=True):
        for suffix, (label, icon, help) in _FORMATS.items():
            st.download_button(
                label,
                partial(knowledge_base_bytes, entries, suffix),
                f"sextant-knowledge-base{suffix}",
                "application/octet-stream",
                key=f"knowledge {suffix}",
                icon=icon,
                help=help,
                on_click="ignore",
            )
    rows = [
        {
            "Entry": one.name,
            "Index": one.index,
            "Pages": ", ".join(dict.fromkeys(str(context.page) for context in one.contexts)),
            "Text": one.text,
            "Written by": _writer(one),
        }
        for one in entries
    ]
    draw_table(rows, "grounded entries", "Entries of the indexes with their texts")
    chosen = st.selectbox(
        "Show an entry", range(len(entries)), format_func=lambda place: entries[place].name, key="grounded entry"
    )
    _draw_entry(entries[chosen or 0])


def _writer(entry: GroundedEntry) -> str:
    return "quotations only" if entry.generator == "extractive" else entry.generator


def _draw_entry(entry: GroundedEntry) -> None:
    with st.container(border=True, key="grounded entry shown"):
        st.markdown(f"**{escape(entry.name)}**")
        if entry.text:
            st.markdown(answer_markdown(entry.text, lambda n: f":green-badge[{n}]"))
        else:
            st.caption("The passages say nothing about this entry.")
        for one in entry.sources:
            found = f"cosine {one.cosine:.2f}" if one.cosine is not None else "named by the index"
            st.caption(f":green-badge[{one.n}] {escape(one.title or one.file)}, page {one.page} · {found}")
            st.markdown(escape_paragraphs(one.text))
        for warning in entry.warnings:
            st.caption(f":material/info: {escape(warning)}")
