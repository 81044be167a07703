"""Answers of the conversations that cite a document."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from ingestion.status.views import pluralised
from pages._ask.answer import page_word
from pages._document.places import draw_places
from pages._shared import resources
from pages._shared.markdown import escape
from rag_engine.conversations.cited_in import CitingTurn, citing_turns
from rag_engine.reading.address import DocumentPlace, PlaceLink
from rag_engine.types import DocumentRecord

_SHOWN = 20


def draw_citations(document: DocumentRecord) -> None:
    """Draw the questions whose answers cite the document, each with the sentences that were cited."""
    turns = citing_turns(resources.workspace(), document.document_id, resources.person())
    if not turns:
        st.caption("No answer cites this document yet.")
        return
    st.caption(
        f"Cited in {pluralised(len(turns), 'answer')}" + (f", the latest {_SHOWN}:" if len(turns) > _SHOWN else "")
    )
    for number, turn in enumerate(turns[:_SHOWN]):
        _draw_turn(document, turn, f"document citations {number}")


def _draw_turn(document: DocumentRecord, turn: CitingTurn, key: str) -> None:
    when = datetime.fromisoformat(turn.asked).astimezone().strftime("%d %b %Y")
    with st.container(border=True, gap="small", key=f"{key} box"):
        st.page_link(
            "pages/ask.py",
            label=f"{escape(turn.question)} · {when}",
            icon=":material/forum:",
            query_params={"conversation": turn.conversation},
        )
        places = [
            PlaceLink(
                DocumentPlace(document.document_id, one.page, (one.start, one.end)),
                ((one.quote, False),),
                document.metadata.language,
                f"{page_word(document.file)} {one.page}" if document.pages > 1 else "",
            )
            for one in dict.fromkeys(turn.citations)
        ]
        draw_places(places, f"Cited for “{turn.question}”", key)
