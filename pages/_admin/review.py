"""Licences to review, with their evidence, and the decisions made."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.acts.decisions import decide
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import state_of
from ingestion.status.views import (
    ReviewGroup,
    next_due,
    review_groups,
    title_beside_code,
)
from ingestion.types.run import RunRequest
from pages._admin.evidence import draw_address, draw_decision, draw_marks, light_badge
from pages._admin.tabs import start_run
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show, show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, moment
from pages._shared.shown_names import shown_reason

_PAGE = 20
_DECIDED = 50


def draw_review() -> None:
    """Draw a card for each licence to review, and the decisions made."""
    source_records = list(resources.records().values())
    waiting = [record for record in source_records if state_of(record) == "review"]
    author = draw_author()
    _draw_next(next_due(source_records))
    if waiting:
        st.header(counted("{n} to review", "{n} to review", len(waiting)), anchor=False)
        groups = review_groups(waiting)
        for group in groups[:_PAGE]:
            if len(group.members) > 1:
                _draw_group(group, author)
            else:
                _draw_card(group.members[0], author)
        if len(groups) > _PAGE:
            st.caption(_("More appear as you decide these."))
    else:
        st.info(_("No licences to review."), icon=":material/done_all:")
    _draw_decided(source_records, author)


def _draw_next(due: int) -> None:
    if due:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(counted("{n} source ready for the next phase.", "{n} sources ready for the next phase.", due))
            if act_button("run", _("Run them"), icon=":material/play_arrow:", key="run after review"):
                start_run(RunRequest())


def _draw_group(group: ReviewGroup, author: str) -> None:
    """Draw one decision for all sources of a host that have the same evidence."""
    codes = [member.source.code for member in group.members]
    with st.container(border=True, gap="small", key=f"group {codes[0]}"):
        told = counted(
            ":material/stacks: **{n} source of {host} has the same evidence**",
            ":material/stacks: **{n} sources of {host} have the same evidence**",
            len(codes),
            host=escape(group.host),
        )
        st.markdown(told)
        st.caption(escape(", ".join(codes[:30])) + (" …" if len(codes) > 30 else ""))
        draw_marks(group.members[0])
        _draw_form(codes, author, f"group {codes[0]}")
        with st.expander(_("One by one"), icon=":material/list_alt:", key=f"one by one {codes[0]}"):
            for record in group.members[:_PAGE]:
                _draw_card(record, author)
            if len(codes) > _PAGE:
                st.caption(_("More appear as you decide these."))


def _draw_card(record: SourceRecord, author: str) -> None:
    source, verdict = record.source, record.verdict
    stopped = record.stopped
    reason, message = (stopped[1].reason, stopped[1].message) if stopped else ("", "")
    with st.container(border=True, gap="small", key=f"review {source.code}"):
        st.markdown(f"**{escape(source.code)}** {escape(title_beside_code(record))}")
        draw_address(record, f"review {source.code}")
        light = light_badge(verdict.light if verdict else "YELLOW")
        st.markdown(f"{light} {escape(show(message) or shown_reason(reason))}")
        if source.licence:
            st.markdown(_("Source list: {licence}").format(licence=escape(source.licence)))
        draw_marks(record)
        _draw_form([source.code], author, f"review {source.code}")


def _draw_form(codes: Sequence[str], author: str, key: str) -> None:
    with st.form(f"{key} form", border=False):
        note = st.text_input(
            _("Reason"),
            placeholder=_("e.g. the terms of use allow copying with attribution"),
            key=f"{key} note",
            max_chars=1000,
        )
        with st.container(horizontal=True):
            green = act_button(
                "decide", _("Approve (green)"), in_form=True, icon=":material/check_circle:", key=f"{key} green"
            )
            red = act_button("decide", _("Reject (red)"), in_form=True, icon=":material/block:", key=f"{key} red")
    if green or red:
        with show_errors():
            decide(resources.context(), codes, "GREEN" if green else "RED", author, note)
            st.rerun()


def _draw_decided(source_records: Sequence[SourceRecord], author: str) -> None:
    decided = [(one, decision) for one in source_records for decision in one.decisions if decision.phase == "licence"]
    decided.sort(key=lambda pair: pair[1].when, reverse=True)
    if not decided:
        return
    st.header(_("Decided"), anchor=False)
    for record, decision in decided[:_DECIDED]:
        caption = f"{escape(decision.author)} · {escape(moment(decision.when))} · {escape(decision.note)}"
        draw_decision(record, f"{light_badge(decision.choice)} ", caption, "decided", author)
    if len(decided) > _DECIDED:
        earlier = counted(
            "{n} earlier decision is in the history of its source.",
            "{n} earlier decisions are in the history of their sources.",
            len(decided) - _DECIDED,
        )
        st.caption(earlier)
