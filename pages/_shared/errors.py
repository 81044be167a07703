"""Errors and other sentences of the engine, in the language of the interface.

An error has its template and its values. Text that was stored, or came from another process, is English: its template
is the one that it is an example of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache

import streamlit as st

from pages._shared.interface_language import _, error_templates, interface_language, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number
from rag_engine.conversations.person import ROLES
from rag_engine.errors import SextantError
from rag_engine.text.templates import TemplatePatterns, fill_template, known_sentences, template_patterns

# Sentences that stand now and then below an answer, kept with it in English.
_SENTENCES = frozenset(
    (
        to_translate("Answer cancelled."),
        to_translate("Answer cancelled before its end; its citations were not checked."),
        to_translate("This answer quoted a document that was deleted, and was deleted with it."),
        to_translate(
            "This answer ended in an error that Sextant did not expect. The server's log has the details. Ask again."
        ),
    )
)
# Errors of the system for a file that cannot be read or written.
_SYSTEM = frozenset(
    (
        to_translate("File exists"),
        to_translate("File name too long"),
        to_translate("Input/output error"),
        to_translate("Is a directory"),
        to_translate("No space left on device"),
        to_translate("No such file or directory"),
        to_translate("Not a directory"),
        to_translate("Permission denied"),
        to_translate("Read-only file system"),
        to_translate("Too many open files"),
    )
)
# As Python writes it: with a number, and the file behind it.
_SYSTEM_ERROR = re.compile(r"\[Errno \d+\] (?P<what>[^:]+)(?P<file>: .+)?")
# The beginnings of those that go on with an error, which stays as it is.
_BEGINNINGS = frozenset(
    (
        to_translate("No language model was asked"),
        to_translate("The question was planned by rules"),
        to_translate("Searched by keywords only"),
        to_translate("Searched by meaning only"),
        to_translate("Not reranked"),
        to_translate("The dense index is unavailable, so every vector was compared instead"),
        to_translate("Passages were compared with the parts of the question by rules"),
    )
)
# Where something stands in a list, a table or a text of lines, as their readers write it, and what is said of it.
_PLACE = re.compile(r"(?:(?P<file>[^:]+), )?(?P<kind>row|column|line|entry) (?P<which>\w+)(?P<rest>, [^:]+)?")
_PLACES = {
    "row": to_translate("row {which}"),
    "column": to_translate("column {which}"),
    "line": to_translate("line {which}"),
    "entry": to_translate("entry {which}"),
}


@contextmanager
def show_errors() -> Iterator[None]:
    """Draw a SextantError of the block with its remedy, and go on with the rest of the page."""
    try:
        yield
    except SextantError as error:
        show_error(shown_error(error))


def why_refused(call: Callable[[], object]) -> str:
    """Return the error of a call with its remedy, "" where it has none."""
    try:
        call()
    except SextantError as error:
        return shown_error(error)
    return ""


def show_error(message: str) -> None:
    """Draw an error message."""
    st.error(escape(message), icon=":material/error:")


def shown_error(error: SextantError) -> str:
    """Return an error with its remedy, in the language of the interface."""
    parts = (error.template, error.cure)
    return " ".join(_said(part, error.values) if error.values else shown_sentence(part) for part in parts).strip()


def shown_sentence(text: str) -> str:
    """Return what the engine wrote in English, translated as far as its sentences are known."""
    return _known(interface_language(), text) if text else ""


@lru_cache(maxsize=5000)
def _known(language: str, text: str) -> str:
    """Return a text in the language of the interface, once for each: a table of sources has thousands."""
    if text in _SENTENCES or text in _SYSTEM or text in ROLES:
        return _(text)
    if (match := _SYSTEM_ERROR.fullmatch(text)) and match["what"] in _SYSTEM:
        return f"{_(match['what'])}{match['file'] or ''}"
    place, colon, fault = text.partition(": ")
    if match := _PLACE.fullmatch(place):
        said = _said_place(match)
        return _("{what}: {error}").format(what=said, error=shown_sentence(fault)) if colon else said
    beginning, colon, error = text.partition(": ")
    if colon and beginning in _BEGINNINGS:
        return _("{what}: {error}").format(what=_(beginning), error=shown_sentence(error))
    sentences = known_sentences(text, _patterns(language))
    return " ".join(_said(one.template, one.values) if one.template else one.text for one in sentences)


def _said_place(match: re.Match[str]) -> str:
    place = _PLACES[match["kind"]]
    which = _(place).format(which=match["which"])
    return ", ".join(filter(None, (match["file"], f"{which}{match['rest'] or ''}")))


def _said(template: str, values: Mapping[str, object]) -> str:
    """Return a template in the language, with its values; a value may be a sentence itself."""
    said = {
        name: shown_error(one)
        if isinstance(one, SextantError)
        else shown_sentence(str(one))
        if isinstance(one, str | OSError)
        else one
        for name, one in values.items()
    }
    return fill_template(_(template), said, number)


@cache
def _patterns(language: str) -> TemplatePatterns:
    return template_patterns(error_templates(language))
