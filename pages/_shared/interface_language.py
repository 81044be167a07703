"""Language of the interface: whose choice it is, and its messages.

`_` and its kin are called while a page is drawn, never at import: two sessions of one process have two languages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

# Each by its own name, so that whoever reads no other finds it.
LANGUAGES: Mapping[str, str] = {"en": "English", "it": "Italiano", "fr": "Français", "es": "Español"}
# The language that the messages are written in.
ENGLISH = "en"
CATALOGS = Path(__file__).parents[1] / "locale"

_CHOSEN = "interface language"


def _(message: str) -> str:
    """Return a message in the language of the interface."""
    language = interface_language()
    return message if language == ENGLISH or not message else _messages(language).gettext(message)


def ngettext(one: str, many: str, n: int) -> str:
    """Return the form of a message that goes with a number; `counted` fills the number in as well."""
    language = interface_language()
    if language == ENGLISH:
        return one if n == 1 else many
    return _messages(language).ngettext(one, many, n)


def to_translate(message: str) -> str:
    """Return the message as it is: it stands in a table, and `_` translates it where it is drawn."""
    return message


def interface_language() -> str:
    """Return the code of the language of this session: the person's choice, else the browser's, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    chosen = st.session_state.get(_CHOSEN)
    if chosen in LANGUAGES:
        return str(chosen)
    code = (st.context.locale or "").partition("-")[0].lower()
    return code if code in LANGUAGES else ENGLISH


def set_language(language: str) -> None:
    """Have this session use a language by its code; "" for the browser's."""
    st.session_state[_CHOSEN] = language


@cache
def _messages(language: str) -> GNUTranslations:
    """Return the messages of a language, compiled once in a process from the text that translators edit."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with (CATALOGS / language / "LC_MESSAGES" / "sextant.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
