"""Errors and other messages of the engine, in the language of the interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number
from rag_engine.errors import SextantError
from rag_engine.messages import Message, fill_template


@contextmanager
def show_errors() -> Iterator[None]:
    """Draw a SextantError of the block with its remedy, and go on with the rest of the page."""
    try:
        yield
    except SextantError as error:
        show_error(show(error.message))


def showing_errors(call: Callable[..., object], *arguments: object) -> Callable[[], None]:
    """Return a widget's callback that makes a call and draws its error."""

    def called() -> None:
        with show_errors():
            call(*arguments)

    return called


def why_refused(call: Callable[[], object]) -> str:
    """Return the error of a call with its remedy, "" where it has none."""
    try:
        call()
    except SextantError as error:
        return show(error.message)
    return ""


def show_error(message: str) -> None:
    """Draw an error message."""
    st.error(escape(message), icon=":material/error:")


def show(message: str) -> str:
    """Return a message of the engine in the language of the interface, its values too."""
    message = Message(message)
    if not message.values:
        return _(message.template)
    values = {name: show(one) if isinstance(one, Message) else one for name, one in message.values.items()}
    return fill_template(_(message.template), values, number)
