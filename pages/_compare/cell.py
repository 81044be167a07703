"""An open cell: the whole answer, its quotes with links to their places, and a person's decision."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.comparisons import ask_cell_again, comparison_cells
from ingestion.dataset.comparison.comparison import CellPlace, Comparison, ComparisonCell, ComparisonColumn
from pages._compare.decision import draw_decision
from pages._compare.new_comparison import shown_columns
from pages._shared import resources
from pages._shared.accessibility import in_language
from pages._shared.elements import act_button, open_in_address, translated_dialog
from pages._shared.errors import show, show_error, show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs, quoted
from pages._shared.numbers_and_dates import counted, moment
from rag_engine.answering.reference_list import references_of
from rag_engine.conversations.describe_hit import is_ranking_note
from rag_engine.text.excerpt import beginning
from rag_engine.text.neutralise import one_line
from rag_engine.types.answer import QUOTED, Citation
from rag_engine.viewer.address import DocumentPlace

CELL = "cell"
# Characters of a passage that does not answer.
_EXCERPT = 500


@translated_dialog(
    to_translate("Answer"), width="large", icon=":material/table_chart:", on_dismiss=lambda: open_in_address(CELL)
)
def draw_cell(comparison: Comparison, question: str, column: ComparisonColumn, *, asking: bool, present: bool) -> None:
    """Draw a cell; `asking` while a job is at it, `present` where the collection still has its column."""
    label = shown_columns(comparison.by, [column])[column.key]
    st.markdown(f"**{escape(question)}**  \n{escape(label)}")
    cell = comparison_cells(resources.context(), comparison.id, [(question, column.key)]).get((question, column.key))
    if cell is None:
        st.info(_("Waiting …") if asking else _("Not asked yet."), icon=":material/hourglass_empty:")
    else:
        _draw_answer(cell)
        if cell.status != "failed" and not asking:
            draw_decision(comparison.id, cell)
    if not present:
        st.caption(_(":material/info: This column is no longer in the collection."))
    asked = _("Asking …") if asking else _("Ask again") if cell else _("Ask this cell")
    with st.container(horizontal=True):
        if act_button(
            "ask_cell_again",
            asked,
            key="comparison ask again",
            icon=":material/refresh:",
            disabled=asking or not present,
        ):
            with show_errors():
                ask_cell_again(resources.context(), comparison.id, question, column.key)
                open_in_address(CELL)
                st.rerun()
        _draw_next(comparison, (question, column.key))


def _draw_next(comparison: Comparison, here: CellPlace) -> None:
    """Draw the way to the next cell with an answer that nobody has decided on."""
    places, columns = comparison.places, len(comparison.columns)
    at = places.index(here)
    following = (*range(at + 1, len(places)), *range(at))
    undecided = (n for n in following if comparison.state_of(places[n]) in ("answered", "closest passages"))
    found = next(undecided, None)
    if found is not None and st.button(
        _("Next undecided cell"), key="comparison next", icon=":material/arrow_forward:", type="tertiary"
    ):
        open_in_address(CELL, f"{found // columns}.{found % columns}")
        st.rerun()


def _draw_answer(cell: ComparisonCell) -> None:
    if cell.status == "failed":
        show_error(show(cell.text))
        return
    if cell.status == "nothing found":
        with in_language(resources.text_language(cell.text), "cell-refusal"):
            st.info(escape_paragraphs(cell.text), icon=":material/search_off:")
    else:
        # Quotations are drawn below, each with its place.
        said = cell.text.partition(cell.quoted[0].text)[0] if cell.quoted else cell.text
        with in_language(resources.text_language(cell.text), "cell-answer"):
            st.markdown(answer_markdown(said.strip(), _badge))
    _draw_quotes(cell)
    if cell.citations and not cell.evidence:
        with st.expander(_("Nearest passages, which do not answer"), icon=":material/manage_search:"):
            for number, citation in enumerate(cell.citations):
                _draw_quote(
                    citation,
                    quoted(escape(beginning(one_line(citation.quote, limit=None), _EXCERPT))),
                    f"nearest {number}",
                )
    for warning in cell.warnings:
        if warning != cell.text and not is_ranking_note(warning):
            st.caption(f":material/info: {escape(show(warning))}")
    st.caption(f":material/manage_search: {escape(cell.effort.describe(WORDING))}.")
    written = _("quotations only") if _is_quoted(cell) else escape(cell.generator)
    st.caption(_("Asked {moment}. Answer: {answer}.").format(moment=moment(cell.asked), answer=written))


def _draw_quotes(cell: ComparisonCell) -> None:
    """Draw the quotes that answer, or the nearest one, and fold the others."""
    quotes = list(enumerate(zip(_said(cell), cell.evidence, strict=True)))
    first = (cell.answering or (cell.lead,)) if _is_quoted(cell) else range(len(quotes))
    for number, (said, citation) in quotes:
        if number in first:
            answers = _is_quoted(cell) and number in cell.answering
            _draw_quote(citation, said, f"quote {number}", answers=answers)
    others = [(number, *quote) for number, quote in quotes if number not in first]
    if others:
        with st.expander(counted("{n} more quote", "{n} more quotes", len(others)), icon=":material/format_quote:"):
            for number, said, citation in others:
                _draw_quote(citation, said, f"quote {number}")


def _is_quoted(cell: ComparisonCell) -> bool:
    return cell.generator == QUOTED


def short_language(cell: ComparisonCell) -> str:
    """Return the code of the language of what the table shows of a cell, "" where it cannot be told."""
    if _is_quoted(cell) and cell.first is not None:
        return resources.document_language(cell.first.document_id)
    return resources.text_language(cell.short)


def _badge(n: int) -> str:
    return f":green-badge[{n}]"


def _said(cell: ComparisonCell) -> list[str]:
    """Return the markdown of each quote; in an answer of quotes with the answering words in bold."""
    if cell.quoted:
        return [answer_markdown(one.text, _badge) for one in cell.quoted]
    return [
        f"{_badge(citation.n)} {quoted(escape(one_line(citation.quote, limit=None)))}" for citation in cell.evidence
    ]


def _draw_quote(citation: Citation, said: str, key: str, *, answers: bool = False) -> None:
    """Draw a quote with what is known of its document, and the link to its place."""
    with in_language(resources.document_language(citation.document_id), f"cell-{key}"):
        st.markdown("\n".join(f"> {line}" for line in said.splitlines()))
    [reference] = references_of([citation])
    with st.container(horizontal=True, vertical_alignment="center", key=f"comparison {key}"):
        if answers:
            st.badge(_("Answers the question"), icon=":material/check:", color="green")
        st.caption(escape(reference.describe(WORDING)), width="stretch")
        if resources.find_document(citation.document_id) is None:
            st.caption(_("No longer in the collection."), width="content")
            return
        place = DocumentPlace(citation.document_id, citation.page, (citation.start, citation.end))
        st.page_link(
            "pages/document.py",
            label=_("Open document"),
            icon=":material/description:",
            query_params=place.parameters(),
        )
