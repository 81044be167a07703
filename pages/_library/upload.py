"""Place where files are dropped, which are then queued for addition."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.documents import is_listed, queue_uploads
from ingestion.extraction.file_type import UPLOAD_SUFFIXES
from ingestion.file_names import is_too_long, safe_name
from pages._shared import resources
from pages._shared.elements import act_button, draw_upload_limit, why_disabled
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from pages._uploads.uploader import draw_uploader, empty_uploader
from rag_engine.types.document import DocumentRecord

_OPENED = "library adding was opened"


def draw_adding(*, expanded: bool) -> None:
    """Draw where documents are added, from its first opening on: what was chosen there outlasts a closing."""
    label, icon = _("Add documents"), ":material/upload_file:"
    with st.expander(label, icon=icon, expanded=expanded, key="library adding", on_change="rerun") as adding:
        if adding.open:
            st.session_state[_OPENED] = True
        if _OPENED in st.session_state:
            _draw_upload()


def _draw_upload() -> None:
    """Draw the place where files are dropped, and queue them for addition."""
    draw_upload_limit()
    options = {"accept_multiple_files": True, "label_visibility": "collapsed"}
    files = draw_uploader("library", "queue_uploads", _("Files to add"), UPLOAD_SUFFIXES, **options)
    if why := why_disabled("queue_uploads"):
        st.caption(why)
    for name in (file.name for file in files if is_too_long(file.name)):
        shortened = _("A name is too long for the disk; its file is kept as {name}").format(name=safe_name(name))
        st.caption(f":material/info: {escape(shortened)}")
    replaces = _choose_replaced() if len(files) == 1 else None
    again = bool(files) and st.checkbox(_("Also read files that could not be read before"), key="upload again")
    label = counted("Add to the collection", "Add {n} files", max(1, len(files)))
    if act_button(
        "queue_uploads", label, key="add uploads", icon=":material/library_add:", type="primary", disabled=not files
    ):
        with show_errors():
            queue_uploads(
                resources.context(),
                [(file.name, file) for file in files],
                replaces=replaces.source if replaces else "",
                again=again,
            )
            empty_uploader("library")


def _choose_replaced() -> DocumentRecord | None:
    """Return the document that the file is a new version of; None for a new document."""
    own = [
        document
        for document in resources.engine().collection.documents()
        if not is_listed(resources.context(), document)
    ]
    return st.selectbox(
        _("New version of"),
        own,
        index=None,
        placeholder=_("None: add it as a new document"),
        format_func=lambda one: f"{one.metadata.title} ({one.file})" if one.metadata.title else one.file,
        key="upload replaces",
    )
