"""People tab of the admin page: who has which role, and the audit log."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.acts.people import audit_entries, exported_audit, list_people, set_role
from ingestion.acts.register import every_act
from ingestion.records.audit import AuditEntry
from ingestion.types.description import ALL_FIELDS
from pages._shared import resources
from pages._shared.elements import act_button, draw_download, draw_table, when_changed, why_disabled
from pages._shared.errors import show, show_errors, showing_errors
from pages._shared.field_inputs import heading_of
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import DATE_FORMAT, counted, moment, number
from pages._shared.shown_names import shown_name
from rag_engine.conversations.person import ROLES, Person

_ADDRESS, _ROLE = "person address", "person role"
_MOST = 1000
# For translators: heading of a column, what was changed.
_ON = to_translate("On")
_CORRECTIONS = ("correct", "agree", "undo")


def draw_people() -> None:
    """Draw the people with their roles and the audit log, for an admin."""
    if why := why_disabled("list_people"):
        st.info(why, icon=":material/lock:")
        return
    with show_errors():
        st.header(_("People"), anchor=False)
        st.caption(
            _(
                "Readers ask and read. Curators add, correct and delete documents, and start runs. "
                "Admins also change settings and roles."
            )
        )
        found = list_people(resources.context())
        if not found:
            st.caption(_("Nobody has logged in yet."))
        for person in found:
            _draw_one(person)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(_("Email address of a new person"), key=_ADDRESS, max_chars=200, width=340)
            st.selectbox(_("Role"), ROLES, key=_ROLE, format_func=_role_name, width=160)
            act_button("set_role", _("Add person"), icon=":material/person_add:", key="person add", on_click=_add)
        _draw_audit()


def _role_name(role: str) -> str:
    return shown_name(role).capitalize()


def _draw_one(person: Person) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(escape(person.name), width=340)
        key = f"role of {person.key} was {person.role}"
        st.selectbox(
            _("Role of {name}").format(name=person.name),
            ROLES,
            ROLES.index(person.role),
            key=key,
            format_func=_role_name,
            label_visibility="collapsed",
            width=160,
            on_change=when_changed(
                key,
                person.role,
                showing_errors(lambda: set_role(resources.context(), person.key, st.session_state.pop(key))),
            ),
        )


def _add() -> None:
    with show_errors():
        set_role(resources.context(), st.session_state[_ADDRESS], st.session_state[_ROLE])
        st.session_state[_ADDRESS] = ""


def _draw_audit() -> None:
    st.header(_("Audit log"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        person = st.text_input(_("Person"), key="audit person", max_chars=200, width=240)
        since = st.date_input(_("Since"), None, format=DATE_FORMAT, key="audit since", width=160)
        entries = audit_entries(resources.context(), person=person, since=since.isoformat() if since else "")
        actions = sorted({_action(entry.act) for entry in entries})
        chosen = st.selectbox(_("Action"), actions, None, key="audit act", placeholder=_("Any"), width=240)
        shown = [entry for entry in entries if chosen in (None, _action(entry.act))]
        written = partial(exported_audit, resources.context(), shown)
        draw_download(_("Export as CSV"), written, "audit.csv", "audit export", type="secondary")
    if len(shown) > _MOST:
        latest = _("The latest {shown} of {total} entries:")
        st.caption(latest.format(shown=number(_MOST), total=number(len(shown))))
    else:
        st.caption(counted("{n} entry", "{n} entries", len(shown)))
    if shown:
        # Else a long list of codes would push the note out of sight.
        narrow = {_(_ON): st.column_config.TextColumn(width=230)}
        rows = [_row(entry) for entry in shown[:_MOST]]
        draw_table(rows, "audit", _("Changes to the collection, newest first"), columns=narrow)


def _action(act: str) -> str:
    """Return what an act does, or the name of one that is none any more."""
    return _(every_act()[act].title) if act in every_act() else act


def _changed(entry: AuditEntry) -> str:
    """Return what was changed; of a correction the document and the fields."""
    code, colon, fields = entry.on.rpartition(": ")
    if entry.act in _CORRECTIONS and colon:
        names = ", ".join(heading_of(one) if one in ALL_FIELDS else one for one in fields.split(", "))
        return _("{what}: {error}").format(what=code, error=names)
    return show(entry.on)


def _noted(entry: AuditEntry) -> str:
    """Return the note of an entry; of a decision the choice and its reason."""
    choice, colon, reason = entry.note.partition(": ")
    if entry.act == "decide" and colon:
        return _("{what}: {error}").format(what=shown_name(choice), error=reason)
    return show(entry.note)


def _row(entry: AuditEntry) -> dict[str, str]:
    """Return an entry by its headings."""
    return {
        _("When"): moment(entry.when, seconds=True) if entry.when else "",
        # For translators: heading of a column, who did it.
        _("By"): entry.by,
        _("Person"): entry.person,
        _("Action"): _action(entry.act),
        _(_ON): _changed(entry),
        _("Note"): _noted(entry),
        # For translators: heading of a column, how an act ended.
        _("Outcome"): shown_name(entry.outcome),
    }
