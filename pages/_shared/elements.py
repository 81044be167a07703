"""Elements that several pages draw: tables, downloads, and the name of the person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial, wraps
from typing import Any, ParamSpec

import pandas as pd
import streamlit as st

from ingestion.acts.context import system_user
from ingestion.acts.register import every_act, missing_role
from ingestion.file_reading import ExtractionLimits
from pages._shared.errors import show_errors, showing_errors
from pages._shared.interface_language import _, in_this_language
from pages._shared.login import is_logged_in
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number
from pages._shared.resources import KNOWN_AUTHOR, engine, person
from pages._shared.shown_names import shown_name
from rag_engine.types.document import DocumentRecord

_AUTHOR = "admin author"
# The value that each widget of `when_changed` was drawn with, or has been given since.
_SEEN = "values seen"
_Given = ParamSpec("_Given")


def draw_author() -> str:
    """Draw who is logged in, else the input for the name; return the name, "" for none.

    The input is filled with the last name given, else the system's user. That is its default too: a dialog that opens
    while another closes begins with it.
    """
    if is_logged_in():
        name = person().name
        st.caption(_(":material/person: Recorded as {name}.").format(name=escape(name)))
        return name
    known = str(st.session_state.setdefault(KNOWN_AUTHOR, system_user()))
    name = st.text_input(
        _("Your name"),
        known,
        key=_AUTHOR,
        max_chars=80,
        icon=":material/person:",
        help=_("Stored with every decision and correction you make."),
        width=340,
    ).strip()
    if name:
        st.session_state[KNOWN_AUTHOR] = name
    return name


def known_author() -> str:
    """Return who is logged in, else the name last given or the system's user; for acts of one click."""
    return person().name if is_logged_in() else str(st.session_state.setdefault(KNOWN_AUTHOR, system_user()))


def in_own_place(draw: Callable[_Given, None]) -> Callable[_Given, None]:
    """Have a function that may draw nothing draw into a separate container.

    Elements after it then keep their place. Until a page is drawn to its end, the browser keeps its old elements. So a
    widget that moves and is changed at the same time is shown twice.
    """

    @wraps(draw)
    def drawn(*arguments: _Given.args, **options: _Given.kwargs) -> None:
        with st.container():
            draw(*arguments, **options)

    return drawn


def when_changed(key: str, drawn: object, follow: Callable[..., None], *arguments: object) -> Callable[[], None]:
    """Return a widget's `on_change` that calls `follow` if the value is no longer `drawn`.

    A browser repeats the values of widgets that have just gone until it has put them away. Streamlit takes them for
    changes, on another page or of a deleted object.
    """
    st.session_state.setdefault(_SEEN, {})[key] = drawn
    return partial(_follow_change, key, follow, *arguments)


def _follow_change(key: str, follow: Callable[..., None], *arguments: object) -> None:
    seen = st.session_state[_SEEN]
    value = st.session_state.get(key, seen[key])
    if value != seen[key]:
        # It may change again before it is drawn.
        seen[key] = value
        follow(*arguments)


def keep_way_back(key: str, said: str, back: Callable[[], object], **values: str) -> None:
    """Keep the way back from a deletion, in this session alone.

    A deleted object leaves the disk at once. `said` is a message to translate, which the values fill in.
    """
    st.session_state[f"{key} kept"] = said, values, back


def has_way_back(key: str) -> bool:
    """Return whether something was deleted that can be brought back."""
    return f"{key} kept" in st.session_state


@in_own_place
def draw_way_back(key: str, act: str = "") -> None:
    """Draw what was deleted last, with the button of this key that brings it back, by an act if any."""
    if has_way_back(key):
        said, values, _back = st.session_state[f"{key} kept"]
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_(said).format(**values), width="content")
            button = partial(act_button, act) if act else st.button
            button(_("Undo"), icon=":material/undo:", type="tertiary", key=key, on_click=_bring_back, args=(key,))


def _bring_back(key: str) -> None:
    with show_errors():
        st.session_state[f"{key} kept"][2]()
        del st.session_state[f"{key} kept"]


def draw_renaming(name: str, key: str, menu: str, rename: Callable[[str], object], act: str = "") -> None:
    """Draw the input of another name, and the button that gives it and closes the popover `menu`.

    The name is read at the click, which may come before the page was drawn with it. `act` is the act of renaming.
    """

    def renamed() -> None:
        with show_errors():
            rename(st.session_state[key])
            st.session_state[menu] = False

    st.text_input(_("New name"), name, key=key)
    button = partial(act_button, act) if act else st.button
    button(_("Rename"), key=f"{key} button", on_click=renamed)


def draw_sharing(key: str, help: str, share: Callable[[bool], object], *, shared: bool) -> None:
    """Draw the toggle with which a person shares what is theirs."""
    follow = showing_errors(lambda: share(st.session_state[key]))
    label = _("Share with everybody here")
    st.toggle(label, shared, key=key, help=help, on_change=when_changed(key, shared, follow))


def draw_more(key: str, label: str, most: int) -> None:
    """Draw the button that keeps under `key` how many there are to draw from now on."""
    options: dict[str, Any] = {"icon": ":material/expand_more:", "type": "tertiary"}
    st.button(label, key=f"{key} button", on_click=st.session_state.update, args=({key: most},), **options)


def why_disabled(act: str) -> str | None:
    """Return why the person may not do an act, and who can change that; None where the person may."""
    present = person()
    role = missing_role(present, every_act()[act])
    if role is None:
        return None
    told = _(
        "This takes the role {role}; you are a {present}. "
        "An admin can give it to you, on the People tab of the Admin page."
    )
    return told.format(role=shown_name(role), present=shown_name(present.role))


def draw_upload_limit() -> None:
    """Draw how large a file may be, and what to do with a larger one.

    The browser refuses a larger file in its own words.
    """
    limit = number(ExtractionLimits().max_bytes // 2**20)
    st.caption(
        _(
            "Up to {n} MB a file. Split a larger one into volumes first. The server's administrator can add a whole "
            "folder."
        ).format(n=limit)
    )


def act_button(
    act: str, label: str, *, disabled: bool = False, help: str | None = None, in_form: bool = False, **options: Any
) -> bool:
    """Draw the button of an act; return whether it was clicked.

    If the person may not do the act, the button is disabled and its help says why.
    """
    why = why_disabled(act)
    draw = st.form_submit_button if in_form else st.button
    return draw(label, disabled=disabled or why is not None, help=why or help, **options)


def draw_confirmation(act: str, label: str, key: str, confirmed: Callable[[], object], icon: str | None = None) -> None:
    """Draw the two buttons of a dialog: one carries out an act and closes it, one only closes it."""
    with st.container(horizontal=True):
        if act_button(act, label, key=f"{key} confirmed", type="primary", icon=icon):
            with show_errors():
                confirmed()
                st.rerun()
        if st.button(_("Cancel"), key=f"{key} refused"):
            st.rerun()


def draw_table(
    rows: Sequence[Mapping[str, Any]],
    key: str,
    alt: str,
    tallest: int = 400,
    columns: Mapping[str, Any] | None = None,
    written: Mapping[str, Callable[..., str]] | None = None,
    wrapped: bool = False,
) -> None:
    """Draw rows as a table, which scrolls if it would be taller than `tallest` pixels.

    `written` writes the figures of a column: they are sorted as numbers all the same. With `wrapped` a
    text is broken into lines, of which a row has room for three.
    """
    # Streamlit breaks texts in rows of more than 64 pixels alone.
    row_height = 65 if wrapped else 35
    height = min(38 + row_height * len(rows), tallest)
    table = pd.DataFrame(rows)
    shown = table.style.format(dict(written)) if written else table
    st.dataframe(shown, hide_index=True, height=height, key=key, column_config=columns, alt=alt, row_height=row_height)


def draw_download(label: str, read: Callable[[], bytes], name: str, key: str, **options: Any) -> None:
    """Draw the button to download a file, which is read or written once it is asked for.

    The file is in the language of the page when the button was drawn.
    """
    st.download_button(
        label,
        in_this_language(read),
        name,
        # Never a type that the browser would open in place: the file may hold scripts.
        "application/octet-stream",
        key=key,
        on_click="ignore",
        **{"icon": ":material/download:", "type": "tertiary", **options},
    )


def draw_original(document: DocumentRecord, key: str) -> None:
    """Draw the button to download the original file."""
    path = engine().collection.stored_file(document)
    draw_download(_("Original file"), path.read_bytes, document.file, f"{key} download")


def draw_when_done(work: Future[Any], every: float) -> None:
    """Have the page drawn again once some work is done, looked at every `every` seconds.

    A widget that was drawn in the fragment would run that alone.
    """

    @st.fragment(run_every=every)
    def look() -> None:
        if work.done():
            st.rerun()

    look()


def draw_heading(title: str, what: str, *, of_page: bool = False) -> None:
    """Draw the title of the open object, with a button to close it.

    `of_page` is for a page without another title.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", wrap=False):
        (st.title if of_page else st.header)(escape(title), anchor=False)
        st.button(
            "",
            key=f"close {what}",
            icon=":material/close:",
            help=_("Close"),
            type="tertiary",
            on_click=open_in_address,
            args=(what,),
        )


def translated_dialog(title: str, **options: Any) -> Callable[[Callable[_Given, None]], Callable[_Given, None]]:
    """Have a function draw a dialog, with its title in the language in which it is opened."""

    def opening(draw: Callable[_Given, None]) -> Callable[_Given, None]:
        @wraps(draw)
        def opened(*args: _Given.args, **named: _Given.kwargs) -> None:
            st.dialog(_(title), **options)(draw)(*args, **named)

        return opened

    return opening


def open_in_address(what: str, value: str = "") -> None:
    """Name in the address what is open, or that nothing is."""
    st.query_params.pop(what, None)
    if value:
        st.query_params[what] = value


def follow_choice(what: str, value: str) -> None:
    """Open the newly chosen row of a table.

    The row stays selected when its object is closed, so that only a new choice opens one.
    """
    if st.session_state.get(f"{what} choice", "") != value:
        st.session_state[f"{what} choice"] = value
        if value:
            st.query_params[what] = value


def base_address(page: str) -> str:
    """Return the base address of the pages, from that of the open `page`; "" if it is not known."""
    address = (st.context.url or "").partition("?")[0]
    return f"{address.rpartition(page)[0]}/" if page in address else ""
