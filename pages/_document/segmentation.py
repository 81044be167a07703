"""Passages into which the text of the shown page is cut, by the strategy in use and by the others."""

from __future__ import annotations

from typing import cast, get_args

import streamlit as st

from pages._document.opened import cut_segments, indexed_segments, paged_text
from pages._document.page_view import draw_text
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.config import Strategy
from rag_engine.reading.runs import TextParagraph
from rag_engine.reading.segments import Segment, segments_within
from rag_engine.types import DocumentRecord


def draw_segmentation(document: DocumentRecord, page: int) -> None:
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
    children = sum(len(one.children) for one in segments)
    st.caption(
        _("{sections} with {passages} in total. On the page that is open:").format(
            sections=counted("{n} section", "{n} sections", len(segments)),
            passages=counted("{n} passage", "{n} passages", children),
        )
    )
    paragraphs: list[TextParagraph] = []
    for one in shown:
        title = " › ".join(one.headings) or one.section or _("Section {n}").format(n=segments.index(one) + 1)
        length = counted("{n} character", "{n} characters", one.end - one.start)
        paragraphs.append(TextParagraph("heading", ((f"{title} · {length}", "", None),)))
        paragraphs += [TextParagraph("table", ((text.text[start:end], "", None),)) for start, end in one.children]
    if paragraphs:
        draw_text(paragraphs, _("Passages"), document.metadata.language, [], f"segments {document.key} {page}")
