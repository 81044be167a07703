"""Settings tab: what can be set, where each value comes from, and what a change does before it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from ingestion.operations.settings import change_setting, describe_effect, list_settings, reset_setting
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.settings import SettingState, allowed_value, why_not_kept

_SAVED = "setting saved"
_EFFECTS = {
    "question": ":green-badge[next question]",
    "run": ":blue-badge[next run]",
    "index": ":orange-badge[:material/build: new index]",
    "restart": ":gray-badge[restart of the server]",
}


def draw_settings() -> None:
    """Draw the settings by group, the first of them open."""
    st.markdown(
        "Kept with the workspace. An environment variable comes before the value kept here, and secrets are set by "
        "their variables alone. The badge says when a change takes effect."
    )
    author = draw_author()
    if saved := st.session_state.pop(_SAVED, ""):
        st.success(saved, icon=":material/check:")
    with show_errors():
        groups = groupby(list_settings(resources.desk()), lambda state: state.setting.group)
        for place, (group, states) in enumerate(groups):
            _draw_group(group, list(states), author, first=place == 0)


def _draw_group(group: str, states: Sequence[SettingState], author: str, *, first: bool) -> None:
    own = sum(state.origin != "default" for state in states)
    changed = f" · {own} set" if own else ""
    with st.expander(f"{group}{changed}", expanded=first, key=f"settings {group}"):
        for state in states:
            _draw_setting(state, author)


def _draw_setting(state: SettingState, author: str) -> None:
    setting = state.setting
    with st.container(gap="small", key=f"setting {setting.name}"):
        explained, entered = st.columns((3, 2), gap="medium")
        with explained.container(gap=None):
            st.markdown(f"**{setting.label}** {_EFFECTS[setting.effect]}")
            st.caption(setting.explanation)
        with entered.container(gap="small"):
            locked = why_not_kept(setting)
            if locked:
                st.markdown(f":material/lock: {escape(setting.text(state.value))}")
                st.caption(escape(locked))
                return
            given = _draw_input(state)
            st.caption(_origin(state))
            if given == _written(state):
                if state.origin == "workspace" and act_button(
                    "reset_setting",
                    "Reset to default",
                    key=f"reset {setting.name}",
                    type="tertiary",
                    icon=":material/undo:",
                ):
                    _reset(state, author)
                return
        _draw_change(state, given, author)


def _draw_input(state: SettingState) -> str:
    """Draw the input with the value that holds, and return what it says now."""
    setting, now = state.setting, _written(state)
    # With the value in its key the input begins anew when that has changed.
    key = f"input {setting.name} {state.origin} {now}"
    if setting.kind == "choice":
        choices = setting.choices if setting.default is not None else ("", *setting.choices)
        return st.selectbox(
            setting.label,
            choices,
            choices.index(now),
            key=key,
            format_func=lambda choice: choice or setting.unset,
            label_visibility="collapsed",
        )
    return st.text_input(
        setting.label,
        now,
        key=key,
        placeholder=setting.unset,
        label_visibility="collapsed",
        max_chars=1000,
    ).strip()


def _draw_change(state: SettingState, given: str, author: str) -> None:
    """Draw what the change does and the button that saves it, or why it is not allowed."""
    setting = state.setting
    with show_errors():
        if given:
            allowed_value(setting, given)
        effect = describe_effect(setting, resources.desk())
        (st.warning if setting.effect in ("index", "restart") else st.info)(effect)
        if not act_button("change_setting", "Save", key=f"save {setting.name}", type="primary", icon=":material/save:"):
            return
        if not given:
            _reset(state, author)
            return
        kept = change_setting(resources.desk(), setting.name, given, author)
        st.session_state[_SAVED] = f"{setting.label}: {escape(setting.text(kept.value))}. {effect}"
        st.rerun()


def _reset(state: SettingState, author: str) -> None:
    setting = state.setting
    with show_errors():
        reset_setting(resources.desk(), setting.name, author)
        st.session_state[_SAVED] = f"{setting.label}: {setting.text(setting.default)} (default)."
        st.rerun()


def _origin(state: SettingState) -> str:
    """Return where a value that can be edited comes from."""
    if state.origin != "workspace":
        return "Default"
    changed = f": {escape(state.changed)}" if state.changed else ""
    return f"Kept with the workspace{changed}. Default: {state.setting.text(state.setting.default)}."


def _written(state: SettingState) -> str:
    """Return the value that holds as the input shows it, "" where there is none."""
    return "" if state.value in (None, "", ()) else state.setting.text(state.value)
