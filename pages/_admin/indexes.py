"""Indexes: rebuilding them, and how the answers of the new ones compare with the accepted run before they answer."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from ingestion.operations.answers import queue_gate
from ingestion.operations.indexes import queue_decision, queue_rebuild
from ingestion.status.views import pluralised
from pages._shared import resources
from pages._shared.elements import act_button, draw_table
from pages._shared.errors import show_errors
from rag_engine.evaluation.answers.accepted_run import KeptRun
from rag_engine.evaluation.answers.gate import GateResult, find_accepted, find_result
from rag_engine.storage.rebuild import WaitingGeneration

_NAMES = {
    "abstention": "Answers or refuses rightly",
    "answer_match": "Answer has the key words",
    "citation_precision": "Cited pages that answer",
    "citation_recall": "Answering pages that are cited",
    "context_precision": "Precision of the passages",
    "context_recall": "Recall of the passages",
}


def draw_indexes() -> None:
    """Draw the check and the rebuilding; nothing for a workspace without documents."""
    engine = resources.engine()
    if not engine.collection.documents():
        return
    st.header("Indexes", anchor=False)
    with show_errors():
        accepted, result = find_accepted(resources.workspace()), find_result(resources.workspace())
        with st.container(border=True):
            _draw_check(accepted, result)
        waiting = engine.collection.waiting()
        if waiting is not None:
            with st.container(border=True):
                _draw_waiting(waiting)
        with st.container(border=True):
            _draw_rebuild(accepted)


def _draw_check(accepted: KeptRun | None, result: GateResult | None) -> None:
    if accepted is None:
        st.markdown("**No accepted answers yet.** A rebuilt index goes live without a check.")
        st.caption(
            "Accept the answers to your own questions with `sextant eval gate GOLD.jsonl --accept`; a new index then "
            "has to answer them as well. With the sample collection indexed, you can start here."
        )
        if act_button("accept_index", "Measure and accept", icon=":material/verified:", key="accept answers"):
            queue_gate(resources.desk(), accept=True)
            st.rerun()
        return
    st.markdown(
        f"**{pluralised(len(accepted.rows), 'question')} accepted.** A rebuilt index goes live only if it answers them "
        "as well; otherwise the old index keeps answering."
    )
    with st.container(horizontal=True):
        if act_button("queue_gate", "Check now", icon=":material/fact_check:", key="gate"):
            queue_gate(resources.desk())
            st.rerun()
        if act_button("accept_index", "Accept the current answers", icon=":material/verified:", key="accept answers"):
            queue_gate(resources.desk(), accept=True)
            st.rerun()
    if result is not None:
        _draw_result(result)


def _draw_result(result: GateResult) -> None:
    when = datetime.fromisoformat(result.when).astimezone().strftime("%d %b %H:%M")
    fallen = ", ".join(_NAMES.get(name, name) for name in result.dropped)
    verdict = f":material/warning: **Significantly lower: {fallen}.**" if fallen else "No significant drop."
    st.markdown(f"Last check, {when}, index {result.generation}: {verdict}")
    rows = [
        {
            "Figure": _NAMES.get(one.metric, one.metric),
            "Questions": one.questions,
            "Accepted": one.accepted,
            "Checked": one.current,
            "Difference": one.difference.value,
            "95% interval": f"{one.difference.low:+.3f} to {one.difference.high:+.3f}",
            "Drop": "significant" if one.dropped else "",
        }
        for one in result.changes
    ]
    number = st.column_config.NumberColumn
    columns = {name: number(format="%.3f") for name in ("Accepted", "Checked")} | {"Difference": number(format="%+.3f")}
    draw_table(rows, "gate", "Figures of the accepted run and of the last check", columns=columns)
    if result.differing:
        st.caption(f"The two runs differ in: {', '.join(result.differing)}.")


def _draw_waiting(waiting: WaitingGeneration) -> None:
    """Draw the index that did not go live, and how to decide on it."""
    when = datetime.fromisoformat(waiting.made).astimezone().strftime("%d %b %H:%M")
    st.markdown(
        f":material/warning: **Index {waiting.number} of {when} did not go live.** The old index keeps answering."
    )
    st.caption("It waits until you decide, the next rebuild, or a change to the collection.")
    with st.container(horizontal=True):
        if act_button("accept_index", "Accept this index", icon=":material/verified:", key="accept index"):
            queue_decision(resources.desk(), accept=True)
            st.rerun()
        if act_button("discard_index", "Discard it", icon=":material/delete:", key="discard index"):
            queue_decision(resources.desk(), accept=False)
            st.rerun()


def _draw_rebuild(accepted: KeptRun | None) -> None:
    """Draw the rebuilding, with the check and without it."""
    encode = st.checkbox(
        "Encode every document again",
        key="rebuild encode",
        help="Needed after a change of the encoder or of the chunking. It takes as long as adding the documents did.",
    )
    with st.container(horizontal=True):
        if act_button("rebuild", "Rebuild the indexes", icon=":material/build:", key="rebuild"):
            queue_rebuild(resources.desk(), encode=encode)
            st.rerun()
        if accepted is not None and act_button("accept_index", "Rebuild without the check", key="rebuild anyway"):
            queue_rebuild(resources.desk(), encode=encode, anyway=True)
            st.rerun()
