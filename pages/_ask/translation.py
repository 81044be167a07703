"""A passage in a foreign language beside its translation by the language model."""

from __future__ import annotations

import html

import streamlit as st

from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, interface_language
from pages._shared.markdown import escape
from rag_engine.conversations.reply import ShownSource
from rag_engine.text.languages import name_in
from rag_engine.types.answer import Citation
from rag_engine.viewer.translation import Translation

# As the passage is set elsewhere: its line breaks are kept.
_TEXT = '<p lang="{language}" dir="auto" style="white-space: pre-wrap; margin: 0">{text}</p>'


def can_translate(source: ShownSource) -> bool:
    """Return whether a source is in another language than the question, and a model could translate it."""
    return source.foreign and bool(source.language) and resources.language_model()[0] is not None


def draw_translation(source: ShownSource, citations: tuple[Citation, ...], question: str) -> None:
    """Draw the found passage beside its translation into the question's language.

    The passage is widened by the text that is cited of its source. A translation is the model's word: it is never
    cited, and numbers that differ are named below it.
    """
    start = min((source.passage[0], *(citation.start for citation in citations)))
    end = max((source.passage[1], *(citation.end for citation in citations)))
    passage = source.text[max(start - source.start, 0) : end - source.start].strip()
    into = resources.engine().language_of(question) or "en"
    spoken = interface_language()
    original, translated = st.columns(2)
    with original:
        st.caption(_("Original, {language}").format(language=name_in(source.language, spoken)))
        st.html(_TEXT.format(language=html.escape(source.language), text=html.escape(passage)))
    with translated, show_errors():
        with st.spinner(_("Translating into {language} …").format(language=name_in(into, spoken)), show_time=True):
            found = _translation(passage, source.language, into, str(resources.engine().config.workspace))
        told = _("Translation by {model}, {language}")
        st.caption(told.format(model=escape(found.model), language=name_in(into, spoken)))
        st.html(_TEXT.format(language=html.escape(into), text=html.escape(found.text)))
        if warning := _warning(found):
            st.caption(f":material/warning: {warning}")


def _warning(found: Translation) -> str:
    """Return the markdown of what to look at in the original; "" where the numbers and dates are the same."""
    lost, added = escape(", ".join(found.lost)), escape(", ".join(found.added))
    if lost and added:
        message = _("Numbers or dates differ: only the original has {lost}, only the translation has {added}.")
    elif lost:
        message = _("Numbers or dates differ: only the original has {lost}.")
    else:
        message = _("Numbers or dates differ: only the translation has {added}.") if added else ""
    return message.format(lost=lost, added=added)


@st.cache_data(max_entries=500, show_spinner=False)
def _translation(passage: str, language: str, into: str, workspace: str) -> Translation:  # noqa: ARG001 the cache's key
    return resources.engine().translate(passage, language, into)
