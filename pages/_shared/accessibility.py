"""Accessible names, languages and contrasts that Streamlit lacks, and translations of its words."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._shared.interface_language import ENGLISH, _, interface_language
from pages._shared.numbers_and_dates import number

_FOLDER = Path(__file__).parent
# The styles, and the script that follows keys such as those below.
ACCESSIBILITY = (
    f"<style>{(_FOLDER / 'accessibility.css').read_text(encoding='utf-8')}</style>"
    f"<script>{(_FOLDER / 'accessibility.js').read_text(encoding='utf-8')}</script>"
)


def give_words() -> None:
    """Give the script of every page its words in the language of the interface."""
    words = {
        "language": interface_language(),
        "skip": _("Skip to the question"),
        # For translators: what a screen reader says of the mark [1] in an answer.
        "source": _("Source {n}: {title}"),
        "long": _("The pasted text is too long for this field and was not taken."),
        "longer": _("The pasted text was not taken: this field holds at most {n} characters."),
        "widgets": [] if interface_language() == ENGLISH else _widget_words(),
    }
    st.html(f"<script>window.sextantWords = {json.dumps(words)};</script>", unsafe_allow_javascript=True)


def _widget_words() -> list[tuple[str, str]]:
    """Return what Streamlit's widgets say in English alone, as patterns, and what they are to say."""
    size, point = r"(\d+)(?:\.0)?\s?MB", number(0.5, 1)[1]
    units = {"B": _("{n} B"), "KB": _("{n} KB"), "MB": _("{n} MB"), "GB": _("{n} GB")}
    return [
        *((rf"^(\d+)\.(\d){unit}$", said.format(n=f"$1{point}$2")) for unit, said in units.items()),
        ("^Upload$", _("Browse")),
        ("^Add files$", _("Add files")),
        ("^file upload$", _("File to upload")),
        (f"^{size} per file", _("{n} MB per file").format(n="$1")),
        (rf"^File must be {size} or smaller\.$", _("The file is larger than {n} MB.").format(n="$1")),
        (r"^(\S+) files are not allowed\.$", _("Files of the type {kind} cannot be read here.").format(kind="$1")),
        ("^Cancel upload of (.+)$", _("Cancel the upload of {file}").format(file="$1")),
        ("^Remove (.+)$", _("Remove {file}").format(file="$1")),
        ("^Error:", _("Error:")),
        ("^Click to retry upload$", _("Upload again")),
        ("^Press Enter to (apply|submit form)$", _("Press Enter to confirm")),
        (r"^Press (Ctrl|⌘)\+Enter to (apply|submit form)$", _("Press {key}+Enter to confirm").format(key="$1")),
        ("^No results$", _("No results")),
        ("^Clear value$", _("Clear the choice")),
        # With the name of the table behind it.
        ("^Show/hide columns(?=:|$)", _("Show or hide columns")),
        ("^Download as CSV(?=:|$)", _("Download as CSV")),
        ("^Search(?=:|$)", _("Search")),
        ("^Fullscreen(?=:|$)", _("Full screen")),
        ("^Close fullscreen(?=:|$)", _("Leave full screen")),
    ]


def in_language(language: str, key: str) -> DeltaGenerator:
    """Return a container whose text is in a language by its code, for those to whom it is read out."""
    foreign = language not in ("", interface_language())
    return st.container(key=f"lang-{language}-{key}" if foreign else None)


def draw_unseen_title(title: str, key: str) -> None:
    """Draw the heading of a page that shows none: screen readers name the page by it, and jump to it."""
    with st.container(key=f"unseen-{key}"):
        st.title(title, anchor=False)


def spoken_status(key: str) -> DeltaGenerator:
    """Return a container whose words are read out when they change, as how far an answer is."""
    return st.container(key=f"live-status-{key}")


def spoken_answer(key: str) -> DeltaGenerator:
    """Return a container whose words are read out once, when an answer that was waited for is there."""
    return st.container(key=f"live-answer-{key}")
