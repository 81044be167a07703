"""Quarantine: refused sources with reasons and figures, and their restoration."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from ingestion.acts.decisions import decide
from ingestion.records.source_record import SourceRecord
from ingestion.status.views import in_quarantine, title_beside_code
from ingestion.types.run import RunRequest
from pages._admin.evidence import draw_address, draw_decision, draw_quality, similarity, size_of
from pages._admin.tabs import start_run
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show, show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from pages._shared.shown_names import shown_name, shown_reason

_PAGE = 20


def draw_quarantine() -> None:
    """Draw each refused source with its reason."""
    source_records = resources.records()
    refused = in_quarantine(source_records.values())
    author = draw_author()
    if not refused:
        st.info(_("Quarantine is empty: no source was refused for its file, its text or as a duplicate."))
    counts = Counter(one.stopped[1].reason for one in refused if one.stopped)
    wanted = (
        st.pills(
            _("Refused for"),
            list(counts),
            selection_mode="multi",
            format_func=lambda reason: f"{_capitalised(reason)} ({number(counts[reason])})",
            key="quarantine reasons",
        )
        if counts
        else []
    )
    shown = [one for one in refused if one.stopped and (not wanted or one.stopped[1].reason in wanted)]
    for record in shown[:_PAGE]:
        relation = record.relation
        _draw_card(record, author, source_records.get(relation.duplicate_of) if relation else None)
    if len(shown) > _PAGE:
        more = len(shown) - _PAGE
        st.caption(
            counted("{n} more; choose a reason above to filter.", "{n} more; choose a reason above to filter.", more)
        )
    _draw_restored(list(source_records.values()), author)


def _capitalised(reason: str) -> str:
    shown = shown_reason(reason)
    return shown[:1].upper() + shown[1:]


def _draw_card(record: SourceRecord, author: str, kept: SourceRecord | None) -> None:
    assert record.stopped is not None, "a refused source was stopped"
    code, (phase, outcome) = record.source.code, record.stopped
    with st.container(border=True, gap="small", key=f"quarantine {code}"):
        sides = st.columns(2 if kept else 1)
        with sides[0].container(gap="small"):
            _draw_side(record, _("Refused"), f"refused {code}")
        if kept is not None:
            with sides[1].container(gap="small"):
                _draw_side(kept, _("Kept instead"), f"instead of {code}")
        reason = f"{shown_name(phase.capitalize())} · {escape(shown_reason(outcome.reason))}"
        st.markdown(f":orange-badge[:material/block: {reason}] {escape(show(outcome.message))}")
        if record.relation is not None and record.relation.duplicate_of and record.relation.how:
            st.caption(similarity(record.relation))
        if record.quality is not None:
            draw_quality(record.quality)
        _draw_form(code, author)


def _draw_side(record: SourceRecord, what: str, key: str) -> None:
    st.markdown(f":small[{what}]  \n**{escape(record.source.code)}** {escape(title_beside_code(record))}")
    draw_address(record, key)
    if record.extraction is not None:
        st.caption(size_of(record.extraction))


def _draw_form(code: str, author: str) -> None:
    with st.form(f"restore {code} form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        note = st.text_input(
            _("Why it belongs in the collection"), placeholder=_("e.g. a short law, but the one in force"),
            key=f"restore {code} note", max_chars=1000,
        )  # fmt: skip
        asked = act_button(
            "decide", _("Restore"), in_form=True, icon=":material/restore_from_trash:", key=f"restore {code}"
        )
    if asked:
        with show_errors():
            decide(resources.context(), [code], "restore", author, note)
            st.rerun()


def _draw_restored(source_records: list[SourceRecord], author: str) -> None:
    restored = [(one, decision) for one in source_records for decision in one.decisions if decision.choice == "restore"]
    if not restored:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(_("Restored"), anchor=False)
        if act_button("run", _("Run next phases"), icon=":material/play_arrow:", key="run restored"):
            start_run(RunRequest(codes=tuple(pair[0].source.code for pair in restored)))
    for record, decision in restored:
        who = (shown_name(decision.phase.capitalize()), escape(decision.author), escape(decision.note))
        draw_decision(record, "", " · ".join(who), "restored", author)
