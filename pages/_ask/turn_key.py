"""Key of a turn, with which those of its widgets begin."""

from __future__ import annotations

from rag_engine.conversations.store import Conversation


def turn_key(conversation: Conversation, number: int) -> str:
    """Return the beginning of the keys of a turn's widgets; no other question has the same.

    Streamlit keeps a person's choices by key, even when another conversation is opened. A question that was never
    answered makes way for another of the same number.
    """
    return f"{conversation.id} {conversation.turns[number].asked}"
