"""Knowledge tab: entries of the indexes with their best passages, and indexes that come as tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from ingestion.acts.documents import (
    applied_index_tables,
    apply_index_table,
    ground,
    preview_index_table,
    remove_index_table,
)
from ingestion.book_index.apply import AppliedTo
from ingestion.dataset.knowledge_base import knowledge_base, knowledge_base_bytes
from pages._shared import resources
from pages._shared.elements import act_button, draw_download, draw_table
from pages._shared.errors import show, show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs
from pages._shared.numbers_and_dates import counted, number
from pages._shared.page_names import title_place
from pages._uploads.uploader import draw_preview_uploader, leave, stored_preview
from rag_engine.book_index.anchors import IndexTable
from rag_engine.grounding.knowledge import GroundedEntry
from rag_engine.storage.index_entries import OWN_GLOSSARY, OWN_INDEX, index_sources

_FORMATS = {
    ".xlsx": (
        to_translate("Excel workbook"),
        ":material/table_view:",
        to_translate("One row per entry, with its passages side by side."),
    ),
    ".json": (
        "JSON",
        ":material/data_object:",
        to_translate("All that is known about each entry, for programs."),
    ),
}
_PLACE = "index table"
_TYPES = ("csv", "tsv", "xlsx", "json", "pdf", "docx")
# Terms that the preview shows.
_SHOWN = 200
_MESSAGE = "index table applied"


def draw_knowledge() -> None:
    """Draw the indexes of the collection, the building of the knowledge base, its entries and export."""
    indexes = index_sources(resources.engine().catalog)
    if not indexes:
        st.info(
            _("No index found. Add a document with an index or glossary, or apply a table of terms."),
        )
        draw_index_tables()
        return
    st.markdown(
        _(
            "Each entry of an index with its three best passages and a short text that cites them. "
            "Entries that have not changed are kept."
        )
    )
    inside = [_own_index(name, documents) for name, documents in indexes.items() if name in (OWN_INDEX, OWN_GLOSSARY)]
    if inside:
        st.caption(" · ".join(inside))
    draw_index_tables()
    with st.container(horizontal=True):
        if act_button(
            "ground", _("Build the knowledge base"), type="primary", icon=":material/play_arrow:", key="ground"
        ):
            _build(again=False)
        if act_button("ground", _("Rebuild everything"), icon=":material/replay:", key="ground again"):
            _build(again=True)
    draw_jobs()
    entries = knowledge_base(resources.engine())
    if entries:
        _draw_entries(entries)


def _build(*, again: bool) -> None:
    with show_errors():
        ground(resources.context(), again=again)
        st.rerun()


def _own_index(name: str, documents: int) -> str:
    """Return how many documents have their own index or glossary."""
    if name == OWN_GLOSSARY:
        return counted("{n} document with its own glossary", "{n} documents with their own glossary", documents)
    return counted("{n} document with its own index", "{n} documents with their own index", documents)


def _draw_entries(entries: Sequence[GroundedEntry]) -> None:
    st.header(counted("{n} entry", "{n} entries", len(entries)), anchor=False)
    with st.container(horizontal=True):
        for suffix, (label, icon, help) in _FORMATS.items():
            written = partial(knowledge_base_bytes, entries, suffix, WORDING)
            name = f"sextant-knowledge-base{suffix}"
            draw_download(_(label), written, name, f"knowledge {suffix}", icon=icon, type="secondary", help=_(help))
    rows = [
        {
            _("Entry"): entry.name,
            _("Index"): entry.index,
            _("Pages"): entry.listed_pages(WORDING),
            _("Text"): entry.text,
            _("Written by"): _("quotations only") if entry.generator == "extractive" else entry.generator,
        }
        for entry in entries
    ]
    draw_table(rows, "grounded entries", _("Entries of the indexes with their texts"))
    chosen = st.selectbox(
        _("Show an entry"), range(len(entries)), format_func=lambda place: entries[place].name, key="grounded entry"
    )
    _draw_entry(entries[chosen or 0])


def _draw_entry(entry: GroundedEntry) -> None:
    with st.container(border=True, key="grounded entry shown"):
        st.markdown(f"**{escape(entry.name)}**")
        if entry.text:
            st.markdown(answer_markdown(entry.text, lambda n: f":green-badge[{n}]"))
        else:
            st.caption(_("The passages say nothing about this entry."))
        for source in entry.sources:
            cosine = (
                _("named by the index")
                if source.cosine is None
                else _("cosine {value}").format(value=number(source.cosine, 2))
            )
            place = title_place(source.title, source.file, source.named_page)
            st.caption(f":green-badge[{source.n}] {escape(place)} · {cosine}")
            st.markdown(escape_paragraphs(source.text))
        for warning in entry.warnings:
            st.caption(f":material/info: {escape(show(warning))}")


def _read(path: str) -> IndexTable:
    return preview_index_table(resources.context(), Path(path))


def draw_index_tables() -> None:
    """Draw the tables that are applied, each with the way to remove it, and the preview of another one."""
    if _MESSAGE in st.session_state:
        for line in st.session_state.pop(_MESSAGE):
            st.caption(line)
    for name, documents in applied_index_tables(resources.context()).items():
        with st.container(horizontal=True, vertical_alignment="center", key=f"index table {name}"):
            named = counted("{n} document", "{n} documents", documents)
            st.markdown(f"**{escape(name)}** · {named}", width="content")
            with st.popover(_("Remove"), icon=":material/delete:", type="tertiary", key=f"remove table {name}"):
                st.markdown(_("Questions are no longer directed by it. The documents stay as they are."))
                if act_button(
                    "remove_index_table",
                    _("Remove this table"),
                    key=f"remove table {name} now",
                    icon=":material/delete:",
                ):
                    with show_errors():
                        remove_index_table(resources.context(), name)
                        st.rerun()
    with st.expander(_("Apply an index table"), icon=":material/upload:", key="apply index table"):
        st.caption(
            _(
                "A table of terms with the file and pages of each, or a glossary. Questions are then directed to the "
                "passages that it lists."
            )
        )
        file = draw_preview_uploader(_PLACE, _("Index table"), _TYPES)
        if file is not None:
            with show_errors():
                _draw_preview(stored_preview(_PLACE, file))


def _draw_preview(path: Path) -> None:
    table = resources.kept_reading(_read, _("Reading the index …"))(str(path))
    for warning in table.warnings:
        st.caption(f":material/info: {escape(show(warning))}")
    rows = [
        {
            _("Term"): record.term,
            _("Sub-entry"): record.subterm,
            _("Pages"): ", ".join(map(str, record.pages)),
            _("See also"): "; ".join(record.see),
            _("File or meaning"): record.file or record.definition,
        }
        for record in table.records[:_SHOWN]
    ]
    draw_table(rows, "index table preview", _("Terms that would be applied"))
    st.caption(
        counted(
            "{n} term read. Nothing has been applied.",
            "{n} terms read. Nothing has been applied.",
            len(table.records),
        )
    )
    titles = {one.document_id: one.shown_title for one in resources.engine().collection.documents()}
    document = st.selectbox(
        _("Document"),
        list(titles),
        index=None,
        key="index table document",
        format_func=lambda id_: titles[id_],
        placeholder=_("As the table names them"),
        help=_("The document these pages belong to, if the table names no files."),
    )
    if act_button("apply_index_table", _("Apply"), key="apply table", icon=":material/check:", type="primary"):
        with show_errors():
            applied = apply_index_table(resources.context(), path, document or "")
            missing = _(":material/info: No document found for {name}")
            st.session_state[_MESSAGE] = [
                *(_applied(one) for one in applied.documents),
                *(missing.format(name=escape(name)) for name in applied.unmatched),
            ]
            leave(_PLACE)


def _applied(table: AppliedTo) -> str:
    return _(":material/check: {file}: {terms} at {places}").format(
        file=escape(table.file),
        terms=counted("{n} term", "{n} terms", table.entries),
        places=counted("{n} place", "{n} places", table.places),
    )
