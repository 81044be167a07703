"""All that is known of one source: where it stands, what speaks for it, and what happened to it."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import streamlit as st

from ingestion.records.source_record import SourceRecord, metadata_of
from ingestion.status.source_status import STATES, source_status, state_of
from ingestion.status.views import marks_of, spoken_reason
from ingestion.types import PHASES, Indexed, Outcome, Relation
from pages._admin.evidence import draw_address, draw_marks, draw_quality, light_badge
from pages._shared import resources
from pages._shared.markdown import plain

_SIGNS = {
    "done": ":material/check:",
    "skipped": ":material/redo:",
    "rejected": ":material/block:",
    "failed": ":material/error:",
}


def draw_source(code: str) -> None:
    """Nothing; draws the source with this code, or says that there is none."""
    record = resources.records().get(code)
    if record is None:
        st.info("This source is not on the list.", icon=":material/search_off:")
        draw_events(code)
        return
    with st.container(border=True, gap="small", key="source"):
        with st.container(horizontal=True, horizontal_alignment="distribute", wrap=False):
            st.header(plain(f"{code} {metadata_of(record).title}"), anchor=False)
            st.button("", icon=":material/close:", help="Close", key="close source", type="tertiary", on_click=_close)
        where = source_status(record)
        st.markdown(f":gray-badge[{STATES[state_of(record)]}] {plain(where.message)}")
        draw_address(record, "source")
        licence, quality, relations, words, past = st.tabs(
            ["Licence", "Phases", "Relations", "Decisions", "History"], key="source tabs"
        )
        with licence:
            _draw_licence(record)
        with quality:
            _draw_phases(record)
        with relations:
            draw_relation(record)
        with words:
            _draw_words(record)
        with past:
            draw_events(code)


def draw_relation(record: SourceRecord) -> None:
    """Nothing; draws how the source stands to others."""
    relation, source = record.relation, record.source
    lines = [f"Found under {plain(source.parent)}."] if source.parent else []
    under = [one for one in resources.records().values() if one.source.parent == source.code]
    if under:
        lines.append(f"Portal of {len(under):,} sources: {plain(', '.join(one.source.code for one in under[:20]))}")
    lines += _relations(relation) if relation is not None else []
    st.markdown("  \n".join(lines) if lines else "Nothing is known of versions, translations or copies.")


def draw_events(code: str) -> None:
    """Nothing; draws what happened to a source, the latest first."""
    events = resources.store().history(code)
    if not events:
        st.caption("Nothing has happened to it yet.")
        return
    rows = [
        {
            "When": datetime.fromisoformat(one.when).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            "What": one.event,
            "Result": one.status,
            "Reason": spoken_reason(one.reason),
            "Message": one.message,
            "Who": one.author,
            "Seconds": one.seconds,
        }
        for one in reversed(events)
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=min(38 + 35 * len(rows), 400),
        key=f"events {code}",
        column_config={
            "Message": st.column_config.TextColumn(width=380),
            "Seconds": st.column_config.NumberColumn(format="%.1f", width=70),
        },
        alt=f"History of {code}",
    )


def _draw_licence(record: SourceRecord) -> None:
    verdict = record.verdict
    if verdict is None:
        st.caption("The licence was not checked yet.")
        return
    limits = f" · limits: {plain(', '.join(verdict.restrictions))}" if verdict.restrictions else ""
    st.markdown(f"{light_badge(verdict.light)} **{plain(verdict.licence) or 'no licence named'}**{limits}")
    if verdict.conflict:
        st.caption(":material/warning: The statements contradict each other.")
    draw_marks(marks_of(record))


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
            st.caption(f":material/info: {plain(warning)}")
    if download is not None and len(download.urls) > 1:
        st.caption("The way to the file: " + plain(" → ".join(download.urls)))


def _detail(outcome: Outcome) -> str:
    evidence = outcome.evidence
    passages = f"{evidence.children:,} passages" if isinstance(evidence, Indexed) else ""
    said = outcome.message or spoken_reason(outcome.reason)
    return plain(" ".join(part for part in (said, passages) if part))


def _relations(relation: Relation) -> list[str]:
    likeness = f" (alike by {relation.how}: {relation.similarity:.2f})" if relation.how else ""
    told = {
        "Copy of": relation.duplicate_of,
        "Translation of": relation.translation_of,
        "Version": relation.version,
        "Superseded since": relation.superseded,
        "Work": relation.work,
    }
    return [
        f"**{name}** {plain(value)}{plain(likeness) if name in ('Copy of', 'Translation of') else ''}"
        for name, value in told.items()
        if value
    ]


def _draw_words(record: SourceRecord) -> None:
    if not record.decisions and not record.corrections:
        st.caption("Nobody has decided or corrected anything.")
    for one in record.decisions:
        st.markdown(
            f"**{plain(one.choice)}** on {one.phase} by {plain(one.author)}, {_day(one.when)}: {plain(one.note)}"
        )
    for said in record.corrections:
        values = plain("; ".join(said.values)) or "nothing"
        st.markdown(f"**{said.field}** is {values}, says {plain(said.author)}, {_day(said.when)}")


def _day(when: str) -> str:
    return plain(when[:10])


def _close() -> None:
    st.query_params.pop("source", None)
