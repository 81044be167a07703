"""Licences that a person must decide, with the evidence; and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from ingestion.operations import decide, run
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import state_of
from ingestion.status.views import (
    ReviewGroup,
    counted,
    marks_of,
    next_due,
    review_groups,
    spoken_reason,
    title_beside_code,
)
from ingestion.types import RunRequest
from pages._admin.evidence import draw_address, draw_marks, light_badge
from pages._admin.tabs import open_tab
from pages._shared import resources
from pages._shared.author import draw_author
from pages._shared.errors import show_errors
from pages._shared.markdown import plain

_PAGE = 20
_DECIDED = 50


def draw_review() -> None:
    """Nothing; draws a card for each source that waits, and the list of what was decided."""
    source_records = list(resources.records().values())
    waiting = [one for one in source_records if state_of(one) == "review"]
    author = draw_author()
    _draw_next(next_due(source_records))
    if waiting:
        st.subheader(f"{len(waiting):,} to decide", anchor=False)
        groups = review_groups(waiting)
        for group in groups[:_PAGE]:
            if len(group.members) > 1:
                _draw_group(group, author)
            else:
                _draw_card(group.members[0], author)
        if len(groups) > _PAGE:
            st.caption("More appear as you decide these.")
    else:
        st.info("No licence waits for your word.", icon=":material/done_all:")
    _draw_decided(source_records, author)


def _draw_next(due: int) -> None:
    if due:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{counted(due, 'source')} may go on to the next phase.")
            if st.button("Run them", icon=":material/play_arrow:", key="run after review"):
                run(resources.desk(), RunRequest())
                open_tab("run")
                st.rerun()


def _draw_group(group: ReviewGroup, author: str) -> None:
    """Nothing; draws one decision for all sources of a host that have the same evidence."""
    codes = [one.source.code for one in group.members]
    with st.container(border=True, gap="small", key=f"group {codes[0]}"):
        st.markdown(f":material/stacks: **{len(codes):,} sources of {plain(group.host)} have the same evidence**")
        st.caption(plain(", ".join(codes[:30])) + (" …" if len(codes) > 30 else ""))
        draw_marks(marks_of(group.members[0]))
        _draw_form(codes, author, f"group {codes[0]}")
        with st.expander("One by one", icon=":material/list_alt:"):
            for record in group.members[:_PAGE]:
                _draw_card(record, author)
            if len(codes) > _PAGE:
                st.caption("More appear as you decide these.")


def _draw_card(record: SourceRecord, author: str) -> None:
    source, verdict = record.source, record.verdict
    stopped = record.stopped
    reason, message = (stopped[1].reason, stopped[1].message) if stopped else ("", "")
    with st.container(border=True, gap="small", key=f"review {source.code}"):
        st.markdown(f"**{plain(source.code)}** {plain(title_beside_code(record))}")
        draw_address(record, f"review {source.code}")
        light = light_badge(verdict.light if verdict else "YELLOW")
        st.markdown(f"{light} {plain(message or spoken_reason(reason))}")
        if source.licence:
            st.markdown(f"The list says: {plain(source.licence)}")
        draw_marks(marks_of(record))
        _draw_form([source.code], author, f"review {source.code}")


def _draw_form(codes: Sequence[str], author: str, key: str) -> None:
    with st.form(f"{key} form", border=False):
        note = st.text_input(
            "Why", placeholder="e.g. the terms of use allow copying with attribution", key=f"{key} note", max_chars=1000
        )
        with st.container(horizontal=True):
            green = st.form_submit_button("May be used (GREEN)", icon=":material/check_circle:", key=f"{key} green")
            red = st.form_submit_button("May not (RED)", icon=":material/block:", key=f"{key} red")
    if green or red:
        with show_errors():
            decide(resources.desk(), codes, "GREEN" if green else "RED", author, note)
            st.rerun()


def _draw_decided(source_records: Sequence[SourceRecord], author: str) -> None:
    decided = [(one, word) for one in source_records for word in one.decisions if word.phase == "licence"]
    decided.sort(key=lambda pair: pair[1].when, reverse=True)
    if not decided:
        return
    st.subheader("Decided", anchor=False)
    for record, word in decided[:_DECIDED]:
        code = record.source.code
        with st.container(horizontal=True, vertical_alignment="center", key=f"decided {code}"):
            when = datetime.fromisoformat(word.when).astimezone().strftime("%d %b %Y %H:%M")
            st.markdown(
                f"{light_badge(word.choice)} **{plain(code)}** {plain(title_beside_code(record))}  \n"
                f"{plain(word.author)}, {when}: {plain(word.note)}",
                width="stretch",
            )
            if st.button("Undo", key=f"undo {code}", icon=":material/undo:", type="tertiary", disabled=not author):
                with show_errors():
                    decide(resources.desk(), [code], "undo", author)
                    st.rerun()
    if len(decided) > _DECIDED:
        st.caption(f"{len(decided) - _DECIDED:,} earlier ones stand in the history of their sources.")
