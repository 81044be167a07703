"""Index tables: a table of terms previewed, applied to the documents that it names, and removed again."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ingestion.acts.documents import (
    applied_index_tables,
    apply_index_table,
    preview_index_table,
    remove_index_table,
)
from ingestion.book_index.apply import AppliedTo
from pages._admin.uploaded_file import draw_uploader, leave, stored_preview
from pages._shared import resources
from pages._shared.elements import act_button, draw_table
from pages._shared.errors import show, show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.book_index.anchors import IndexTable

_PLACE = "index table"
_TYPES = ("csv", "tsv", "xlsx", "json", "pdf", "docx")
# Terms that the preview shows.
_SHOWN = 200
_MESSAGE = "index table applied"


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
        file = draw_uploader(_PLACE, _("Index table"), _TYPES)
        if file is not None:
            with show_errors():
                _draw_preview(stored_preview(_PLACE, file))


def _draw_preview(path: Path) -> None:
    table = resources.kept_reading(_read, _("Reading the index …"))(str(path))
    for warning in table.warnings:
        st.caption(f":material/info: {escape(show(warning))}")
    rows = [
        {
            _("Term"): one.term,
            _("Sub-entry"): one.subterm,
            _("Pages"): ", ".join(map(str, one.pages)),
            _("See also"): "; ".join(one.see),
            _("File or meaning"): one.file or one.definition,
        }
        for one in table.records[:_SHOWN]
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
