"""Adding sources: lists, own documents and entries of feeds, each previewed before it is added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from ingestion.acts import sources
from ingestion.source_lists.merge import SourceListReport
from ingestion.spreadsheets.row import RefusedRow
from ingestion.types.source import ListedSource
from pages._admin.tabs import open_tab
from pages._shared import resources
from pages._shared.elements import act_button, draw_table, draw_upload_limit
from pages._shared.errors import show, show_errors
from pages._shared.interface_language import _
from pages._shared.markdown import escape, quoted
from pages._shared.numbers_and_dates import counted, number
from pages._uploads.uploader import draw_preview_uploader, draw_uploader, empty_uploader, leave, stored_preview

_LIST_TYPES = ["xlsx", "xlsm", "csv", "tsv", "xml", "rss", "atom", "txt"]
_ADDED = "listed added"
# About as many characters of a reason stand beside the place on one line.
_LINE = 75
_WARNINGS = 5
_FOUND = "listed proposed"
_TYPES = [
    "pdf", "docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "odt", "odp", "ods", "epub", "rtf", "html", "htm", "xhtml",
    "md", "txt", "doc", "ppt", "xls", "xml", "eml", "mbox", "msg", "mhtml", "mht",
    "tif", "tiff", "jpg", "jpeg", "png",
]  # fmt: skip
_REFUSED = "documents refused"


def draw_source_list_upload() -> None:
    """Take a source list, preview what it would add, and add it on confirmation."""
    label = _("Source list: a workbook, CSV, sitemap, feed or text with one address a line")
    file = draw_preview_uploader("source list", label, _LIST_TYPES)
    if file is None:
        st.caption(_("You see a preview before anything is added. Columns are recognised by their headings."))
        return
    with show_errors():
        path = stored_preview("source list", file)
        known = resources.store().sources()
        report = resources.kept_reading(_read_report, _("Reading the list …"))(str(path), len(known), known)
        new, existing, refused = st.columns(3)
        new.metric(_("New sources"), number(len(report.new)))
        existing.metric(_("Already listed"), number(report.known))
        refused.metric(_("Refused rows"), number(len(report.refused)))
        # Above what it adds, which may be thousands of rows.
        with st.container(horizontal=True):
            nothing = not report.new and not report.corrected
            if act_button(
                "add_sources",
                _label(report),
                type="primary",
                icon=":material/playlist_add:",
                disabled=nothing,
                key="add listed",
            ):
                add_sources(report.new, report.corrected)
                leave("source list")
            if st.button(_("Discard"), key="leave listed"):
                leave("source list")
        draw_rows(report)


def draw_added() -> None:
    """Draw what was just added and what to do next."""
    if added := st.session_state.get(_ADDED):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/check_circle: {escape(added)}")
            st.button(
                _("Go to Run"), icon=":material/play_circle:", on_click=_go_to_run, type="primary", key="go to run"
            )


def _label(report: SourceListReport) -> str:
    """Return what the button does with a list."""
    new, corrected = len(report.new), len(report.corrected)
    added = counted("Add {n} source", "Add {n} sources", new)
    if not corrected:
        return added
    correction = counted("Correct {n} address", "Correct {n} addresses", corrected)
    return f"{added} · {correction}" if new else correction


def add_sources(new: Sequence[ListedSource], corrected: Sequence[ListedSource] = ()) -> None:
    """Add the sources to the list, correct the addresses of others, and report it at the next drawing."""
    sources.add_sources(resources.context(), new, corrected)
    _remember_added(len(new), len(corrected))


def draw_rows(report: SourceListReport) -> None:
    """Draw the new sources, the columns that are not taken, and the refused rows with their reasons."""
    if report.unused:
        names = ", ".join(quoted(escape(name)) for name in report.unused)
        ignored = counted("Ignored column: {names}", "Ignored columns: {names}", len(report.unused), names=names)
        st.caption(f":material/info: {ignored}")
    if report.new:
        draw_table([_source(source) for source in report.new], "listed new", _("Sources that would be added"), 300)
    if report.corrected:
        st.markdown(_(":material/edit: **Corrected addresses**"))
        draw_table(
            [_source(source) for source in report.corrected], "listed corrected", _("Sources with new addresses"), 200
        )
    draw_refused(report.refused)
    for warning in report.warnings[:_WARNINGS]:
        st.caption(f":material/info: {escape(show(warning))}")
    if len(report.warnings) > _WARNINGS:
        more = counted("{n} more warning", "{n} more warnings", len(report.warnings) - _WARNINGS)
        with st.expander(more, key="more warnings"):
            st.text("\n".join(map(show, report.warnings[_WARNINGS:])))


def draw_refused(refused: Sequence[RefusedRow]) -> None:
    """Draw refused rows with their place and the reason."""
    if refused:
        st.markdown(
            counted(":material/warning: **{n} row refused**", ":material/warning: **{n} rows refused**", len(refused))
        )
        rows = [{_("Place"): show(row.place), _("Reason"): show(row.reason)} for row in refused]
        long = any(len(row[_("Reason")]) > _LINE for row in rows)
        draw_table(rows, "rows not usable", _("Refused rows with their reasons"), 330, wrapped=long)


# A list is large and its report is not changed: it is read once for each state of the source store.
def _read_report(path: str, count: int, _known: Sequence[ListedSource]) -> SourceListReport:  # noqa: ARG001 part of the key
    return sources.read_list(resources.context(), Path(path))


def _go_to_run() -> None:
    st.session_state.pop(_ADDED, None)
    open_tab("run")


def _source(source: ListedSource) -> dict[str, str]:
    return {
        _("Code"): source.code,
        _("Title"): source.title,
        _("Address"): source.url or source.path,
        _("Authority"): source.authority,
        _("Notes"): source.notes,
        _("From"): show(source.origin),
    }


def draw_discovery() -> None:
    """Ask an address for its sitemap or feed and draw the entries, of which some may be added."""
    with st.form("discovery", border=False):
        address = st.text_input(
            _("Address of a feed, a sitemap, or a page that links to one"),
            placeholder="https://example.org/feed.xml",
            key="discovery address",
        )
        words = st.text_input(
            _("Only entries that contain one of these words"),
            placeholder=_("flood, heat"),
            help=_("Separate words with commas."),
            key="discovery words",
        )
        asked = act_button(
            "discover_sources",
            _("Find sources"),
            in_form=True,
            icon=":material/travel_explore:",
            type="primary",
            key="discover",
        )
    if asked:
        st.session_state.pop(_FOUND, None)
        asking = _("Asking {address} (up to a minute) …").format(address=escape(address))
        with show_errors(), st.spinner(asking, show_time=True):
            contains = [word.strip() for word in words.split(",") if word.strip()]
            st.session_state[_FOUND] = sources.discover_sources(resources.context(), address.strip(), contains)
    if _FOUND in st.session_state:
        _draw_found(st.session_state[_FOUND])


def _draw_found(report: SourceListReport) -> None:
    for warning in report.warnings:
        st.caption(f":material/info: {escape(show(warning))}")
    draw_refused(report.refused)
    if not report.new:
        nothing = counted(
            "Nothing new: {n} entry is already on the list.",
            "Nothing new: {n} entries are already on the list.",
            report.known,
        )
        st.info(nothing, icon=":material/done_all:")
        return
    rows = [{"add": True, "title": source.title, "address": source.url, "notes": source.notes} for source in report.new]
    edited = st.data_editor(
        pd.DataFrame(rows),
        hide_index=True,
        disabled=["title", "address", "notes"],
        height=min(38 + 35 * len(rows), 360),
        column_config={
            "add": st.column_config.CheckboxColumn(_("Add"), width=60),
            "title": _("Title"),
            "address": _("Address"),
            "notes": _("Notes"),
        },
        key="proposals",
        alt=_("Proposed sources with a box to add each"),
    )
    chosen = [source for source, add in zip(report.new, edited["add"], strict=True) if add]
    st.caption(
        _("{new} proposed, {known} already on the list.").format(
            new=number(len(report.new)), known=number(report.known)
        )
    )
    with st.container(horizontal=True):
        if act_button(
            "add_sources",
            _("Add {chosen} of {total}").format(chosen=number(len(chosen)), total=number(len(report.new))),
            type="primary",
            disabled=not chosen,
            key="accept",
        ):
            add_sources(chosen)
            del st.session_state[_FOUND]
            st.rerun()
        if st.button(_("Discard"), key="leave proposals"):
            del st.session_state[_FOUND]
            st.rerun()


def draw_document_upload() -> None:
    """Take files and add them to the list."""
    draw_upload_limit()
    files = draw_uploader("document", "add_own_files", _("Your own documents"), _TYPES, accept_multiple_files=True)
    st.caption(_("They are stored in the workspace and go through every phase, like downloaded documents."))
    several = counted("Add {n} document", "Add {n} documents", len(files))
    label = several if len(files) > 1 else _("Add document")
    if act_button(
        "add_own_files", label, type="primary", icon=":material/note_add:", disabled=not files, key="add own files"
    ):
        with show_errors():
            report = sources.add_own_files(resources.context(), [(file.name, file) for file in files])
            _remember_added(len(report.new))
            st.session_state[_REFUSED] = report.refused
            empty_uploader("document")
    draw_refused(st.session_state.get(_REFUSED, ()))


def _remember_added(count: int, corrected: int = 0) -> None:
    told = [
        counted("{n} source added.", "{n} sources added.", count),
        counted("{n} address corrected.", "{n} addresses corrected.", corrected) if corrected else "",
        _("The next run checks the licences."),
    ]
    st.session_state[_ADDED] = " ".join(filter(None, told))
