"""Tabs below the page: details, licence, versions, citations and segmentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import streamlit as st

from ingestion.acts.corrections import correct, describe_records
from ingestion.phases.indexing import code_of
from ingestion.status.document_fields import shown_values
from ingestion.types.description import STATED_FIELDS
from pages._admin.source_detail import draw_licence, draw_relation
from pages._document.details import draw_details
from pages._document.open_document import changes_between, cut_segments, indexed_segments, paged_text
from pages._document.page_view import draw_text
from pages._document.places import draw_places
from pages._library.correction import describe_corrected, draw_done, note_done
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show_errors
from pages._shared.field_inputs import draw_field, heading_of
from pages._shared.filter_widgets import WORDING, display_text
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, day, known_date, number
from pages._shared.page_names import citation_page
from rag_engine.answering.reference_list import licence_text
from rag_engine.config import Strategy
from rag_engine.conversations.cited_in import CitingTurn, citing_turns
from rag_engine.storage.indexer import page_at
from rag_engine.types.document import UNDATED, DocumentRecord
from rag_engine.viewer.address import DocumentPlace, PlaceLink
from rag_engine.viewer.pages import TextParagraph
from rag_engine.viewer.segments import Segment, segments_within
from rag_engine.viewer.versions import ChangedParagraph, VersionChanges, documents_of_work

# Answers that are listed of those that cite the document.
_CITING_SHOWN = 20
_ELEMENTS = {"same": "", "removed": "del", "added": "ins"}


def draw_below(document: DocumentRecord, page: int) -> None:
    """Draw the tabs; what is in them is computed for the open one alone."""
    details, licence, versions, citations, segmentation = st.tabs(
        [_("Details"), _("Licence"), _("Versions"), _("Citations"), _("Segmentation")],
        key="document tabs",
        on_change="rerun",
    )
    # A file and a former version came from no source on the list.
    record = None if document.is_former else resources.records().get(code_of(document))
    with details:
        if details.open:
            draw_details(document)
    with licence:
        if licence.open:
            if record is not None:
                draw_licence(record)
            else:
                _draw_stated_licence(document)
    with versions:
        if versions.open:
            draw_versions(document)
            if record is not None and record.relation is not None:
                draw_relation(record)
    with citations:
        if citations.open:
            _draw_citations(document)
    with segmentation:
        if segmentation.open:
            _draw_segmentation(document, page)


def _draw_stated_licence(document: DocumentRecord) -> None:
    """Draw the licence with what it forbids and who stated it, and the form to state it."""
    [described] = describe_records(resources.context(), [document])
    draw_done(document.source)
    licence = document.metadata.licence
    stated = next((correction for correction in described.corrections if correction.field == "licence"), None)
    verdict = described.verdict
    if verdict is not None:
        draw_licence(described)
    if licence and (verdict is None or licence != verdict.licence):
        st.markdown(f"**{escape(licence_text(licence, WORDING))}**")
    elif verdict is None:
        st.caption(_("No licence statement found."))
    if stated is not None:
        by = _("Stated by {name}, {day}.").format(name=escape(stated.author), day=escape(day(stated.when)))
        st.caption(" ".join(filter(None, (by, escape(stated.note)))))
    elif licence and verdict is None:
        st.caption(_("As stated when the document was added; the licence was not checked."))
    if not set(STATED_FIELDS) <= set(described.fields):
        return
    before = shown_values(described)
    key = f"stated {document.key} {resources.engine().catalog.change()}"
    with st.form(f"{key} form", border=False):
        author = draw_author()
        after = {
            field: draw_field(heading_of(field), field, before[field], (), f"{key} {field}") for field in STATED_FIELDS
        }
        note = st.text_input(_("Note"), placeholder=_("Where it is stated, why it is correct"), key=f"{key} note")
        saved = act_button("correct", _("Save"), in_form=True, icon=":material/save:", key="save licence")
    if saved:
        with show_errors():
            entered = correct(resources.context(), {document.source: after}, author, note)
            note_done([document.source], entered, describe_corrected(entered))
            st.rerun()


def _draw_citations(document: DocumentRecord) -> None:
    """Draw the questions whose answers cite the document, each with the sentences that were cited."""
    turns = citing_turns(resources.workspace(), document.document_id, resources.person())
    if not turns:
        st.caption(_("No answer cites this document yet."))
        return
    if len(turns) > _CITING_SHOWN:
        st.caption(_("Cited in {n} answers, the latest {shown}:").format(n=number(len(turns)), shown=_CITING_SHOWN))
    else:
        st.caption(counted("Cited in {n} answer", "Cited in {n} answers", len(turns)))
    for place, turn in enumerate(turns[:_CITING_SHOWN]):
        _draw_turn(document, turn, f"document citations {place}")


def _draw_turn(document: DocumentRecord, turn: CitingTurn, key: str) -> None:
    with st.container(border=True, gap="small", key=f"{key} box"):
        st.page_link(
            "pages/ask.py",
            label=f"{escape(turn.question)} · {day(turn.asked)}",
            icon=":material/forum:",
            query_params={"conversation": turn.conversation},
        )
        places = [
            PlaceLink(
                DocumentPlace(document.document_id, citation.page, (citation.start, citation.end)),
                ((citation.quote, False),),
                document.metadata.language,
                citation_page(citation) if document.pages > 1 else "",
            )
            for citation in dict.fromkeys(turn.citations)
        ]
        draw_places(places, _("Cited for “{question}”").format(question=turn.question), key)


def _draw_segmentation(document: DocumentRecord, page: int) -> None:
    """Draw the choice of a strategy and the passages that it makes of the shown page."""
    names: list[str] = [one for one in get_args(Strategy) if one not in ("auto", document.strategy)]
    strategy: str = st.selectbox(
        _("Strategy"),
        [document.strategy, *names],
        format_func=lambda one: _("{strategy} (in use)").format(strategy=one) if one == document.strategy else one,
        key=f"document strategy {document.key}",
        width=260,
    )
    if strategy == document.strategy and document.why:
        st.caption(escape(document.why))
    with show_errors():
        if strategy == document.strategy:
            segments = indexed_segments(document)
        else:
            with st.spinner(_("Segmenting the text …")):
                segments = cut_segments(document, cast(Strategy, strategy))
        _draw_segments(document, page, segments)


def _draw_segments(document: DocumentRecord, page: int, segments: tuple[Segment, ...]) -> None:
    text = paged_text(document)
    shown = segments_within(segments, text.page_span(page))
    children = sum(len(segment.children) for segment in segments)
    st.caption(
        _("{sections} with {passages} in total. On the page that is open:").format(
            sections=counted("{n} section", "{n} sections", len(segments)),
            passages=counted("{n} passage", "{n} passages", children),
        )
    )
    paragraphs: list[TextParagraph] = []
    for segment in shown:
        title = (
            " › ".join(segment.headings) or segment.section or _("Section {n}").format(n=segments.index(segment) + 1)
        )
        length = counted("{n} character", "{n} characters", segment.end - segment.start)
        paragraphs.append(TextParagraph("heading", ((f"{title} · {length}", "", None),)))
        paragraphs += [TextParagraph("table", ((text.text[start:end], "", None),)) for start, end in segment.children]
    if paragraphs:
        draw_text(paragraphs, _("Passages"), document.metadata.language, [], f"segments {document.key} {page}")


def draw_versions(document: DocumentRecord) -> None:
    """Draw the links to the other documents of the work, and the comparison with another version."""
    work = documents_of_work(document, resources.engine().collection.documents())
    others = [version for version in work.versions if version.key != document.key]
    listed = [_listed(one, _version_name(one)) for one in others]
    listed += [
        _listed(translation, display_text("language", translation.metadata.language))
        for translation in work.translations
    ]
    if listed:
        draw_places(listed, _("Versions and translations"), f"document versions {document.key}")
    else:
        st.caption(_("No other version or translation is in the collection."))
    if work.corrections:
        corrections = [_listed(one, known_date(one.metadata.date)) for one in work.corrections]
        draw_places(corrections, _("Corrections"), f"document corrections {document.key}")
    if not others:
        return
    other = st.selectbox(
        _("Compare with"), others, index=len(others) - 1, format_func=_version_name, key="document compared"
    )
    older, newer = sorted((document, other), key=work.versions.index)
    with st.spinner(_("Comparing the versions …")):
        changes = changes_between(older, newer)
    _draw_changes(older, newer, changes)


def _listed(other: DocumentRecord, note: str) -> PlaceLink:
    metadata = other.metadata
    return PlaceLink(DocumentPlace(other.document_id), ((other.shown_title, False),), metadata.language, note)


def _version_name(document: DocumentRecord) -> str:
    metadata = document.metadata
    name = metadata.version or known_date(metadata.date) or document.file
    if metadata.superseded == UNDATED:
        return _("{name} (superseded)").format(name=name)
    told = _("{name} (superseded {when})") if metadata.superseded else _("{name} (newest)")
    return told.format(name=name, when=known_date(metadata.superseded))


def _draw_changes(older: DocumentRecord, newer: DocumentRecord, changes: VersionChanges) -> None:
    names = {"older": escape(_version_name(older)), "newer": escape(_version_name(newer))}
    if not changes.sections:
        st.caption(_("From {older} to {newer}: the text is the same.").format(**names))
        return
    st.caption(
        _("From {older} to {newer}: {removed}, {added}.").format(
            **names,
            removed=counted("{n} word removed", "{n} words removed", changes.removed),
            added=counted("{n} word added", "{n} words added", changes.added),
        )
    )
    links: list[DocumentPlace] = []
    paragraphs: list[TextParagraph] = []
    for section in changes.sections:
        links.append(_place(older, newer, section.paragraphs))
        title = section.heading or _("Before the first heading")
        paragraphs.append(TextParagraph("heading", ((title, "", len(links) - 1),)))
        paragraphs += [_paragraph(paragraph) for paragraph in section.paragraphs]
    draw_text(paragraphs, _("Changes"), newer.metadata.language, links, f"changes {older.key} {newer.key}")


def _place(older: DocumentRecord, newer: DocumentRecord, paragraphs: Sequence[ChangedParagraph]) -> DocumentPlace:
    """Return the place of the first changed paragraph: in the newer version, else in the older."""
    first = next((paragraph for paragraph in paragraphs if not paragraph.removed), paragraphs[0])
    document = older if first.removed else newer
    words = sum(len(piece.text) for piece in first.pieces if piece.kind != ("added" if first.removed else "removed"))
    page = page_at(paged_text(document).lines, first.start)
    return DocumentPlace(document.document_id, page, (first.start, first.start + words))


def _paragraph(changed: ChangedParagraph) -> TextParagraph:
    runs: list[tuple[str, str, None]] = []
    for piece in changed.pieces:
        runs += [(piece.text, _ELEMENTS[piece.kind], None), (" ", "", None)]
    return TextParagraph("text", tuple(runs))
