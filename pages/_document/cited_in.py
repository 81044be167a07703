"""Answers of the conversations that cite a document."""

from __future__ import annotations

import streamlit as st

from pages._document.places import draw_places
from pages._shared import resources
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, day, number
from pages._shared.shown_names import page_place
from rag_engine.conversations.cited_in import CitingTurn, citing_turns
from rag_engine.reading.address import DocumentPlace, PlaceLink
from rag_engine.types import DocumentRecord

_SHOWN = 20


def draw_citations(document: DocumentRecord) -> None:
    """Draw the questions whose answers cite the document, each with the sentences that were cited."""
    turns = citing_turns(resources.workspace(), document.document_id, resources.person())
    if not turns:
        st.caption(_("No answer cites this document yet."))
        return
    if len(turns) > _SHOWN:
        st.caption(_("Cited in {n} answers, the latest {shown}:").format(n=number(len(turns)), shown=_SHOWN))
    else:
        st.caption(counted("Cited in {n} answer", "Cited in {n} answers", len(turns)))
    for place, turn in enumerate(turns[:_SHOWN]):
        _draw_turn(document, turn, f"document citations {place}")


def _draw_turn(document: DocumentRecord, turn: CitingTurn, key: str) -> None:
    with st.container(border=True, gap="small", key=f"{key} box"):
        st.page_link(
            "pages/ask.py",
            label=f"{escape(turn.question)} · {day(turn.asked)}",
            icon=":material/forum:",
            query_params={"conversation": turn.conversation},
        )
        places = [
            PlaceLink(
                DocumentPlace(document.document_id, one.page, (one.start, one.end)),
                ((one.quote, False),),
                document.metadata.language,
                page_place(document.file, one.page) if document.pages > 1 else "",
            )
            for one in dict.fromkeys(turn.citations)
        ]
        draw_places(places, _("Cited for “{question}”").format(question=turn.question), key)
