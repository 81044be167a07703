"""Conversations over the small collection, stored as if they had been answered."""

from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest

from rag_engine.config import read_config
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation, begin_turn, end_turn, new_id
from rag_engine.engine import open_engine
from rag_engine.types.answer import Citation
from tests.rag_engine.conversations.test_store import REPLY, SOURCE

_QUOTES = {"flood-act.txt": "remains valid for six years", "piano-caldo.txt": "vale per tre giorni"}


def converse(workspace: Path, *replies: Reply, question: str = "How long is a plan valid?") -> Conversation:
    """Store a conversation in which a question was asked once for each reply."""
    id = new_id()
    for reply in replies:
        ended = end_turn(workspace, begin_turn(workspace, id, question), reply)
    assert ended is not None
    return ended


def citing_two(workspace: Path) -> Reply:
    """Return an answer that cites two documents of the collection."""
    sources, citations = [], []
    engine = open_engine(read_config(workspace))
    for n, (file, quote) in enumerate(_QUOTES.items(), start=1):
        [document] = [one for one in engine.collection.documents() if one.file == file]
        text = engine.catalog.text(document.key)
        start = text.index(quote)
        end = start + len(quote)
        known, title, language = document.document_id, document.metadata.title, document.metadata.language
        citations.append(Citation(n, "", known, file, title, 1, quote, start, end))
        source = replace(SOURCE, n=n, document_id=known, file=file, title=title, language=language)
        sources.append(replace(source, page=1, last_page=1, pages=1, text=text, start=0, passage=(start, end)))
    engine.close()
    text = "Six years [Source 1]. Three days [Source 2]."
    return replace(REPLY, text=text, sources=tuple(sources), citations=tuple(citations))


def listing(app: AppTest, *managed: str) -> AppTest:
    """Open the list of conversations, and what can be done with some of them."""
    app.session_state["conversations"] = True
    for id in managed:
        app.session_state[f"manage {id}"] = True
    return app.run()
