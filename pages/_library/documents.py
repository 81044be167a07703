"""Table of the documents: columns, words that narrow it, what a click opens, acts on the chosen rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any

import pandas as pd
import streamlit as st

from ingestion.acts.corrections import describe_records
from ingestion.acts.library import choose_columns, chosen_columns
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import unchecked_fields
from pages._library.correction import agree_with, draw_correction, draw_done
from pages._library.erasure import confirm_deletion
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING, display_text
from pages._shared.frame import TABLE_SECONDS, show_opened
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, known_date, number
from pages._shared.shown_names import shown_name
from rag_engine.answering.reference_list import year_text
from rag_engine.filters import DOCUMENT
from rag_engine.text.excerpt import shortened
from rag_engine.types.document import UNDATED, DocumentRecord
from rag_engine.viewer import address
from rag_engine.viewer.find import find_documents

_WORDS, _UNCHECKED = "library words", "library unchecked"
# The columns by their English names, under which those chosen are kept.
TITLE, UNCHECKED, FOUND_IN = to_translate("Title"), to_translate("Extracted, not checked"), to_translate("Found in")
_PAGES = to_translate("Pages")
_CHOSEN = "library columns"
# Shown if a document is superseded, with any choice of columns.
VERSION = to_translate("Version")
_DEFAULT = (
    UNCHECKED,
    to_translate("Year"),
    to_translate("Language"),
    to_translate("Type"),
    to_translate("Hazard"),
    to_translate("Country"),
    to_translate("Authority"),
)
_PLACES = {
    "title": to_translate("Title"),
    "authority": to_translate("Authority"),
    "summary": to_translate("Description"),
    "text": to_translate("Text"),
}
_TITLE_WIDTH, _UNCHECKED_WIDTH, _FOUND_WIDTH, _VERSION_WIDTH = 350, 90, 110, 100
# Streamlit breaks a text into lines in rows of more than 64 pixels alone; three lines show nearly every title.
_ROW, _TALLEST, _TITLE_LENGTH = 65, 753, 135
_LINES = 3
# Pixels of a letter on average and of what is beside a text in its cell; no column grows wider for its texts.
_LETTER, _BESIDE, _WIDEST = 7.6, 20, 240


def _listed(name: str, values: Iterable[str]) -> str:
    return ", ".join(display_text(name, value) for value in values)


_COLUMNS: Mapping[str, tuple[Callable[[DocumentRecord], str | int], int]] = {
    to_translate("Year"): (lambda one: year_text(one.metadata.year, WORDING), 55),
    to_translate("Language"): (
        lambda one: display_text("language", one.metadata.language) if one.metadata.language else "",
        85,
    ),
    to_translate("Type"): (lambda one: shown_name(one.metadata.document_type), 95),
    to_translate("Hazard"): (lambda one: _listed("hazard", one.metadata.hazards), 110),
    to_translate("Level"): (lambda one: shown_name(one.metadata.geographical_level), 110),
    to_translate("Country"): (lambda one: _listed("country", one.metadata.countries), 110),
    to_translate("Authority"): (lambda one: one.metadata.authority, 220),
    # Dates as ISO has them, whose order as texts is theirs.
    to_translate("Date"): (lambda one: one.metadata.date, 100),
    to_translate("Key criteria"): (lambda one: _listed("key_criteria", one.metadata.key_criteria), 220),
    to_translate("Tags"): (lambda one: _listed("tags", one.metadata.tags), 220),
    to_translate("Description"): (lambda one: one.metadata.description, 420),
    to_translate("Audience and purpose"): (lambda one: one.metadata.target, 300),
    to_translate("Licence"): (lambda one: one.metadata.licence, 140),
    to_translate("Notes"): (lambda one: one.metadata.notes, 260),
    _PAGES: (lambda one: one.pages, 60),
    to_translate("Added"): (lambda one: one.added[:10], 100),
    to_translate("File"): (lambda one: one.file, 220),
}


def columns_in_use() -> list[str]:
    """Return the columns beside the title that were last chosen."""
    return [
        column for column in chosen_columns(resources.context(), _DEFAULT) if column in _COLUMNS or column == UNCHECKED
    ]


def draw_columns() -> None:
    """Draw the choice of columns, which is kept with the collection."""

    def keep() -> None:
        with show_errors():
            choose_columns(resources.context(), st.session_state[_CHOSEN])

    st.session_state[_CHOSEN] = columns_in_use()
    with st.popover(_("Columns"), icon=":material/view_column:", key="library columns choice"):
        st.multiselect(
            _("Columns beside the title"),
            [*_COLUMNS, UNCHECKED],
            format_func=_,
            placeholder=_("None"),
            key=_CHOSEN,
            on_change=keep,
            width=460,
        )


def find(documents: Sequence[DocumentRecord], words: str) -> dict[int, tuple[str, ...]] | None:
    """Return where the words are in each document that has all of them; None without words."""
    if not words.strip():
        return None
    collection = resources.engine().collection
    with st.spinner(_("Searching …")):
        found = find_documents(collection.snapshot(), collection.sparse(), words)
    return {document.key: found[document.key] for document in documents if document.key in found}


def draw_table(
    documents: Sequence[DocumentRecord],
    described: Mapping[int, SourceRecord],
    columns: Sequence[str],
    found: Mapping[int, tuple[str, ...]] | None,
) -> list[DocumentRecord]:
    """Draw the documents and return those whose boxes are ticked; a click on a title opens its document."""
    # Streamlit keeps a selection as a row's position: a key for each set of rows keeps it from naming another document.
    shown = hash(tuple(document.key for document in documents))
    # Thousands of rows say the same few numbers.
    in_words = cache(lambda fields: counted("{n} value", "{n} values", fields) if fields else "")
    works = {one.metadata.work for one in documents if one.metadata.superseded}
    rows = [_row(one, described[one.key], columns, found, works, in_words) for one in documents]
    table = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key=f"library table {shown}",
        on_select="rerun",
        selection_mode=["multi-row", "single-cell"],
        row_height=_ROW,
        height=min(38 + _ROW * len(documents), _TALLEST),
        column_config={
            TITLE: st.column_config.TextColumn(_(TITLE), width=_TITLE_WIDTH, help=_("Click to open the document")),
            FOUND_IN: st.column_config.TextColumn(_(FOUND_IN), width=_FOUND_WIDTH),
            VERSION: st.column_config.TextColumn(_(VERSION), width=_VERSION_WIDTH),
            UNCHECKED: st.column_config.TextColumn(
                _("To check"),
                width=_UNCHECKED_WIDTH,
                help=_("Values that were extracted automatically and not confirmed"),
            ),
            **{name: _column(name, [str(row[name]) for row in rows]) for name in columns if name in _COLUMNS},
        },
        alt=_("The documents of the collection"),
    )
    selection = table["selection"]
    for row, column in selection["cells"]:
        if column == TITLE:
            st.switch_page("pages/document.py", query_params={address.DOCUMENT: documents[row].document_id})
    return [documents[row] for row in selection["rows"]]


def _column(name: str, texts: Sequence[str]) -> Any:
    kind = st.column_config.NumberColumn if name == _PAGES else st.column_config.TextColumn
    return kind(_(name), width=shown_width(_COLUMNS[name][1], [_(name), *texts]))


def shown_width(least: int, texts: Sequence[str]) -> int:
    """Return the width in pixels of a column in which no word is broken and no list is cut.

    Words are as long as the language of the interface has them.

    >>> shown_width(120, ["Year", "2019"]), shown_width(120, ["Hochwasserrisikomanagementplan"])
    (120, 240)
    """
    words = max((len(word) for text in texts for word in text.split()), default=0)
    # A line of a list ends before the word that would not fit: a fifth of it stays empty.
    line = max(map(len, texts), default=0) * 1.25 / _LINES
    return min(max(least, round(max(words, line) * _LETTER) + _BESIDE), max(least, _WIDEST))


def _version(document: DocumentRecord, works: AbstractSet[str]) -> str:
    """Return whether a document is superseded, or the newest of a work with a superseded one listed."""
    metadata = document.metadata
    if metadata.superseded == UNDATED:
        return _("Superseded")
    if metadata.superseded:
        return _("Superseded {when}").format(when=known_date(metadata.superseded))
    return _("Newest") if metadata.work and metadata.work in works and not metadata.translation_of else ""


def _row(
    document: DocumentRecord,
    described: SourceRecord,
    columns: Sequence[str],
    found: Mapping[int, tuple[str, ...]] | None,
    works: AbstractSet[str],
    in_words: Callable[[int], str],
) -> dict[str, str | int]:
    row: dict[str, str | int] = {TITLE: shortened(" ".join(document.shown_title.split()), _TITLE_LENGTH)}
    if works:
        row[VERSION] = _version(document, works)
    if found is not None:
        row[FOUND_IN] = ", ".join(_(_PLACES[place]) for place in found[document.key]).capitalize()
    for name in columns:
        if name == UNCHECKED:
            row[name] = in_words(len(unchecked_fields(described)))
        else:
            row[name] = _COLUMNS[name][0](document)
    return row


def draw_selection(chosen: Sequence[DocumentRecord], described: Mapping[int, SourceRecord]) -> None:
    """Draw the acts on the selected documents."""
    unchecked = sum(len(unchecked_fields(described[document.key])) for document in chosen)
    with st.container(horizontal=True, vertical_alignment="center", key="library selection"):
        hint = _(":small[Select rows to correct, ask or delete them.]")
        selected = counted("**{n} selected**", "**{n} selected**", len(chosen))
        st.markdown(selected if chosen else hint, width="content")
        none = not chosen
        if act_button("correct", _("Correct"), icon=":material/edit:", key="correct selected", disabled=none):
            draw_correction(chosen)
        label = counted("Agree with {n} value", "Agree with {n} values", unchecked) if unchecked else _("Agree")
        if act_button("agree", label, icon=":material/done_all:", key="agree selected", disabled=not unchecked,
                     help=_("Confirm all values of these documents that were extracted automatically")):  # fmt: skip
            agree_with([document.source for document in chosen])
        if st.button(_("Ask only these"), icon=":material/forum:", key="ask selected", disabled=none):
            st.switch_page("pages/ask.py", query_params={DOCUMENT: [document.document_id for document in chosen]})
        if act_button(
            "queue_erasure",
            _(":red[Delete]") if chosen else _("Delete"),
            icon=":material/delete:",
            key="delete selected",
            disabled=none,
        ):
            confirm_deletion(chosen)


def draw_documents(documents: Sequence[DocumentRecord], total: int) -> None:
    """Draw a table of the documents that the filters allow, below their search and count.

    `total` counts the documents of the collection. The table comes first, since the elements above it need its
    selection.
    """
    found = find(documents, str(st.session_state.get(_WORDS, "")))
    described = dict(
        zip((document.key for document in documents), describe_records(resources.context(), documents), strict=True)
    )
    only = st.session_state.get(_UNCHECKED, False)
    shown = [
        document
        for document in documents
        if (found is None or document.key in found) and (not only or unchecked_fields(described[document.key]))
    ]
    with st.container(key="library documents"):
        above = st.container(key="library above")
        chosen = draw_table(shown, described, columns_in_use(), found) if shown else []
    show_opened(TABLE_SECONDS)
    with above:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                _("Search"),
                key=_WORDS,
                placeholder=_("Words in titles, authorities, descriptions and texts"),
                icon=":material/search:",
            )
            draw_columns()
            st.toggle(_("Only with unchecked values"), key=_UNCHECKED)
        st.caption(
            counted(
                "{shown} of {n} document. Click a title to open the document.",
                "{shown} of {n} documents. Click a title to open the document.",
                total,
                shown=number(len(shown)),
            )
        )
        draw_done()
        if shown:
            draw_selection(chosen, described)
