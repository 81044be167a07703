"""Sources tab: adding to the list, the status of each source, and acts on chosen ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from ingestion.acts.documents import UNDO_SECONDS
from ingestion.acts.sources import queue_removal
from ingestion.status.source_status import STATES, State
from ingestion.status.views import SourceRow, find_rows, source_rows
from ingestion.types.run import RunRequest
from pages._admin.add_sources import draw_added, draw_discovery, draw_document_upload, draw_source_list_upload
from pages._admin.source_detail import draw_source
from pages._admin.tabs import start_run
from pages._shared import resources
from pages._shared.elements import (
    act_button,
    draw_author,
    draw_confirmation,
    follow_choice,
    open_in_address,
    translated_dialog,
)
from pages._shared.errors import show
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, duration, number
from pages._shared.shown_names import shown_name, shown_reason

# Codes that a question names before it counts the rest.
_NAMED = 12


def draw_sources() -> None:
    """Draw the ways to add sources, the table, and the source that is open."""
    rows = source_rows(resources.records().values())
    with st.expander(_("Add sources"), icon=":material/playlist_add:", expanded=not rows, key="add sources"):
        listed, own, found = st.tabs([_("Source list"), _("Documents"), _("Discover")])
        with listed:
            draw_source_list_upload()
        with own:
            draw_document_upload()
        with found:
            draw_discovery()
    draw_added()
    draw_jobs(lambda job: job.kind == "remove")
    if not rows:
        st.info(_("The list is empty. Start with a workbook of addresses, or with your own documents."))
        return
    _draw_list(rows)
    if "source" in st.query_params:
        draw_source(st.query_params["source"])


def _draw_list(rows: Sequence[SourceRow]) -> None:
    counts = Counter(row.state for row in rows)
    words = st.text_input(
        _("Search the list"),
        placeholder=_("Code, title, address, reason or origin"),
        icon=":material/search:",
        key="words",
    )
    states: list[State] = st.pills(
        _("Status"),
        [state for state in STATES if state in counts],
        selection_mode="multi",
        format_func=lambda state: f"{shown_name(STATES[state])} ({number(counts[state])})",
        key="states",
    )
    found = find_rows(rows, words, states)
    shown = counted("{shown} of {n} source.", "{shown} of {n} sources.", len(rows), shown=number(len(found)))
    st.caption(" ".join((shown, _("Select a row to open it; select several to run or remove them."))))
    columns = _columns()
    # Streamlit keeps a selection as positions: a key for each set of rows keeps it from naming other sources.
    with st.container(key="source list"):
        chosen = st.dataframe(
            pd.DataFrame([_row(row) for row in found], columns=list(columns)),
            hide_index=True,
            key=f"sources {hash(tuple(row.code for row in found))}",
            on_select="rerun",
            selection_mode="multi-row",
            height=min(38 + 35 * max(len(found), 1), 420),
            column_config=columns,
            alt=_("Sources with their status"),
        )
    _draw_actions([found[position].code for position in chosen["selection"]["rows"]])


def _draw_actions(codes: Sequence[str]) -> None:
    follow_choice("source", codes[0] if len(codes) == 1 else "")
    if not codes:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="source actions"):
        chosen = escape(codes[0]) if len(codes) == 1 else counted("{n} source", "{n} sources", len(codes))
        st.markdown(f"**{chosen}**")
        if act_button(
            "run",
            _("Run selected"),
            icon=":material/play_arrow:",
            type="primary",
            help=_("Runs all phases that are pending."),
            key="run chosen",
        ):
            start_run(RunRequest(codes=tuple(codes)))
        if act_button("queue_removal", _("Remove selected"), icon=":material/playlist_remove:", key="remove chosen"):
            _confirm(codes)


@translated_dialog(to_translate("Remove from the list?"), icon=":material/playlist_remove:")
def _confirm(codes: Sequence[str]) -> None:
    named, more = escape(", ".join(codes[:_NAMED])), len(codes) - _NAMED
    others = counted("**{names}** and {n} more", "**{names}** and {n} more", more, names=named)
    st.markdown(others if more > 0 else f"**{named}**")
    st.markdown(
        _(
            "The results of the phases and the files that were fetched or uploaded are deleted; decisions, corrections "
            "and history are kept. Their documents are removed from the index, but not what conversations keep of "
            "them: for that, delete the documents in the Library first. You can undo this on the Sources tab for "
            "{duration}."
        ).format(duration=duration(UNDO_SECONDS))
    )
    author = draw_author()

    def removed() -> None:
        queue_removal(resources.context(), codes, author, undo_seconds=UNDO_SECONDS)
        open_in_address("source")

    draw_confirmation("queue_removal", _("Remove"), "remove", removed)


def _columns() -> Mapping[str, Any]:
    text = st.column_config.TextColumn
    return {
        _("Code"): text(width=100, pinned=True),
        _("Title"): text(width=260),
        _("State"): text(width=160),
        _("Phase"): text(width=110, help=_("The phase it has reached")),
        _("Reason"): text(width=140),
        _("Message"): text(width=300),
        _("Address"): text(width=260),
        _("Portal"): text(width=80, help=_("The portal it was found under")),
        _("From"): text(width=180),
    }


def _row(row: SourceRow) -> dict[str, str]:
    return {
        _("Code"): row.code,
        _("Title"): row.title,
        _("State"): shown_name(STATES[row.state]),
        _("Phase"): shown_name(row.phase.capitalize()),
        _("Reason"): shown_reason(row.reason),
        _("Message"): show(row.message),
        _("Address"): row.address,
        _("Portal"): row.parent,
        _("From"): show(row.origin),
    }
