"""Frame around every page: title, menu, and the way back into it from a deep link."""

from __future__ import annotations

import gc
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pages._shared import resources
from pages._shared.accessibility import ACCESSIBILITY, give_words
from pages._shared.errors import show_errors
from pages._shared.interface_language import LANGUAGES, _, interface_language, set_language
from pages._shared.login import draw_person, require_login
from pages._shared.print_style import PRINT_STYLE
from rag_engine.config import ROOT
from rag_engine.conversations.record_kinds import choice_of, keep_choice
from rag_engine.errors import SextantError
from rag_engine.installation import sextant_version
from rag_engine.waiting import rest

# A limb of sixty degrees, the index arm and the mirror: a sextant in few strokes.
_SIGN = (
    '<rect width="32" height="32" rx="7" fill="#1a7f3c"/>'
    '<g fill="none" stroke="#ffffff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">'
    '<path d="M16 6.5 L6.8 21.5 A17.6 17.6 0 0 0 25.2 21.5 Z"/><path d="M16 6.5 L18.6 26"/></g>'
    '<circle cx="16" cy="6.5" r="2.4" fill="#ffffff"/>'
)
_SVG = '<svg xmlns="http://www.w3.org/2000/svg"'

ICON = f'{_SVG} viewBox="0 0 32 32" width="32" height="32">{_SIGN}</svg>'

# The green is one that can be read on light and on dark ground.
WORDMARK = (
    f'{_SVG} viewBox="0 0 136 32" width="136" height="32">{_SIGN}'
    '<text x="42" y="23.5" font-family="Source Sans, Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif" '
    'font-size="22" font-weight="600" fill="#2b9a52">Sextant</text></svg>'
)

# Goes to the browser with Streamlit's own page, before anything is drawn.
EVERY_PAGE = PRINT_STYLE + ACCESSIBILITY

# By which the address of a page ends.
PAGE_NAMES = tuple(path.stem for path in sorted((ROOT / "pages").glob("[!_]*.py")))

_OPEN = "frame is open"
_ASK = "ask"
_RECALLED, _LANGUAGE = "interface language recalled", "interface language choice"
_WANTED = "page wanted before the frame was open"
_AT, _SEEN = "page that is open", "page whose content was sent ahead"
# Longer than Streamlit's server, and then its browser code, gather what is drawn, each 10 ms.
_SENDING_SECONDS = 0.04
# Seconds in which a browser draws what a page is opened for, with code that it has not run yet; a table has the most.
_OPENING_SECONDS, TABLE_SECONDS = 0.25, 0.35


def open_frame() -> Any:
    """Draw the frame and return the page to run; app.py calls this first."""
    # Before the menu, and never a :material/...: icon: Streamlit fetches those for the browser's tab from Google, also
    # the menu's when the tab has none yet.
    st.set_page_config(page_title="Sextant", page_icon=ICON)
    st.logo(WORDMARK, icon_image=ICON, size="large")
    require_login(_wanted_address())
    # Only now: a page that finds the frame open is drawn.
    st.session_state[_OPEN] = True
    _recall_language()
    pages = [
        # Under another name than the one by which links know it, which is the last page's.
        st.Page(ROOT / "pages/ask.py", title=_("Ask"), icon=":material/forum:", url_path="first", default=True),
        st.Page(ROOT / "pages/search.py", title=_("Search"), icon=":material/search:"),
        st.Page(ROOT / "pages/compare.py", title=_("Compare"), icon=":material/table_chart:"),
        st.Page(ROOT / "pages/library.py", title=_("Library"), icon=":material/library_books:"),
        # Opened from the others: without a document in its address there is nothing to show.
        st.Page(ROOT / "pages/document.py", title=_("Document"), icon=":material/description:", visibility="hidden"),
        st.Page(ROOT / "pages/notebook.py", title=_("Notebook"), icon=":material/book_2:"),
        st.Page(ROOT / "pages/admin.py", title=_("Admin"), icon=":material/tune:"),
        st.Page(ROOT / "pages/evaluation.py", title=_("Evaluation"), icon=":material/monitoring:"),
        # The first page has no name in its address, but is linked to by one.
        st.Page(ROOT / "pages/ask.py", title=_("Ask"), url_path=_ASK, visibility="hidden"),
    ]
    page = st.navigation(pages)
    if page.url_path == _ASK:
        st.switch_page(pages[0], query_params=_query())
    if (present := resources.person()).key:
        draw_person(present.name)
    # The notebook is read, and wants a narrow column.
    layout: Literal["centered", "wide"] = "centered" if page.url_path == "notebook" else "wide"
    st.set_page_config(page_title=f"{page.title} · Sextant", layout=layout)
    wanted = st.session_state.pop(_WANTED, None)
    if wanted:
        st.switch_page(wanted[0], query_params=wanted[1])
    resources.follow_settings()
    st.session_state[_AT] = page.url_path
    return page


def _wanted_address() -> str:
    """Return the path and query of a page that was asked for before the frame was open, "" where none was."""
    if _WANTED not in st.session_state:
        return ""
    page, query = st.session_state[_WANTED]
    name = Path(page).stem
    # The first page has no name in its address.
    return f"/{'' if name == 'ask' else name}?{urlencode(query, doseq=True)}"


def _recall_language() -> None:
    """Use the language that the person chose in an earlier session."""
    if _RECALLED in st.session_state:
        return
    # Where the collection cannot be opened its error is drawn in the browser's language.
    with suppress(SextantError):
        set_language(choice_of(resources.workspace(), "language", resources.person()))
        st.session_state[_RECALLED] = True


def close_frame(source_address: str) -> None:
    """Draw the end of the sidebar of every page: language of the interface, version, source code."""
    give_words()
    st.session_state[_LANGUAGE] = interface_language()
    st.sidebar.selectbox(
        _("Language of the interface"),
        list(LANGUAGES),
        format_func=LANGUAGES.__getitem__,
        key=_LANGUAGE,
        label_visibility="collapsed",
        width=150,
        on_change=_choose_language,
    )
    # All who use it over a network are offered its source (AGPL, section 13).
    about = _("[Source code of Sextant {version}]({address})")
    st.sidebar.caption(about.format(version=sextant_version(), address=source_address))


def _choose_language() -> None:
    language = st.session_state[_LANGUAGE]
    set_language(language)
    with show_errors():
        keep_choice(resources.workspace(), "language", resources.person(), language)


def warm_up() -> None:
    """Import the parts of all pages and open the collection, so that the first visitor waits for neither.

    Nor does the first visitor see a menu of the files in pages/, which Streamlit draws until st.navigation was called.
    """
    PagesManager.uses_pages_directory = False
    for part in sorted((ROOT / "pages").glob("_*/[!_]*.py")):
        import_module(".".join(part.relative_to(ROOT).with_suffix("").parts))
    # An error of the collection or a setting is shown to the visitor.
    with suppress(SextantError):
        resources.engine()
    # Imported modules stay for good, and a full collection that looks through them stops every session.
    gc.freeze()


def _query() -> dict[str, list[str]]:
    """Return what the address asks for, to be handed on."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def show_opened(seconds: float = _OPENING_SECONDS) -> None:
    """Have the browser draw what a page is opened for before the rest; not when it is drawn again.

    To be called once one widget is drawn. React 18 shows widgets whose code it has not run yet together. If more come
    while it waits for some, it shows none for half a second.
    """
    if st.session_state.get(_SEEN) != st.session_state[_AT]:
        st.session_state[_SEEN] = st.session_state[_AT]
        show_at_once(seconds)


def show_at_once(seconds: float = _SENDING_SECONDS) -> None:
    """Have the browser draw what the page has so far before the rest, which it takes longer to draw.

    It draws in one piece what reaches it together, and the server sends nothing while the script keeps Python busy.
    """
    rest(seconds)


def guard(file: str) -> None:
    """Go through app.py when a page was reached without it.

    A server that was started without `warm_up` runs the page's file alone, without menu and frame. It does so at the
    first request that is a deep link (Streamlit 1.67 with a pages folder beside st.navigation).
    """
    if _OPEN not in st.session_state:
        page = Path(file).resolve().relative_to(ROOT).as_posix()
        st.session_state[_WANTED] = page, _query()
        st.switch_page("app.py")
