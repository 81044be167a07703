"""The cited page beside the latest answer, changed by a click on a mark."""

from __future__ import annotations

from concurrent.futures import wait
from functools import partial
from pathlib import Path

import streamlit as st

from pages._ask.answer import PATIENCE, draw_page
from pages._ask.turn_key import turn_key
from pages._shared import resources
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.page_names import citation_place, page_choice
from pages._shared.shown_names import page_noun
from rag_engine.answering.page_image import height_on_sheet, page_marks, sheet
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation
from rag_engine.text.sentences import Span
from rag_engine.types.document import DocumentRecord

_FOLLOW = f"<script>{Path(__file__).with_name('marks.js').read_text(encoding='utf-8')}</script>"
# Beside the answer while it is read; away where there is no room beside it. What sticks is the box around the pane:
# that is as tall as the pane, which has no way to go in it.
_STYLE = """<style>
@media screen {
  :has(> .st-key-pane-%(turn)d) { position: sticky; top: 4rem; }
  .st-key-cited-%(turn)d { max-height: max(12rem, 100dvh - 22rem); overflow-y: auto; }
  .st-key-cited-%(turn)d > * { flex-shrink: 0; }
  .st-key-pane-%(turn)d:has([data-testid="stButtonGroup"]) .st-key-cited-%(turn)d {
    max-height: max(12rem, 100dvh - 27rem);
  }
}
@media (max-width: 1000px) { .stColumn:has(.st-key-pane-%(turn)d) { display: none; } }
</style>"""
# Scrolls to what is so far down the picture, drawn or still to be loaded, with a third of the view above it.
_SHOW = """<script>
(() => {
  const last = performance.now() + 10_000;
  function show() {
    const view = document.querySelector(".st-key-cited-%(turn)d");
    const picture = view?.querySelector("img");
    if (!picture?.complete || !picture.height) {
      if (performance.now() < last) setTimeout(show, 50);
      return;
    }
    const {top, height} = picture.getBoundingClientRect();
    view.scrollTop += top + height * %(down).4f - view.getBoundingClientRect().top - view.clientHeight / 3;
    // For who scrolls by keys.
    Object.assign(view, {tabIndex: 0, role: "region", ariaLabel: picture.alt});
  }
  show();
})(); // %(shown)s
</script>"""


def has_page(reply: Reply) -> bool:
    """Return whether a reply cites a page that can be drawn beside it."""
    return reply.status == "answered" and any(
        resources.find_document(citation.document_id) for citation in reply.citations
    )


def follow_marks() -> None:
    """Have a click on a mark show its page beside the answer, or else its source below it."""
    st.html(_FOLLOW, unsafe_allow_javascript=True)


def draw_cited_page(conversation: Conversation, number: int, reply: Reply) -> None:
    """Draw the page that the reply of a turn cites first, with the numbers of the others to choose from."""
    st.html(_STYLE % {"turn": number})
    with st.container(key=f"pane-{number}"):
        _draw_choice(reply, number, f"{turn_key(conversation, number)} cited page")


@st.fragment
def _draw_choice(reply: Reply, number: int, key: str) -> None:
    sources = {source.n: source for source in reply.sources}
    cited = [n for n in dict.fromkeys(citation.n for citation in reply.citations) if n in sources]
    chosen = st.radio(_("Page cited as"), cited, key=key, horizontal=True) or cited[0]
    source = sources[chosen]
    document = resources.find_document(source.document_id)
    if document is None:
        st.caption(_(":material/info: This document is no longer in the collection."))
        return
    citations = [citation for citation in reply.citations if citation.n == chosen]
    pages = list(dict.fromkeys(citation.page for citation in citations))
    st.caption(escape(citation_place(citations[0])))
    page = pages[0]
    if len(pages) > 1:
        label = page_noun(source.file)
        choice = partial(page_choice, source.file, {one.page: one.page_label for one in citations})
        page = (
            st.segmented_control(label, pages, default=pages[0], format_func=choice, key=f"{key} {chosen}") or pages[0]
        )
    quotes = tuple((citation.start, citation.end) for citation in citations)
    with st.container(key=f"cited-{number}"):
        kind = draw_page(document, quotes[0], quotes, page, f"{key} {chosen}")
    if kind:
        if kind == "page":
            down = _height_on_page(document, quotes, page)
        else:
            drawn = sheet(resources.engine().catalog.text(document.key), *quotes[0], quotes)
            down = height_on_sheet(drawn[0], min(start for start, end in drawn[2]))
        script = _SHOW % {"turn": number, "down": down, "shown": f"{key} {chosen} {page}"}
        st.html(script, unsafe_allow_javascript=True)


def _height_on_page(document: DocumentRecord, quotes: tuple[Span, ...], page: int) -> float:
    """Return how far down a page the first of the quotes is that are on it: 0 at its top, 1 at its foot."""
    engine = resources.engine()
    shown, passage, quoted = page_marks(engine.catalog.lines(document.key), *quotes[0], quotes, page)
    measured = engine.drawings.draw_page(document, shown, passage, quoted, width=1000)[1]
    if not quoted or wait([measured], PATIENCE).not_done or measured.exception():
        return 0.0
    return min(box.y0 for box in quoted) / float(measured.result().split()[1])
