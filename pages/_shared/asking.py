"""One question asked while the person looks on: drawn as it comes, kept when it is whole."""

from __future__ import annotations

import streamlit as st

from pages._shared.conversations import begin_turn, end_turn
from pages._shared.evidence import draw_words
from pages._shared.plain import plain_paragraphs
from pages._shared.records import Conversation, Reply, failed_reply, reply_of
from rag_engine.citations import check_marks
from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.filters import Filter
from rag_engine.types import Answer, Evidence

_SCROLL = """<script>
for (const question of document.querySelectorAll(".st-key-question-%d")) {
  question.style.scrollMarginTop = "4rem";
  question.scrollIntoView({block: "start"});
}
</script>"""


def draw_question(question: str, turn: int) -> None:
    """Nothing; draws what the person asked."""
    with st.container(key=f"question-{turn}"), st.chat_message("user", avatar=":material/person:"):
        st.markdown(plain_paragraphs(question))


def scroll_to_question(turn: int) -> None:
    """Nothing; brings a question to the top of the window, once: Streamlit has no way to do so but a script."""
    st.html(_SCROLL % int(turn), unsafe_allow_javascript=True)


def ask(engine: Engine, before: Conversation, question: str, wanted: Filter, retrieval: RetrievalConfig) -> None:
    """Nothing; draws the answer as it is written and adds question and answer to the conversation."""
    workspace = engine.config.workspace
    conversation = begin_turn(workspace, before.id, question)
    # Below those drawn already, of which one that was broken off now makes way.
    turn = len(before.turns)
    draw_question(question, turn)
    scroll_to_question(turn)
    text, evidence, reply = "", None, None
    try:
        with st.chat_message("assistant", avatar=":material/explore:"):
            status = st.status("Searching the collection …", type="compact")
            words = st.empty()
            for part in engine.ask(question, wanted, retrieval):
                match part:
                    case Evidence():
                        evidence = part
                        status.update(label=_found(part))
                    case Answer():
                        reply = reply_of(part)
                    case _:
                        text += part
                        words.markdown(draw_words(text))
    except SextantError as error:
        reply = failed_reply(str(error))
    finally:
        # Also when the person stops the answer: Streamlit then ends this script at the next thing it draws.
        end_turn(workspace, conversation, reply or _stopped(text, evidence))


def _stopped(text: str, evidence: Evidence | None) -> Reply:
    """What is kept of an answer that was stopped: the words that came, with marks that lead to a source."""
    if evidence is None or not text.strip():
        return failed_reply("The answer was stopped before its first word.")
    checked = check_marks(text, {source.n for source in evidence.sources})
    warning = "The answer was stopped before its end; its words were not compared with its sources."
    return reply_of(Answer("answered", checked.text, (), evidence, "", (warning,)))


def _found(evidence: Evidence) -> str:
    documents = {hit.document.key for hit in evidence.hits}
    if not documents:
        return "Nothing near enough was found."
    passages = "1 passage" if len(evidence.hits) == 1 else f"{len(evidence.hits)} passages"
    return f"Reading {passages} from {'1 document' if len(documents) == 1 else f'{len(documents)} documents'} …"
