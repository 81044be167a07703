"""Rebuild of the indexes, and the check of new ones before they answer.

The check compares their answers with the accepted run.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.acts.indexes import queue_decision, queue_gate, queue_rebuild
from pages._shared import resources
from pages._shared.elements import act_button, draw_table
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, moment, number, signed
from rag_engine.evaluation.answers.accepted_run import KeptRun, find_accepted
from rag_engine.evaluation.answers.gate import GateResult, find_result
from rag_engine.storage.rebuild import WaitingGeneration

_NAMES = {
    "abstention": to_translate("Answers or refuses rightly"),
    "answer_match": to_translate("Answer has the key words"),
    "citation_precision": to_translate("Cited pages that answer"),
    "citation_recall": to_translate("Answering pages that are cited"),
    "context_precision": to_translate("Precision of the passages"),
    "context_recall": to_translate("Recall of the passages"),
}


def draw_indexes() -> None:
    """Draw the check and the rebuilding; nothing for a workspace without documents."""
    engine = resources.engine()
    if not engine.collection.documents():
        return
    st.header(_("Indexes"), anchor=False)
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
        st.markdown(_("**No accepted answers yet.** A rebuilt index goes live without a check."))
        st.caption(
            _(
                "“Measure and accept” asks the questions about the invented samples; a new index then has to answer "
                "them just as well. The server's administrator can accept answers to other questions."
            )
        )
        if act_button("accept_index", _("Measure and accept"), icon=":material/verified:", key="accept answers"):
            queue_gate(resources.context(), accept=True)
            st.rerun()
        return
    st.markdown(
        counted(
            "**{n} question accepted.** A rebuilt index goes live only if it answers it just as well; otherwise the "
            "old index keeps answering.",
            "**{n} questions accepted.** A rebuilt index goes live only if it answers them just as well; otherwise the "
            "old index keeps answering.",
            len(accepted.rows),
        )
    )
    with st.container(horizontal=True):
        if act_button("queue_gate", _("Check now"), icon=":material/fact_check:", key="gate"):
            queue_gate(resources.context())
            st.rerun()
        if act_button(
            "accept_index", _("Accept the current answers"), icon=":material/verified:", key="accept answers"
        ):
            queue_gate(resources.context(), accept=True)
            st.rerun()
    if result is not None:
        _draw_result(result)


def _draw_result(result: GateResult) -> None:
    checked = _("Last check: {when}, index {n}.").format(when=moment(result.when), n=number(result.generation))
    fallen = ", ".join(_metric(name) for name in result.dropped)
    lower = _(":material/warning: **Significantly lower: {figures}.**").format(figures=fallen)
    st.markdown(" ".join((checked, lower if fallen else _("No significant drop."))))
    rows = [
        {
            _("Figure"): _metric(change.metric),
            _("Questions"): change.questions,
            _("Accepted"): change.accepted,
            _("Checked"): change.current,
            _("Difference"): change.difference.value,
            _("95% interval"): _("{low} to {high}").format(
                low=signed(change.difference.low, 3), high=signed(change.difference.high, 3)
            ),
            _("Drop"): _("significant") if change.dropped else "",
        }
        for change in result.changes
    ]
    figure = partial(number, decimals=3)
    written = {_("Accepted"): figure, _("Checked"): figure, _("Difference"): partial(signed, decimals=3)}
    draw_table(rows, "gate", _("Figures of the accepted run and of the last check"), written=written)
    if result.differing:
        st.caption(_("The two runs differ in: {settings}.").format(settings=", ".join(result.differing)))


def _metric(name: str) -> str:
    return _(_NAMES[name]) if name in _NAMES else name


def _draw_waiting(waiting: WaitingGeneration) -> None:
    """Draw the index that did not go live, and how to decide on it."""
    told = _(":material/warning: **Index {n} of {when} did not go live.** The old index keeps answering.")
    st.markdown(told.format(n=number(waiting.number), when=moment(waiting.made)))
    st.caption(_("It waits until you decide, the next rebuild, or a change to the collection."))
    with st.container(horizontal=True):
        if act_button("accept_index", _("Accept this index"), icon=":material/verified:", key="accept index"):
            queue_decision(resources.context(), accept=True)
            st.rerun()
        if act_button("discard_index", _("Discard this index"), icon=":material/delete:", key="discard index"):
            queue_decision(resources.context(), accept=False)
            st.rerun()


def _draw_rebuild(accepted: KeptRun | None) -> None:
    """Draw the rebuilding, with the check and without it."""
    encode = st.checkbox(
        _("Encode every document again"),
        key="rebuild encode",
        help=_("Needed after a change of the encoder or of the chunking. Takes as long as adding the documents did."),
    )
    with st.container(horizontal=True):
        if act_button("rebuild", _("Rebuild the indexes"), icon=":material/build:", key="rebuild"):
            queue_rebuild(resources.context(), encode=encode)
            st.rerun()
        if accepted is not None and act_button("accept_index", _("Rebuild without the check"), key="rebuild anyway"):
            queue_rebuild(resources.context(), encode=encode, anyway=True)
            st.rerun()
