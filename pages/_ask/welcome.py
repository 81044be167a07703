"""Start page of Ask, shown until a conversation has begun."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ingestion.jobs.process import ensure_worker
from ingestion.status.invented_samples import count_samples
from pages._shared import resources
from pages._shared.accessibility import in_language
from pages._shared.elements import draw_when_done
from pages._shared.interface_language import _
from pages._shared.jobs import addition_under_way
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from rag_engine.answering_documents import answering_documents
from rag_engine.engine import Engine
from rag_engine.filters import DOCUMENT, Filter
from rag_engine.passage_search.example_questions import ExampleQuestion

_LOOK_SECONDS = 2.0


def draw_welcome_title(width: int) -> DeltaGenerator:
    """Draw the heading of the start page in the middle; return the container for the rest of it."""
    with st.container(horizontal_alignment="center"):
        place = st.container(width=width)
    with place:
        st.title(_("Ask your documents"), anchor=False)
    return place


def draw_welcome_words(engine: Engine) -> None:
    """Draw below the heading what can be done here."""
    documents = engine.collection.documents()
    if documents:
        st.markdown(
            _(
                "Ask in your own language: documents in every language are searched. "
                "Every claim links to the page it comes from."
            )
        )
        _draw_samples(count_samples(documents), len(documents))
    else:
        st.markdown(_("Every answer quotes your documents, and every claim links to the page it comes from."))
        if addition_under_way() is None:
            with st.container(border=True):
                st.markdown(
                    _("**The collection is empty.** Add PDF, Word, PowerPoint, Excel, HTML or text files to begin.")
                )
                st.page_link("pages/library.py", label=_("Add documents in the Library"), icon=":material/upload_file:")


def draw_welcome(engine: Engine, wanted: Filter, choose: Callable[[str], None]) -> None:
    """Draw below the words example questions that the filter leaves, or how far an addition is.

    One of them `choose` asks.
    """
    documents = engine.collection.documents()
    addition = addition_under_way()
    progress = st.container()
    # While documents come in, each would start another search for examples.
    if documents and addition is None:
        # Of documents named by the filter; other filters only leave fewer of the examples of the whole collection.
        found = resources.example_questions(tuple(sorted(wanted.get(DOCUMENT, ()))))
        found_in = _("For example, from your documents:")
        if count_samples(documents) == len(documents):
            found_in = _("For example, from the invented samples:")
        if found.done():
            _draw_examples(found, wanted, choose, found_in)
        else:
            draw_when_done(found, _LOOK_SECONDS)
    if addition is not None:
        with progress:
            st.fragment(_draw_addition, run_every=_LOOK_SECONDS)(engine, len(documents))


def _draw_samples(samples: int, documents: int) -> None:
    """Draw how many of the documents are invented, where any are, so that nobody takes them for evidence."""
    if not samples:
        return
    if samples == documents:
        said = counted(
            "The document here is an invented sample, written to try Sextant with. Add your own in the Library.",
            "All {n} documents here are invented samples, written to try Sextant with. Add your own in the Library.",
            samples,
        )
    else:
        said = counted(
            "{n} of the documents is an invented sample. Delete it in the Library once you do not need it any more.",
            "{n} of the documents are invented samples. Delete them in the Library once you do not need them any more.",
            samples,
        )
    st.caption(f":material/info: {said}")


def _draw_examples(
    found: Future[tuple[ExampleQuestion, ...]], wanted: Filter, choose: Callable[[str], None], found_in: str
) -> None:
    """Draw the questions found in the collection as buttons, below where they are from."""
    # Examples are an offer: where the collection cannot be searched, the question that is asked says why.
    if found.exception() is not None:
        return
    snapshot = resources.engine().collection.snapshot()
    allowed = answering_documents(wanted, snapshot.facets, snapshot.documents, strict=False)
    left = {snapshot.documents[key].document_id for key in (snapshot.documents if allowed is None else allowed)}
    examples = [question for question in found.result() if question.document_id in left]
    if examples:
        st.caption(found_in)
    for place, question in enumerate(examples):
        with in_language(question.language, f"example-{place}"):
            st.button(
                escape(question.question),
                key=f"example {place}",
                icon=":material/arrow_outward:",
                on_click=choose,
                args=(question.question,),
            )


def _draw_addition(engine: Engine, known: int) -> None:
    addition = addition_under_way()
    if addition is None or len(engine.collection.documents()) != known:
        # The examples, the filters and the figures are others now.
        st.rerun()
    if not addition.alive:
        # Its worker has died, perhaps with the server that was here before, or is busy with what comes first.
        ensure_worker(resources.workspace())
    now = addition.progress
    if now is None or now.total == 0:
        st.progress(0.0, text=_("Indexing is about to start."))
        return
    told = counted(
        "{done} of {n} document indexed", "{done} of {n} documents indexed", now.total, done=number(now.done)
    )
    st.progress(min(now.done / now.total, 1.0), text=told)
    st.caption(
        _("You can already ask questions: answers come from the documents indexed so far.")
        if known
        else _("You can start asking once the first document is ready.")
    )
