"""Key of a turn, with which those of its widgets begin."""

from __future__ import annotations

from rag_engine.conversations.store import Conversation


def turn_key(conversation: Conversation, number: int) -> str:
    """Return the beginning of the keys of what is drawn for a turn: of this question alone, not of every first one.

    Streamlit keeps what a person chose, opened and typed by key, whichever conversation is opened next, and a question
    that was never answered makes way for another of the same number.
    """
    return f"{conversation.id} {conversation.turns[number].asked}"
