"""One source: its status, its evidence and its history."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.acts.sources import correct_address
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import STATES, source_status, state_of
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES
from ingestion.types.source import Indexed, Relation
from pages._admin.evidence import draw_address, draw_marks, draw_quality, licence_name, light_badge, similarity, size_of
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, draw_heading, draw_table, translated_dialog
from pages._shared.errors import show, show_errors
from pages._shared.field_inputs import heading_of
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, day, known_date, moment, number
from pages._shared.shown_names import shown_name, shown_reason
from rag_engine.types.document import UNDATED

_SIGNS = {
    "done": ":material/check:",
    "skipped": ":material/redo:",
    "refused": ":material/block:",
    "failed": ":material/error:",
}


def draw_source(code: str) -> None:
    """Draw the source with this code, or a notice that there is none."""
    record = resources.records().get(code)
    if record is None:
        st.info(_("This source is not on the list."), icon=":material/search_off:")
        draw_events(code)
        return
    with st.container(border=True, gap="small", key="source"):
        draw_heading(f"{code} {record.metadata.title}", "source")
        where = source_status(record)
        st.markdown(f":gray-badge[{shown_name(STATES[state_of(record)])}] {escape(show(where.message))}")
        draw_address(record, "source")
        if (
            record.source.url
            and not record.source.parent
            and act_button(
                "correct_address", _("Correct the address"), icon=":material/edit:", type="tertiary", key="correct"
            )
        ):
            _correct(record)
        licence, quality, relations, words, past = st.tabs(
            [_("Licence"), _("Phases"), _("Relations"), _("Decisions"), _("History")], key="source tabs"
        )
        with licence:
            draw_licence(record)
        with quality:
            _draw_phases(record)
        with relations:
            draw_relation(record)
        with words:
            _draw_words(record)
        with past:
            draw_events(code)


@translated_dialog(to_translate("Correct the address"), icon=":material/edit:")
def _correct(record: SourceRecord) -> None:
    code = record.source.code
    with st.form("correct address", border=False):
        address = st.text_input(_("Address of {code}").format(code=code), record.source.url, key=f"address {code}")
        author = draw_author()
        st.caption(_("The next run starts at the new address. A decision on the licence of the old one is dropped."))
        if act_button(
            "correct_address",
            _("Correct"),
            in_form=True,
            type="primary",
            icon=":material/check:",
            key="correct confirmed",
        ):
            with show_errors():
                correct_address(resources.context(), code, address, author)
                st.rerun()


def draw_relation(record: SourceRecord) -> None:
    """Draw the links of the source to others."""
    relation, source = record.relation, record.source
    lines = [_("Found under {code}.").format(code=escape(source.parent))] if source.parent else []
    under = [one for one in resources.records().values() if one.source.parent == source.code]
    if under:
        codes = escape(", ".join(one.source.code for one in under[:20]))
        lines.append(
            counted("Portal of {n} source: {codes}", "Portal of {n} sources: {codes}", len(under), codes=codes)
        )
    lines += _relations(relation) if relation is not None else []
    st.markdown("  \n".join(lines) if lines else _("No versions, translations or copies known."))


def draw_events(code: str) -> None:
    """Draw the history of a source, the latest first."""
    events = resources.store().history(code)
    if not events:
        st.caption(_("No history yet."))
        return
    rows = [
        {
            _("When"): moment(event.when, seconds=True),
            _("Event"): shown_name(event.event.capitalize()),
            _("Result"): shown_name(event.status.capitalize()),
            _("Reason"): shown_reason(event.reason),
            _("Message"): show(event.message),
            _("Who"): event.author,
            _("Seconds"): event.seconds,
        }
        for event in reversed(events)
    ]
    columns = {
        _("Message"): st.column_config.TextColumn(width=380),
        _("Seconds"): st.column_config.NumberColumn(width=70),
    }
    written = {_("Seconds"): partial(number, decimals=1)}
    draw_table(rows, f"events {code}", _("History of {code}").format(code=code), columns=columns, written=written)


def draw_licence(record: SourceRecord) -> None:
    """Draw the licence verdict with its evidence."""
    verdict = record.verdict
    if verdict is None:
        st.caption(_("The licence has not been checked yet."))
        return
    told = f"{light_badge(verdict.light)} **{licence_name(verdict.licence)}**"
    limits = _("limits: {names}").format(names=escape(", ".join(verdict.restrictions)))
    st.markdown(f"{told} · {limits}" if verdict.restrictions else told)
    if verdict.conflict:
        st.caption(_(":material/warning: The licence statements contradict each other."))
    draw_marks(record)


def _draw_phases(record: SourceRecord) -> None:
    for phase in PHASES:
        outcome = record.outcomes.get(phase)
        if outcome is None:
            badge = _(":gray-badge[:material/hourglass_empty: not yet]")
            st.markdown(f"{badge} **{shown_name(phase.capitalize())}**")
        else:
            sign = f"{_SIGNS[outcome.status]} {shown_name(outcome.status)}"
            st.markdown(f":gray-badge[{sign}] **{shown_name(phase.capitalize())}** {_detail(outcome)}")
    if record.quality:
        draw_quality(record.quality)
    for sentence in record.findings.left_out if record.findings else ():
        st.caption(f":material/info: {escape(show(sentence))}")
    extraction, download = record.extraction, record.download
    if extraction is not None:
        st.caption(size_of(extraction))
        for warning in extraction.warnings[:5]:
            st.caption(f":material/info: {escape(show(warning))}")
    if download is not None and len(download.urls) > 1:
        st.caption(_("Redirects: {addresses}").format(addresses=escape(" → ".join(download.urls))))


def _detail(outcome: Outcome) -> str:
    evidence = outcome.evidence
    passages = counted("{n} passage", "{n} passages", evidence.children) if isinstance(evidence, Indexed) else ""
    outcome_text = show(outcome.message) or shown_reason(outcome.reason)
    return escape(" ".join(part for part in (outcome_text, passages) if part))


def _relations(relation: Relation) -> list[str]:
    likeness = f" ({escape(similarity(relation))})" if relation.how else ""
    since = _("date not known") if relation.superseded == UNDATED else known_date(relation.superseded)
    facts = (
        (_("Copy of"), relation.duplicate_of, likeness),
        (_("Translation of"), relation.translation_of, likeness),
        (_("Version"), relation.version, ""),
        (_("Superseded since"), since, ""),
        (_("Work"), relation.work, ""),
    )
    return [f"**{name}** {escape(value)}{detail}" for name, value, detail in facts if value]


def _draw_words(record: SourceRecord) -> None:
    if not record.decisions and not record.corrections:
        st.caption(_("No decisions or corrections."))
    for decision in record.decisions:
        choice = f"**{escape(shown_name(decision.choice))}** · {shown_name(decision.phase.capitalize())}"
        st.markdown(" · ".join((choice, escape(decision.author), escape(day(decision.when)), escape(decision.note))))
    for correction in record.corrections:
        values = escape("; ".join(correction.values)) or _("(empty)")
        by = f"{escape(correction.author)} · {escape(day(correction.when))}"
        st.markdown(f"**{heading_of(correction.field)}** · {values} · {by}")
