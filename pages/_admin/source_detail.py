"""One source: its status, its evidence and its history."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from ingestion.operations.sources import correct_address
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import STATES, source_status, state_of
from ingestion.status.views import display_reason
from ingestion.types import PHASES, Indexed, Outcome, Relation
from pages._admin.evidence import draw_address, draw_marks, draw_quality, light_badge
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, draw_heading, draw_table
from pages._shared.errors import show_errors
from pages._shared.markdown import escape

_SIGNS = {
    "done": ":material/check:",
    "skipped": ":material/redo:",
    "rejected": ":material/block:",
    "failed": ":material/error:",
}


def draw_source(code: str) -> None:
    """Draw the source with this code, or a notice that there is none."""
    record = resources.records().get(code)
    if record is None:
        st.info("This source is not on the list.", icon=":material/search_off:")
        draw_events(code)
        return
    with st.container(border=True, gap="small", key="source"):
        draw_heading(f"{code} {record.metadata.title}", "source")
        where = source_status(record)
        st.markdown(f":gray-badge[{STATES[state_of(record)]}] {escape(where.message)}")
        draw_address(record, "source")
        if (
            record.source.url
            and not record.source.parent
            and act_button(
                "correct_address", "Correct the address", icon=":material/edit:", type="tertiary", key="correct"
            )
        ):
            _correct(record)
        licence, quality, relations, words, past = st.tabs(
            ["Licence", "Phases", "Relations", "Decisions", "History"], key="source tabs"
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


@st.dialog("Correct the address", icon=":material/edit:")
def _correct(record: SourceRecord) -> None:
    code = record.source.code
    with st.form("correct address", border=False):
        address = st.text_input(f"Address of {code}", record.source.url, key=f"address {code}")
        author = draw_author()
        st.caption("The next run starts at the new address. A decision on the licence of the former one is dropped.")
        if st.form_submit_button("Correct", type="primary", icon=":material/check:", key="correct confirmed"):
            with show_errors():
                correct_address(resources.desk(), code, address, author)
                st.rerun()


def draw_relation(record: SourceRecord) -> None:
    """Draw the links of the source to others."""
    relation, source = record.relation, record.source
    lines = [f"Found under {escape(source.parent)}."] if source.parent else []
    under = [one for one in resources.records().values() if one.source.parent == source.code]
    if under:
        lines.append(f"Portal of {len(under):,} sources: {escape(', '.join(one.source.code for one in under[:20]))}")
    lines += _relations(relation) if relation is not None else []
    st.markdown("  \n".join(lines) if lines else "No versions, translations or copies known.")


def draw_events(code: str) -> None:
    """Draw the history of a source, the latest first."""
    events = resources.store().history(code)
    if not events:
        st.caption("No history yet.")
        return
    rows = [
        {
            "When": datetime.fromisoformat(one.when).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            "Event": one.event,
            "Result": one.status,
            "Reason": display_reason(one.reason),
            "Message": one.message,
            "Who": one.author,
            "Seconds": one.seconds,
        }
        for one in reversed(events)
    ]
    columns = {
        "Message": st.column_config.TextColumn(width=380),
        "Seconds": st.column_config.NumberColumn(format="%.1f", width=70),
    }
    draw_table(rows, f"events {code}", f"History of {code}", columns=columns)


def draw_licence(record: SourceRecord) -> None:
    """Draw the licence verdict with its evidence."""
    verdict = record.verdict
    if verdict is None:
        st.caption("The licence has not been checked yet.")
        return
    limits = f" · limits: {escape(', '.join(verdict.restrictions))}" if verdict.restrictions else ""
    st.markdown(f"{light_badge(verdict.light)} **{escape(verdict.licence) or 'no licence named'}**{limits}")
    if verdict.conflict:
        st.caption(":material/warning: The licence statements contradict each other.")
    draw_marks(record)


def _draw_phases(record: SourceRecord) -> None:
    for phase in PHASES:
        outcome = record.outcomes.get(phase)
        if outcome is None:
            st.markdown(f":gray-badge[:material/hourglass_empty: not yet] **{phase.capitalize()}**")
        else:
            sign = f"{_SIGNS[outcome.status]} {outcome.status}"
            st.markdown(f":gray-badge[{sign}] **{phase.capitalize()}** {_detail(outcome)}")
    if record.quality:
        draw_quality(record.quality)
    extraction, download = record.extraction, record.download
    if extraction is not None:
        st.caption(
            f"{extraction.pages:,} pages ({extraction.ocr_pages:,} by OCR), {extraction.characters:,} characters, "
            f"{extraction.size:,} bytes."
        )
        for warning in extraction.warnings[:5]:
            st.caption(f":material/info: {escape(warning)}")
    if download is not None and len(download.urls) > 1:
        st.caption("Redirects: " + escape(" → ".join(download.urls)))


def _detail(outcome: Outcome) -> str:
    evidence = outcome.evidence
    passages = f"{evidence.children:,} passages" if isinstance(evidence, Indexed) else ""
    outcome_text = outcome.message or display_reason(outcome.reason)
    return escape(" ".join(part for part in (outcome_text, passages) if part))


def _relations(relation: Relation) -> list[str]:
    likeness = f" (similarity by {relation.how}: {relation.similarity:.2f})" if relation.how else ""
    facts = {
        "Copy of": relation.duplicate_of,
        "Translation of": relation.translation_of,
        "Version": relation.version,
        "Superseded since": relation.superseded,
        "Work": relation.work,
    }
    return [
        f"**{name}** {escape(value)}{escape(likeness) if name in ('Copy of', 'Translation of') else ''}"
        for name, value in facts.items()
        if value
    ]


def _draw_words(record: SourceRecord) -> None:
    if not record.decisions and not record.corrections:
        st.caption("No decisions or corrections.")
    for one in record.decisions:
        by = f"{escape(one.author)}, {escape(one.when[:10])}"
        st.markdown(f"**{escape(one.choice)}** on {one.phase} by {by}: {escape(one.note)}")
    for correction in record.corrections:
        values = escape("; ".join(correction.values)) or "nothing"
        by = f"{escape(correction.author)}, {escape(correction.when[:10])}"
        st.markdown(f"**{correction.field}** set to {values} by {by}")
