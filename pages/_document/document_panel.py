"""Panel beside the page: contents, words found in the document, and passages that match a question."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._document.open_document import outline_of, page_of, paged_text
from pages._document.places import draw_places
from pages._shared import resources
from pages._shared.badges import tier_words
from pages._shared.elements import draw_more
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, number
from pages._shared.page_names import page_place
from rag_engine.filters import DOCUMENT, VERSIONS
from rag_engine.text.excerpt import excerpt
from rag_engine.types.document import DocumentRecord
from rag_engine.types.passage import Hit
from rag_engine.viewer.address import DocumentPlace, PlaceLink
from rag_engine.viewer.find import find_words
from rag_engine.viewer.outline import place_in

_CONTENTS, _FIND, _PASSAGES = to_translate("Contents"), to_translate("Find"), to_translate("Passages")
# Results that are listed at once: a word of every line has tens of thousands.
_PORTION = 200
# Characters of an excerpt.
_FOUND_EXCERPT, _PASSAGE_EXCERPT = 110, 260
_SEARCHED = "document passages"


def draw_beside(document: DocumentRecord, place: DocumentPlace, page: int) -> None:
    """Draw the part that is chosen."""
    chosen = st.segmented_control(
        _("Beside the page"),
        [_CONTENTS, _FIND, _PASSAGES],
        default=_CONTENTS,
        format_func=_,
        required=True,
        key="document beside",
        label_visibility="collapsed",
        persist_state="session",
    )
    if chosen == _FIND:
        _draw_find(document, place)
    elif chosen == _PASSAGES:
        _draw_passages(document, place)
    else:
        _draw_contents(document, place, page)


def _draw_contents(document: DocumentRecord, place: DocumentPlace, page: int) -> None:
    entries = outline_of(document)
    if not entries:
        st.caption(_("No headings were found in this document."))
        return
    # A reader who has turned the page has left the passage behind.
    current = place_in(entries, page, place.passage if place.page in (0, page_of(document, place)) else None)
    draw_places(
        [
            PlaceLink(
                DocumentPlace(document.document_id, entry.page, (entry.start, entry.end)),
                ((entry.title, False),),
                document.metadata.language,
                _page_note(document, entry.page),
                entry.depth,
                number == current,
            )
            for number, entry in enumerate(entries)
        ],
        _("Contents"),
        f"document contents {document.document_id}",
        beside=True,
    )


def _draw_find(document: DocumentRecord, place: DocumentPlace) -> None:
    words = st.text_input(
        _("Find in this document"),
        placeholder=_("Words or a phrase"),
        icon=":material/search:",
        key=f"document find {document.document_id}",
        max_chars=200,
        persist_state="session",
    ).strip()
    if not words:
        return
    text = paged_text(document)
    key = f"document matches {document.document_id} {words}"
    found = find_words(text, words, st.session_state.get(key, _PORTION))
    left = found.total - len(found.first)
    if left:
        shown = number(len(found.first))
        st.caption(counted("{shown} of {n} result", "{shown} of {n} results", found.total, shown=shown))
    else:
        st.caption(counted("{n} result", "{n} results", found.total))
    if not found.first:
        return
    listed = [
        PlaceLink(
            DocumentPlace(document.document_id, one.page, (one.start, one.end)),
            tuple(excerpt(text.text, [(one.start, one.end)], 0, _FOUND_EXCERPT)),
            document.metadata.language,
            _page_note(document, one.page),
            current=place.passage == (one.start, one.end),
        )
        for one in found.first
    ]
    draw_places(listed, _("Results"), f"document matches {document.document_id}")
    if left:
        label = counted("Show {n} more result", "Show {n} more results", min(left, _PORTION))
        draw_more(key, label, len(found.first) + _PORTION)


def _draw_passages(document: DocumentRecord, place: DocumentPlace) -> None:
    question = st.text_input(
        _("Passages about"),
        placeholder=_("A question or a topic"),
        icon=":material/manage_search:",
        key=f"document question {document.document_id}",
        max_chars=resources.engine().config.question_characters,
        help=_("Finds passages of this document by meaning, in any language."),
        persist_state="session",
    ).strip()
    with show_errors():
        hits = _search(document, question) if question else ()
        listed = [_listed_hit(document, hit, place) for hit in hits]
        if listed:
            draw_places(listed, _("Passages"), f"document passages {document.document_id}")
        elif question:
            st.caption(_("No passage of this document matches."))


def _search(document: DocumentRecord, question: str) -> Sequence[Hit]:
    """Return the passages of the document that match, searched once for each question."""
    asked = (document.key, question)
    before: tuple[object, Sequence[Hit]] = st.session_state.get(_SEARCHED, (None, ()))
    if before[0] != asked:
        with st.spinner(_("Searching this document …")):
            # A version that is superseded is searched as well: it is the one that is open.
            wanted = {DOCUMENT: (document.document_id,), VERSIONS: ("all",)}
            before = asked, resources.engine().search(question, wanted).hits
        st.session_state[_SEARCHED] = before
    return before[1]


def _listed_hit(document: DocumentRecord, hit: Hit, place: DocumentPlace) -> PlaceLink:
    note = " · ".join(filter(None, (hit.section, _page_note(document, hit.page), tier_words(hit.tier))))
    return PlaceLink(
        DocumentPlace(document.document_id, hit.page, (hit.start, hit.end)),
        tuple(excerpt(hit.text, (), 0, _PASSAGE_EXCERPT)),
        document.metadata.language,
        note,
        current=place.passage == (hit.start, hit.end),
    )


def _page_note(document: DocumentRecord, page: int) -> str:
    return page_place(document.file, document.named_page(page)) if document.pages > 1 else ""
