"""Deletion of documents, which is confirmed and can be undone until the work has begun."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.acts.documents import UNDO_SECONDS, queue_erasure, sources_erased_with
from pages._shared import resources
from pages._shared.elements import draw_author, draw_confirmation, open_in_address, translated_dialog
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, duration
from rag_engine.answering_documents import in_force_again
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.address import DOCUMENT

_NAMED = 10


@translated_dialog(to_translate("Delete?"), icon=":material/delete:")
def confirm_deletion(documents: Sequence[DocumentRecord]) -> None:
    """Draw the documents that would be deleted, what that means, and the two answers."""
    st.markdown("  \n".join(f"**{escape(document.shown_title)}**" for document in documents[:_NAMED]))
    if len(documents) > _NAMED:
        st.markdown(counted("and {n} more", "and {n} more", len(documents) - _NAMED))
    st.markdown(
        _(
            "Files, texts and index entries are removed from this machine and cannot be recovered. "
            "You can undo this in the Library for {duration}."
        ).format(duration=duration(UNDO_SECONDS))
    )
    present = resources.engine().collection.documents()
    again = [former for document in documents for former in in_force_again(document, present)]
    if titles := {former.shown_title for former in again if former.key not in {one.key for one in documents}}:
        st.markdown(_("In force again after that: {titles}").format(titles=escape(", ".join(sorted(titles)))))
    redact = st.checkbox(
        _("Also remove what conversations, notebooks and test questions quote"),
        key="delete redact",
        help=_(
            "Otherwise they and the runs of test questions keep the sentences they have quoted, and no other passage. "
            "People's questions, reasons of ratings and saved searches are kept in any case."
        ),
    )
    author, note = "", ""
    codes = sources_erased_with(resources.context(), documents)
    if codes:
        st.markdown(
            counted(
                "{n} source of the list holds this: {codes}. It stays on the list, but its files are removed too, and "
                "no run fetches it again unless you restore it.",
                "{n} sources of the list hold this, copies included: {codes}. They stay on the list, but their files "
                "are removed too, and no run fetches them again unless you restore them.",
                len(codes),
                codes=escape(", ".join(codes[:_NAMED]) + (" …" if len(codes) > _NAMED else "")),
            )
        )
        author = draw_author()
        note = st.text_input(_("Reason"), key="delete note", max_chars=1000)

    def deleted() -> None:
        # By their sources: two documents of one content have the same id.
        sources = [document.source for document in documents]
        queue_erasure(resources.context(), sources, author, note, redact=redact, undo_seconds=UNDO_SECONDS)
        open_in_address(DOCUMENT)

    several = counted("Delete {n} document", "Delete {n} documents", len(documents))
    label = _("Delete") if len(documents) == 1 else several
    draw_confirmation("queue_erasure", label, "delete", deleted, ":material/delete:")
