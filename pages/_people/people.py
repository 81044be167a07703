"""People tab of the admin page: who has which role, and the audit log."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from ingestion.operations.acts import why_not
from ingestion.operations.people import audit_entries, exported_audit, list_people, set_role
from pages._shared import resources
from pages._shared.elements import draw_table
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.conversations.person import ROLES, Person

_ADDRESS, _ROLE = "person address", "person role"
_MOST = 1000


def draw_people() -> None:
    """Draw the people with their roles and the audit log, for an admin."""
    if why := why_not(resources.person(), "list_people"):
        st.info(why, icon=":material/lock:")
        return
    with show_errors():
        st.subheader("People", anchor=False)
        st.caption(
            "Readers ask and read. Curators add, correct and delete documents, and start runs. "
            "Admins also change settings and roles."
        )
        found = list_people(resources.desk())
        if not found:
            st.caption("Nobody has logged in yet.")
        for one in found:
            _draw_one(one)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Address of somebody new", key=_ADDRESS, max_chars=200, width=340)
            st.selectbox("Role", ROLES, key=_ROLE, format_func=str.capitalize, width=160)
            st.button("Add person", icon=":material/person_add:", key="person add", on_click=_add)
        _draw_audit()


def _draw_one(one: Person) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(escape(one.name), width=340)
        key = f"role of {one.key} was {one.role}"
        st.selectbox(
            f"Role of {one.name}",
            ROLES,
            ROLES.index(one.role),
            key=key,
            format_func=str.capitalize,
            label_visibility="collapsed",
            width=160,
            on_change=_give,
            args=(one.key, key),
        )


def _give(address: str, key: str) -> None:
    with show_errors():
        role = st.session_state.pop(key)
        set_role(resources.desk(), address, role)


def _add() -> None:
    with show_errors():
        set_role(resources.desk(), st.session_state[_ADDRESS], st.session_state[_ROLE])
        st.session_state[_ADDRESS] = ""


def _draw_audit() -> None:
    st.subheader("Audit log", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        person = st.text_input("Person", key="audit person", max_chars=200, width=240)
        since = st.date_input("Since", None, key="audit since", width=160)
        entries = audit_entries(resources.desk(), person=person, since=since.isoformat() if since else "")
        acts = sorted({one.act for one in entries})
        chosen = st.selectbox("Act", acts, None, key="audit act", placeholder="Any", width=240)
        shown = [one for one in entries if chosen in (None, one.act)]
        st.download_button(
            "Export as CSV",
            exported_audit(resources.desk(), shown),
            "audit.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
    st.caption(f"Entries: {len(shown):,}" + (f", the latest {_MOST:,}:" if len(shown) > _MOST else ""))
    if shown:
        draw_table([asdict(one) for one in shown[:_MOST]], "audit", "What changed the collection, newest first")
