"""Entries of a notebook: filtered by tag, ordered, annotated and exported."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from pages._ask.form import draw_records
from pages._shared import resources
from pages._shared.accessibility import in_language
from pages._shared.elements import draw_more, draw_way_back, keep_way_back
from pages._shared.errors import show_errors, showing_errors
from pages._shared.exports import draw_exports
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs, quoted
from pages._shared.numbers_and_dates import counted, moment, number
from pages._shared.page_names import citation_page, citation_place
from pages._shared.quotations import draw_quotations
from pages._shared.shown_names import notebook_name
from rag_engine.answering.reference_list import references_of
from rag_engine.conversations.person import owns
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import is_kept
from rag_engine.engine import Engine
from rag_engine.notebook.notebook import (
    Notebook,
    NotebookEntry,
    read_tags,
    with_entry,
    with_entry_moved,
    with_note,
    without_entry,
)
from rag_engine.notebook.store import change_notebook
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.takeaway.exported_text import ExportedText, export_notebook, missing_documents, reply_notes
from rag_engine.types.answer import Citation
from rag_engine.viewer.address import DocumentPlace

# Entries drawn at once: each has a dozen widgets.
_SHOWN = 20


def draw_entries(engine: Engine, notebook: Notebook) -> None:
    """Draw the entries that have one of the chosen tags, and the button that exports them."""
    workspace = resources.workspace()
    draw_way_back(f"notebook undo {notebook.id}")
    if not notebook.entries:
        st.info(
            _("No entries yet. On the Ask page, “Add to notebook” keeps an answer or a quote here."),
            icon=":material/bookmark_add:",
        )
        return
    shown = _draw_filter(notebook)
    with st.container(horizontal=True, vertical_alignment="center"):
        counts = counted(
            "{shown} of {n} entry", "{shown} of {n} entries", len(notebook.entries), shown=number(len(shown))
        )
        st.caption(counts, width="content")
        with st.popover(_("Export"), icon=":material/download:", type="tertiary", key="notebook export"):
            draw_exports(
                partial(_exported, engine, notebook, shown), notebook_name(notebook), f"notebook {notebook.id}"
            )
    _draw_list(workspace, notebook, shown, _present(engine))


def _draw_filter(notebook: Notebook) -> list[NotebookEntry]:
    """Draw the choice of tags, if there are any; return the entries that have one of those chosen."""
    if not notebook.tags:
        return list(notebook.entries)
    # A key for each set of tags: a chosen one may have gone from all entries.
    key = f"notebook tags {hash(notebook.tags)}"
    chosen = set(st.pills(_("Tags"), notebook.tags, selection_mode="multi", key=key, format_func=escape))
    return [entry for entry in notebook.entries if not chosen or chosen & set(entry.tags)]


def _draw_list(workspace: Path, notebook: Notebook, shown: Sequence[NotebookEntry], present: Collection[str]) -> None:
    id, own = notebook.id, owns(resources.person(), notebook.owner)
    key = f"notebook shown {id}"
    most: int = st.session_state.setdefault(key, _SHOWN)
    for position, entry in enumerate(shown[:most]):
        with st.container(border=True, key=f"entry-{entry.id}"):
            draw_entry(entry, present)
            with st.container(horizontal=True, vertical_alignment="center"):
                draw_origin(workspace, entry)
                if not own:
                    continue
                draw_note(workspace, id, entry)
                _draw_moves(workspace, id, entry, shown, position)
                st.button(
                    _("Remove"),
                    icon=":material/delete:",
                    type="tertiary",
                    key=f"remove {entry.id}",
                    on_click=_remove,
                    args=(workspace, id, entry),
                )
    if len(shown) > most:
        label = counted("Show {n} more entry", "Show {n} more entries", len(shown) - most)
        draw_more(key, label, most + _SHOWN)


def _draw_moves(workspace: Path, id: str, entry: NotebookEntry, shown: Sequence[NotebookEntry], position: int) -> None:
    """Draw the buttons that move an entry past its neighbour among those that are shown."""
    first, last = position == 0, position == len(shown) - 1
    # Down is the neighbour's way up.
    above = (entry.id, shown[position - 1].id)
    below = (shown[position + 1].id, entry.id) if not last else above
    for name, key, icon, (moved, before), disabled in (
        (_("Move up"), "move up", ":material/arrow_upward:", above, first),
        (_("Move down"), "move down", ":material/arrow_downward:", below, last),
    ):
        st.button(
            "",
            icon=icon,
            help=name,
            type="tertiary",
            key=f"{key} {entry.id}",
            disabled=disabled,
            on_click=showing_errors(
                change_notebook, workspace, id, partial(with_entry_moved, id=moved, before=before), resources.person()
            ),
        )


def _remove(workspace: Path, id: str, entry: NotebookEntry) -> None:
    with show_errors():
        before = change_notebook(workspace, id, lambda notebook: without_entry(notebook, entry.id), resources.person())[
            0
        ]
        place = next((i for i, one in enumerate(before.entries) if one.id == entry.id), len(before.entries))

    def back() -> None:
        change_notebook(workspace, id, lambda notebook: with_entry(notebook, entry, place), resources.person())

    keep_way_back(f"notebook undo {id}", to_translate("Entry removed."), back)


def _present(engine: Engine) -> set[str]:
    return {record.document_id for record in engine.collection.documents()}


def _exported(engine: Engine, notebook: Notebook, shown: Sequence[NotebookEntry]) -> ExportedText:
    return export_notebook(replace(notebook, name=notebook_name(notebook)), shown, _present(engine), WORDING)


def draw_entry(entry: NotebookEntry, present: Collection[str]) -> None:
    """Draw an entry; `present` are the ids of the documents that are still in the collection."""
    st.markdown(f"**{escape(entry.question)}**")
    if entry.answer is None:
        _draw_quotes(entry.quotes, present, entry.id)
    else:
        _draw_answer(entry.answer, present, entry.id)
    for title in missing_documents(entry.citations, present):
        st.caption(_(":material/info: No longer in the collection: {title}").format(title=escape(title)))
    if entry.note:
        st.markdown(escape_paragraphs(entry.note))
    if entry.tags:
        st.markdown(" ".join(f":gray-badge[{escape(tag)}]" for tag in entry.tags))


def _draw_quotes(quotes: tuple[Citation, ...], present: Collection[str], key: str) -> None:
    for place, quote in enumerate(quotes):
        with in_language(resources.document_language(quote.document_id), f"quote-{place}-{key}"):
            st.markdown(f"> {quoted(escape(quote.quote))} {_mark(quote.n, [quote], present)}")
    _draw_references(quotes, present)


def _draw_answer(reply: Reply, present: Collection[str], key: str) -> None:
    cited = {n: [one for one in reply.citations if one.n == n] for n in {one.n for one in reply.citations}}
    # If each mark of a source has a separate citation, it leads to that one.
    in_turn = {n: iter(of) for n, of in cited.items() if reply.text.count(f"[Source {n}]") == len(of)}

    def mark(n: int) -> str:
        return _mark(n, cited.get(n, ()), present)

    def mark_in_text(n: int) -> str:
        own = next(in_turn.get(n, iter(())), None)
        return _mark(n, (own,), present) if own else mark(n)

    if reply.quoted:
        documents = {citation.n: citation.document_id for citation in reply.citations}

        def mark_of(place: int, n: int) -> str:
            return _mark(n, (reply.citations[place],), present) if place >= 0 else mark(n)

        draw_quotations(
            reply.text,
            reply.quoted,
            reply.citations,
            lambda n: resources.document_language(documents.get(n, "")),
            key,
            mark_of,
        )
    else:
        with in_language(resources.text_language(reply.text), f"answer-{key}"):
            st.markdown(answer_markdown(reply.text, mark_in_text))
    if reply.records:
        draw_records(reply, mark)
    _draw_references(reply.citations, present)
    for note in reply_notes(reply, WORDING):
        st.caption(f":material/info: {escape(note)}")


def _draw_references(citations: Sequence[Citation], present: Collection[str]) -> None:
    """Draw a line for each cited document, with a link to each page if several are cited."""
    lines = []
    for reference in references_of(citations):
        of = [citation for citation in citations if citation.document_id == reference.document_id]
        marks = " ".join(_mark(n, [citation for citation in of if citation.n == n], present) for n in reference.numbers)
        firsts = {citation.page: citation for citation in reversed(of)}
        links = [f"[{citation_page(citation)}]({_address(citation)})" for _page, citation in sorted(firsts.items())]
        pages = " · ".join(links) if len(links) > 1 and reference.document_id in present else ""
        lines.append(" · ".join(filter(None, (f"{marks} {escape(reference.describe(WORDING))}", pages))))
    st.caption("  \n".join(lines))


def _mark(n: int, cited: Sequence[Citation], present: Collection[str]) -> str:
    """Return the markdown of a mark: a link to its first citation if the document is present."""
    badge = f":green-badge[{n}]"
    if not cited or cited[0].document_id not in present:
        return badge
    title = escape(citation_place(cited[0]))
    return f'[{badge}]({_address(cited[0])} "{title}")'


def _address(citation: Citation) -> str:
    """Return the address of the page and the passage of a citation."""
    place = DocumentPlace(citation.document_id, citation.page, (citation.start, citation.end))
    return f"document?{urlencode(place.parameters())}"


def draw_origin(workspace: Path, entry: NotebookEntry) -> None:
    """Draw the time of the question, with a link to its search or its kept conversation."""
    st.caption(moment(entry.asked), width="content")
    if not entry.conversation:
        st.page_link(
            "pages/search.py",
            label=_("Search again"),
            icon=":material/search:",
            query_params=PassageQuery(entry.question).parameters(),
        )
    elif is_kept(workspace, entry.conversation, resources.person()):
        st.page_link(
            "pages/ask.py",
            label=_("Open conversation"),
            icon=":material/forum:",
            query_params={"conversation": entry.conversation},
        )
    else:
        st.caption(_("The conversation was deleted."), width="content")


def draw_note(workspace: Path, notebook: str, entry: NotebookEntry) -> None:
    """Draw the button behind which note and tags are edited."""
    note, tags = f"noted {entry.id}", f"tagged {entry.id}"
    with st.popover(_("Note and tags"), icon=":material/edit_note:", type="tertiary", key=f"note {entry.id}"):
        st.text_area(_("Note"), entry.note, key=note, width=460)
        st.text_input(_("Tags"), ", ".join(entry.tags), key=tags, help=_("Separated by commas."))
        st.button(
            _("Save"),
            icon=":material/check:",
            key=f"save {entry.id}",
            on_click=_save,
            args=(workspace, notebook, entry.id),
        )


def _save(workspace: Path, notebook: str, id: str) -> None:
    with show_errors():
        note, tags = str(st.session_state[f"noted {id}"]).strip(), read_tags(st.session_state[f"tagged {id}"])
        change_notebook(workspace, notebook, lambda one: with_note(one, id, note, tags), resources.person())
