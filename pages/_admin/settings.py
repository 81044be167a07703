"""Settings tab: each setting, where its value comes from, and what a change does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from ingestion.acts.settings import change_setting, describe_effect, list_settings, reset_setting
from pages._admin.language_models import draw_language_models
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show, show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.settings import Setting, SettingState, SettingValue, allowed_value, why_not_kept

_SAVED = "setting saved"
_EFFECTS = {
    "question": to_translate(":green-badge[next question]"),
    "run": to_translate(":blue-badge[next run]"),
    "index": to_translate(":orange-badge[:material/build: new index]"),
    "restart": to_translate(":gray-badge[restart of the server]"),
}


def draw_settings() -> None:
    """Draw the language model, then the settings by group, the first of them open."""
    with show_errors():
        draw_language_models()
        st.header(_("All settings"), anchor=False)
        st.markdown(
            _(
                "Settings are kept with the workspace. The badge says when a change takes effect. A lock marks a value "
                "that the server's administrator has fixed."
            )
        )
        author = draw_author()
        if saved := st.session_state.pop(_SAVED, ""):
            st.success(saved, icon=":material/check:")
        groups = groupby(list_settings(resources.context()), lambda state: state.setting.group)
        for place, (group, states) in enumerate(groups):
            _draw_group(group, list(states), author, first=place == 0)


def _draw_group(group: str, states: Sequence[SettingState], author: str, *, first: bool) -> None:
    own = sum(state.origin != "default" for state in states)
    label = " · ".join((_(group), counted("{n} set", "{n} set", own))) if own else _(group)
    with st.expander(label, expanded=first, key=f"settings {group}"):
        for state in states:
            _draw_setting(state, author)


def _draw_setting(state: SettingState, author: str) -> None:
    setting = state.setting
    with st.container(gap="small", key=f"setting {setting.name}"):
        explained, entered = st.columns((3, 2), gap="medium")
        with explained.container(gap=None):
            st.markdown(f"**{_(setting.label)}** {_(_EFFECTS[setting.effect])}")
            st.caption(_(setting.explanation))
        with entered.container(gap="small"):
            locked = why_not_kept(setting)
            if locked:
                st.markdown(f":material/lock: {escape(_text(setting, state.value))}")
                st.caption(escape(show(locked.message)))
                return
            given = _draw_input(state)
            st.caption(_origin(state))
            if given == _written(state):
                if state.origin == "workspace" and act_button(
                    "reset_setting",
                    _("Reset to default"),
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
    # With the value in its key the input is reset when that has changed.
    key = f"input {setting.name} {state.origin} {now}"
    if setting.kind == "choice":
        choices = setting.choices if setting.default is not None else ("", *setting.choices)
        return st.selectbox(
            _(setting.label),
            choices,
            choices.index(now),
            key=key,
            format_func=lambda choice: choice or _(setting.unset),
            label_visibility="collapsed",
        )
    return st.text_input(
        _(setting.label),
        now,
        key=key,
        placeholder=_(setting.unset),
        label_visibility="collapsed",
        max_chars=1000,
    ).strip()


def _draw_change(state: SettingState, given: str, author: str) -> None:
    """Draw what the change does and the button that saves it, or why it is not allowed."""
    setting = state.setting
    with show_errors():
        if given:
            allowed_value(setting, given)
        effect = describe_effect(setting, resources.context(), WORDING)
        (st.warning if setting.effect in ("index", "restart") else st.info)(effect)
        if not act_button(
            "change_setting", _("Save"), key=f"save {setting.name}", type="primary", icon=":material/save:"
        ):
            return
        if not given:
            _reset(state, author)
            return
        kept = change_setting(resources.context(), setting.name, given, author)
        saved = _("{name}: {value}.").format(name=_(setting.label), value=escape(_text(setting, kept.value)))
        st.session_state[_SAVED] = f"{saved} {effect}"
        st.rerun()


def _reset(state: SettingState, author: str) -> None:
    setting = state.setting
    with show_errors():
        reset_setting(resources.context(), setting.name, author)
        told = _("{name}: {value} (default).")
        st.session_state[_SAVED] = told.format(name=_(setting.label), value=escape(_text(setting, setting.default)))
        st.rerun()


def _origin(state: SettingState) -> str:
    """Return where a value that can be edited comes from."""
    if state.origin != "workspace":
        return _("Default")
    default = _("Default: {value}.").format(value=escape(_text(state.setting, state.setting.default)))
    kept = _("Kept with the workspace: {who}.").format(who=escape(state.changed))
    return " ".join((kept if state.changed else _("Kept with the workspace."), default))


def _text(setting: Setting, value: SettingValue | None) -> str:
    text = setting.text(value)
    return _(text) if text == setting.unset else text


def _written(state: SettingState) -> str:
    """Return the value that holds as the input shows it, "" where there is none."""
    return "" if state.value in (None, "", ()) else state.setting.text(state.value)
