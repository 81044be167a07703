"""The list of conversations: found by words, opened, renamed, pinned and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path

import streamlit as st

from pages._shared import resources
from pages._shared.elements import (
    draw_renaming,
    draw_sharing,
    draw_way_back,
    has_way_back,
    keep_way_back,
    open_in_address,
)
from pages._shared.errors import show_errors, showing_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.conversations.person import owns
from rag_engine.conversations.store import (
    Conversation,
    ConversationSummary,
    delete_conversation,
    list_conversations,
    pin_conversation,
    rename_conversation,
    restore_conversation,
    share_conversation,
)
from rag_engine.text.folding import fold

_SHOWN = 12
_UNDO = "conversation undo"


def draw_conversations(workspace: Path, current: str) -> None:
    """Draw the button for a new conversation and the list of those there are."""
    st.button(
        _("New conversation"),
        icon=":material/add_comment:",
        width="stretch",
        on_click=open_in_address,
        args=("conversation",),
    )
    known = list_conversations(workspace, resources.person())
    if not known and not has_way_back(_UNDO):
        return
    # Drawn once it is opened: a dozen conversations are a hundred elements, before the question and its answer.
    folded = st.expander(_("Conversations"), icon=":material/history:", key="conversations", on_change="rerun")
    with folded:
        if not folded.open:
            return
        draw_way_back(_UNDO)
        words = ""
        if len(known) > _SHOWN:
            words = st.text_input(
                _("Search conversations"), key="conversations searched", placeholder=_("Words of a question or a name")
            )
        found = [summary for summary in known if all(word in summary.words for word in fold(words).split())]
        if not found and known:
            st.caption(_("No conversation has these words."))
        _draw_list(workspace, found[:_SHOWN], current)
        if (older := len(found) - _SHOWN) > 0:
            st.caption(
                counted("{n} older conversation: search for it.", "{n} older conversations: search for them.", older)
            )


def _draw_list(workspace: Path, shown: Sequence[ConversationSummary], current: str) -> None:
    today = datetime.now(UTC)
    person = resources.person()

    def heading(summary: ConversationSummary) -> str:
        if not owns(person, summary.owner):
            return _("Shared by others")
        return _("Pinned") if summary.pinned else period_of(summary.asked, today)

    for period, group in groupby(sorted(shown, key=lambda summary: not owns(person, summary.owner)), key=heading):
        st.caption(period)
        for summary in group:
            _draw_one(workspace, summary, current)


def period_of(asked: str, today: datetime) -> str:
    """Return the heading that a conversation is listed under, by the local day of its last question.

    >>> period_of("2026-03-01T18:30:00", datetime(2026, 3, 2, 12))
    'Yesterday'
    """
    days = (today.astimezone().date() - datetime.fromisoformat(asked).astimezone().date()).days
    if days < 1:
        return _("Today")
    return _("Yesterday") if days == 1 else _("Previous 7 days") if days <= 7 else _("Older")


def _draw_one(workspace: Path, summary: ConversationSummary, current: str) -> None:
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.button(
            escape(summary.title),
            key=f"open {summary.id}",
            type="tertiary",
            icon=":material/chat:" if summary.id == current else ":material/chat_bubble_outline:",
            width="stretch",
            wrap=False,
            on_click=open_in_address,
            args=("conversation", summary.id),
            help=_("Shared by {name}").format(name=escape(summary.shared_by)) if summary.shared_by else None,
        )
        if not owns(resources.person(), summary.owner):
            return
        managing = st.popover(
            "",
            icon=":material/more_vert:",
            type="tertiary",
            key=f"manage {summary.id}",
            help=_("Rename or delete"),
            on_change="rerun",
        )
        if managing.open:
            with managing:
                _draw_managing(workspace, summary, current)


def _draw_managing(workspace: Path, summary: ConversationSummary, current: str) -> None:
    person = resources.person()
    draw_renaming(
        summary.title,
        f"name {summary.id}",
        f"manage {summary.id}",
        lambda name: rename_conversation(workspace, summary.id, name, person),
    )
    st.button(
        _("Unpin") if summary.pinned else _("Pin"),
        icon=":material/keep:",
        key=f"pin {summary.id}",
        type="tertiary",
        on_click=showing_errors(lambda: pin_conversation(workspace, summary.id, person, pinned=not summary.pinned)),
    )
    draw_sharing(
        f"share {summary.id}",
        _("Others can read it, and cannot change it. Your ratings stay yours."),
        lambda shared: share_conversation(workspace, summary.id, person, shared=shared),
        shared=bool(summary.shared_by),
    )
    st.button(
        _("Delete"),
        icon=":material/delete:",
        key=f"delete {summary.id}",
        type="tertiary",
        on_click=_delete,
        args=(workspace, summary.id, current),
    )


def _delete(workspace: Path, id: str, current: str) -> None:
    with show_errors():
        deleted = delete_conversation(workspace, id, resources.person())
        if deleted is not None:
            title = escape(deleted.title)
            keep_way_back(_UNDO, to_translate("Deleted “{title}”."), partial(_restore, workspace, deleted), title=title)
        if id == current:
            open_in_address("conversation")


def _restore(workspace: Path, conversation: Conversation) -> None:
    restore_conversation(workspace, conversation)
    open_in_address("conversation", conversation.id)
