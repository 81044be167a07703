"""The cited page beside the latest answer, changed by a click on a mark."""

from __future__ import annotations

import streamlit as st

from pages._ask.answer import draw_page
from pages._ask.turn_key import turn_key
from pages._shared import resources
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.shown_names import page_noun, page_place
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Conversation

# Streamlit reports no click on a link: the listener presses the button of the source that a mark names. On a narrow
# screen the pane is not drawn, and the link leads to the source below the answer as it is.
_FOLLOW = """<script>
window.sextantMarks?.abort();
window.sextantMarks = new AbortController();
document.addEventListener("click", (event) => {
  const mark = event.target.closest?.("a[href^='#answer-']");
  const [, turn, number] = mark?.getAttribute("href").match(/^#answer-(\\d+)-source-(\\d+)$/) ?? [];
  const pane = document.querySelector(`.st-key-pane-${turn}`);
  if (!pane?.offsetParent) return;
  for (const label of pane.querySelectorAll("[role=radiogroup] label")) {
    if (label.textContent.trim() === number) {
      event.preventDefault();
      label.click();
    }
  }
}, {signal: window.sextantMarks.signal});
</script>"""
# Beside the answer while it is read; away where there is no room beside it.
_STYLE = """<style>
.st-key-pane-%(turn)d { position: sticky; top: 4rem; }
@media (max-width: 1000px) { .stColumn:has(.st-key-pane-%(turn)d) { display: none; } }
</style>"""


def has_page(reply: Reply) -> bool:
    """Return whether a reply cites a page that can be drawn beside it."""
    return reply.status == "answered" and any(resources.find_document(one.document_id) for one in reply.citations)


def draw_cited_page(conversation: Conversation, number: int, reply: Reply) -> None:
    """Draw the page that the reply of a turn cites first, with the numbers of the others to choose from."""
    st.html(_STYLE % {"turn": number})
    st.html(_FOLLOW, unsafe_allow_javascript=True)
    with st.container(key=f"pane-{number}"):
        _draw_choice(reply, f"{turn_key(conversation, number)} cited page")


@st.fragment
def _draw_choice(reply: Reply, key: str) -> None:
    sources = {source.n: source for source in reply.sources}
    cited = [n for n in dict.fromkeys(one.n for one in reply.citations) if n in sources]
    chosen = st.radio(_("Page cited as"), cited, key=key, horizontal=True) or cited[0]
    source = sources[chosen]
    document = resources.find_document(source.document_id)
    if document is None:
        st.caption(_(":material/info: This document is no longer in the collection."))
        return
    citations = [one for one in reply.citations if one.n == chosen]
    pages = list(dict.fromkeys(one.page for one in citations))
    st.caption(f"{escape(source.title)}, {page_place(source.file, pages[0])}")
    page = pages[0]
    if len(pages) > 1:
        label = page_noun(source.file)
        page = st.segmented_control(label, pages, default=pages[0], key=f"{key} {chosen}") or pages[0]
    quotes = tuple((one.start, one.end) for one in citations)
    draw_page(document, quotes[0], quotes, page)
