"""Results of a search: documents with their passages, or why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from ingestion.dataset.passage_export import PASSAGE_FORMATS, export_passages
from ingestion.file_names import download_name
from pages._ask.take_away import draw_adding, draw_copy
from pages._search.open_search import first_shown, go_to, show_from
from pages._shared.accessibility import in_language
from pages._shared.badges import badges, version_badge
from pages._shared.elements import base_address, draw_download
from pages._shared.errors import show, show_errors
from pages._shared.filter_widgets import WORDING, display_text, filter_label, named_values
from pages._shared.interface_language import _, ngettext
from pages._shared.markdown import escape, faded
from pages._shared.numbers_and_dates import counted, number
from pages._shared.page_names import citation_page, page_place
from rag_engine.answering.reference_list import licence_text
from rag_engine.chunking.indexed_text import cited
from rag_engine.engine import Engine
from rag_engine.notebook.notebook import passage_entry
from rag_engine.passage_search.describe import (
    describe_found,
    describe_matching,
    describe_near,
    describe_refusal,
    describe_scattered,
)
from rag_engine.passage_search.facet_counts import excluding_facets
from rag_engine.passage_search.find import DocumentMatches, FoundPassages, find_passages, in_order
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.passages import MarkedPassage, citation_of, read_passages
from rag_engine.takeaway.exported_text import plain_quotes
from rag_engine.viewer.address import DocumentPlace

# Documents on a page, and passages of each that are shown before more are asked for.
_DOCUMENTS, _PASSAGES = 8, 2
# The last result, kept for the next run of the page: another order, page or opened passage finds the same.
_FOUND = "search found"
# Passages that a visitor keeps at most, some megabytes.
_KEPT = 50_000
_EXCERPT = 420
# Characters before and after struck words.
_AROUND = 200


def find(engine: Engine, query: PassageQuery) -> FoundPassages | None:
    """Return what the search finds; None without a search, and where it was refused, which is drawn."""
    if not query or not engine.collection.snapshot().documents:
        return None
    collection = engine.collection
    state = collection.snapshot().change, collection.generation(), engine.config.retrieval
    asked = replace(query, sort="relevance"), state
    kept: tuple[object, FoundPassages] | None = st.session_state.get(_FOUND)
    if kept is not None and kept[0] == asked:
        return in_order(kept[1], query)
    with st.spinner(_("Searching …")), show_errors():
        found = find_passages(engine, query)
        # A search with warnings, which could not do all for the moment, is tried again.
        if not found.warnings and len(found) <= _KEPT:
            st.session_state[_FOUND] = asked, found
        return found
    return None


def draw_results(engine: Engine, query: PassageQuery, found: FoundPassages | None) -> None:
    """Draw what the search found; without words, the documents that the filter allows."""
    if not engine.collection.snapshot().documents:
        st.info(_("No document is indexed yet, so there is nothing to search."), icon=":material/inbox:")
        st.page_link("pages/library.py", label=_("Add documents in the Library"), icon=":material/upload_file:")
        return
    if not query:
        st.markdown(
            _(
                "Type key words, a phrase in quotation marks or a question. The results list every passage that "
                "contains the words, and the passages closest in meaning in every language. Filters alone list the "
                "matching documents."
            )
        )
        st.markdown(
            _(
                "“-word” or “NOT word” leaves a word out, “OR” finds either of two, and “resilien*” finds every "
                "ending. Brackets keep words together: (flood OR storm) -drought."
            )
        )
        return
    if found is None:
        return
    _draw_struck(found)
    if not len(found):
        _draw_refusal(engine, found)
        return
    if query.wanted:
        _draw_chips(found)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(escape(describe_found(found, WORDING)), width="stretch")
        _draw_export(engine, found)
    if scattered := describe_scattered(found, WORDING):
        st.caption(f":material/info: {escape(scattered)}")
    for warning in found.warnings:
        st.caption(f":material/info: {escape(show(warning))}")
    first = first_shown() if first_shown() < len(found.groups) else 0
    _draw_documents(engine, found, first)
    _draw_turning(first, len(found.groups))


def _draw_struck(found: FoundPassages) -> None:
    """Draw struck words that were found, each within its paragraph; folded where passages hold the words."""
    matches = found.struck
    if not matches:
        return
    told = counted(
        "{n} place with struck text, not in force", "{n} places with struck text, not in force", len(matches)
    )
    with st.expander(told, icon=":material/format_strikethrough:", expanded=not found.worded, key="found struck"):
        for number_, match in enumerate(matches):
            document, struck = match.document, match.struck
            place = page_place(document.file, document.named_page(struck.page)) if document.pages > 1 else ""
            named = (f"**{escape(document.shown_title)}**", place, escape(document.file))
            st.markdown(" · ".join(filter(None, named)))
            words = [match.before[-_AROUND:], match.after[:_AROUND]]
            before, after = (escape(" ".join(one.split())) for one in words)
            with in_language(document.metadata.language, f"struck {number_}"):
                st.markdown(f"{before} ~~{escape(struck.text)}~~ {after}".strip())
            st.page_link(
                "pages/document.py",
                label=_("Open document"),
                icon=":material/description:",
                query_params=DocumentPlace(document.document_id, struck.page, match.paragraph).parameters(),
            )


def _draw_documents(engine: Engine, found: FoundPassages, first: int) -> None:
    groups = found.groups[first : first + _DOCUMENTS]
    # Documents of which all passages are asked for, in the search that is open.
    opened = st.session_state.get(_opened_key(), set())
    # Words in several passages of a document are shown each.
    few = max(_PASSAGES, len(found.wanted.words)) if found.query.anywhere else _PASSAGES
    shown = [group.matches if _opening(group) in opened else group.matches[:few] for group in groups]
    passages = {
        passage.match.key: passage for passage in read_passages(engine, found, [one for some in shown for one in some])
    }
    for place, (group, matches) in enumerate(zip(groups, shown, strict=True), start=first):
        if found.query.words and (place == len(found.documents) or (place == first > len(found.documents))):
            st.subheader(describe_near(found, WORDING))
        read = [passages[match.key] for match in matches if match.key in passages]
        if read:
            with st.container(border=True, key=f"found-{_opening(group)}"):
                draw_document(engine, found.query, group, read)
                if left := len(group.matches) - len(matches):
                    st.button(
                        counted("Show {n} more passage", "Show {n} more passages", left),
                        key=f"search more {_opening(group)}",
                        type="tertiary",
                        icon=":material/expand_more:",
                        on_click=st.session_state.update,
                        args=({_opened_key(): opened | {_opening(group)}},),
                    )


def _opening(group: DocumentMatches) -> str:
    """Return the key of a document's results, which are apart from its passages near in meaning."""
    return f"{group.document.document_id}{'' if group.worded else '-near'}"


def _opened_key() -> str:
    return f"search opened {sorted(st.query_params.to_dict().items())}"


def _draw_turning(first: int, documents: int) -> None:
    if documents <= _DOCUMENTS:
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="center"):
        for label, key, icon, target, disabled in (
            (_("Previous"), "search previous", ":material/chevron_left:", max(0, first - _DOCUMENTS), first == 0),
            (_("Next"), "search next", ":material/chevron_right:", first + _DOCUMENTS, first + _DOCUMENTS >= documents),
        ):
            st.button(label, icon=icon, key=key, disabled=disabled, on_click=show_from, args=(target,))
        last = min(first + _DOCUMENTS, documents)
        shown = _("Documents {first} to {last} of {total}")
        figures = {"first": number(first + 1), "last": number(last), "total": number(documents)}
        st.caption(shown.format(**figures), width="content")


def _draw_chips(found: FoundPassages) -> None:
    """Draw each filter with the button that drops it, and how many documents they leave."""
    with st.container(horizontal=True, vertical_alignment="center", key="search-chips"):
        for name, values in found.query.wanted.items():
            _draw_drop(found.query, name, _named(name, values))
        # On a narrow screen the filters with their number are folded away.
        st.caption(f"{describe_matching(found, WORDING)}.", width="content")


def _draw_drop(query: PassageQuery, name: str, label: str) -> None:
    st.button(
        escape(label),
        icon=":material/close:",
        key=f"search drop {name}",
        help=_("Remove the filter {name}").format(name=filter_label(name)),
        on_click=go_to,
        args=(query.without(name),),
    )


def _named(name: str, values: Sequence[str]) -> str:
    return named_values(filter_label(name), ", ".join(display_text(name, value) for value in values))


def _draw_refusal(engine: Engine, found: FoundPassages) -> None:
    """Draw why nothing was found, with a button that drops each filter that excludes everything."""
    query = found.query
    obstacles = excluding_facets(engine, query)
    st.info(escape(describe_refusal(obstacles, found, WORDING)), icon=":material/search_off:")
    with st.container(horizontal=True):
        for name in [obstacle.name for obstacle in obstacles] or query.wanted:
            _draw_drop(query, name, _("Remove {filter}").format(filter=_named(name, query.wanted[name])))
        if query.by_words:
            st.caption(_("Passages that are close in meaning are left out: clear “All words only” to see them."))


def _draw_export(engine: Engine, found: FoundPassages) -> None:
    with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="search export"):
        st.caption(counted("{n} passage, one row", "All {n} passages, one row each", len(found)))
        for suffix, name in PASSAGE_FORMATS.items():
            written = partial(export_passages, engine, found, suffix, base_address("/search"), WORDING)
            file = f"{download_name(found.query.words, 'search')}{suffix}"
            draw_download(name, written, file, f"search export {suffix}")


def draw_document(
    engine: Engine, query: PassageQuery, group: DocumentMatches, passages: Sequence[MarkedPassage]
) -> None:
    """Draw a document with those of its passages that are shown."""
    document, metadata = group.document, group.document.metadata
    st.markdown(f"**{escape(document.shown_title)}**")
    known = (metadata.authority, document.file, licence_text(metadata.licence, WORDING))
    signs = " ".join(filter(None, (version_badge(document), badges(metadata))))
    st.caption(f"{' · '.join(escape(part) for part in known if part)}  \n{signs}")
    for passage in passages:
        _draw_passage(engine, query, passage)


def _draw_passage(engine: Engine, query: PassageQuery, passage: MarkedPassage) -> None:
    hit, document = passage.hit, passage.hit.document
    citation = citation_of(engine, passage)
    place = citation_page(citation) if document.pages > 1 else ""
    near = query.words and not passage.match.worded
    closeness = ":gray[" + _("close in meaning") + "]" if near else ""
    section = cited(hit.section, hit.clause)
    parts = (f"**{escape(section)}**" if section else "", place, closeness)
    st.markdown(" · ".join(part for part in parts if part))
    key, language = f"found {hit.child_id}", document.metadata.language
    with in_language(language, key):
        st.markdown(faded(passage.excerpt(_EXCERPT)))
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key} row"):
        st.page_link(
            "pages/document.py",
            label=_("Open document"),
            icon=":material/description:",
            query_params=DocumentPlace(document.document_id, citation.page, passage.place).parameters(),
        )
        draw_adding(lambda: passage_entry(query.words, citation_of(engine, passage)), key)
        draw_copy(
            ngettext("Copy quote", "Copy quotes", 1),
            ":material/format_quote:",
            plain_quotes([citation], WORDING),
            f"{key} quote",
        )
        whole = st.popover(_("Full passage"), icon=":material/article:", type="tertiary", key=f"{key} whole")
        with whole, in_language(language, f"{key} passage"):
            st.markdown(faded(passage.excerpt(len(hit.text))))
