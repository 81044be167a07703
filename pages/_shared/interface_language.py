"""Language of the interface: whose choice it is, and its messages.

`_` and its kin are called while a page is drawn, never at import: two sessions of one process have two languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, copy_context
from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

# Each by its own name, so that people who read no other find it.
LANGUAGES: Mapping[str, str] = {"en": "English", "it": "Italiano", "fr": "Français", "es": "Español"}
# The language that the messages are written in; its catalog has the page's words for commands of the terminal.
ENGLISH = "en"
CATALOGS = Path(__file__).parents[1] / "locale"

P = ParamSpec("P")
T = TypeVar("T")
_outside: ContextVar[str] = ContextVar("language outside of a page", default="")
_CHOSEN = "interface language"


def _(message: str) -> str:
    """Return a message in the language of the interface."""
    return _messages(interface_language()).gettext(message) if message else ""


def ngettext(one: str, many: str, n: int) -> str:
    """Return the form of a message that goes with a number; `counted` fills the number in as well."""
    return _messages(interface_language()).ngettext(one, many, n)


def to_translate(message: str) -> str:
    """Return the message as it is: it stands in a table, and `_` translates it where it is drawn."""
    return message


def interface_language() -> str:
    """Return the code of this session's language: the person's, else the browser's, else English."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return _outside.get() or ENGLISH
    chosen = st.session_state.get(_CHOSEN)
    if chosen in LANGUAGES:
        return str(chosen)
    code = (st.context.locale or "").partition("-")[0].lower()
    return code if code in LANGUAGES else ENGLISH


def in_this_language(make: Callable[P, T]) -> Callable[P, T]:
    """Return the function for calls outside of the page, such as a download, in its language of now."""
    language = interface_language()

    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        context = copy_context()
        context.run(_outside.set, language)
        return context.run(make, *args, **kwargs)

    return made


def set_language(language: str) -> None:
    """Have this session use a language by its code; "" for the browser's."""
    st.session_state[_CHOSEN] = language


@cache
def _messages(language: str) -> GNUTranslations:
    """Return the messages of a language, compiled once in a process from the text that translators edit."""
    from babel.messages.mofile import write_mo

    compiled = BytesIO()
    write_mo(compiled, _catalog(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def _catalog(language: str) -> Catalog:
    from babel.messages.pofile import read_po

    with (CATALOGS / language / "LC_MESSAGES" / "sextant.po").open("rb") as file:
        return read_po(file, locale=language)
