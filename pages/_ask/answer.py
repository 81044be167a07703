"""An answer with its sources, each with its page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from functools import partial
from typing import Literal

import streamlit as st

from pages._ask.form import draw_records
from pages._ask.take_away import draw_answer_row, draw_quote_row
from pages._ask.translation import can_translate, draw_translation
from pages._ask.turn_key import turn_key
from pages._document.layout_view import draw_layout_image
from pages._shared import resources
from pages._shared.accessibility import in_language, spoken_answer
from pages._shared.badges import badges, tier_badge, tier_help, version_badge
from pages._shared.elements import draw_original, draw_when_done
from pages._shared.errors import show, show_error, show_errors
from pages._shared.filter_widgets import WORDING, document_titles, named_values
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs, highlighted, quoted
from pages._shared.numbers_and_dates import counted, number
from pages._shared.page_names import citation_place, page_choice, page_place
from pages._shared.quotations import draw_quotations
from pages._shared.shown_names import page_noun, shown_name
from rag_engine.answering.chances import RefusalRates
from rag_engine.answering.reference_list import licence_text
from rag_engine.answering.replies import CHECKED_MARK
from rag_engine.answering.support import support_summary, unsupported_sentences
from rag_engine.answering_documents import filter_obstacles
from rag_engine.chunking.indexed_text import cited as cited_section
from rag_engine.chunking.indexed_text import unnumbered
from rag_engine.controller.describe import describe_step
from rag_engine.conversations.describe_hit import describe_scores, is_ranking_note
from rag_engine.conversations.reply import Reply, ShownLink, ShownSource
from rag_engine.conversations.store import Conversation
from rag_engine.filters import DOCUMENT, Filter
from rag_engine.passage_search.describe import describe_obstacle
from rag_engine.text.excerpt import beginning, excerpt
from rag_engine.text.sentences import Span
from rag_engine.types.answer import QUOTED, Citation
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.address import DocumentPlace

# A page as it looks, or its extracted text on a plain sheet.
DrawnAs = Literal["page", "sheet"]

_EXCERPT = 480
# Characters of a quote that are shown under the pointer.
_HINT = 400
# Seconds that a page may take before its place says so, and between looks whether it is there.
PATIENCE = 5.0
_LOOK_SECONDS = 1.0

_STEPS = {
    "plan": to_translate("query analysis"),
    "encode": to_translate("embedding"),
    "dense": to_translate("search by meaning"),
    "sparse": to_translate("search by words"),
    "fuse": to_translate("ranking"),
    "rank": to_translate("reranking"),
    "parents": to_translate("reading the passages"),
    "judge": to_translate("judging the passages"),
    "controller": to_translate("searching for each part"),
    "first_words": to_translate("first words of the answer"),
    "answer": to_translate("complete answer with checked citations"),
    "support": to_translate("comparing the sentences with their sources"),
}
# These follow one another; the other steps are parts of them.
_CONSECUTIVE_STEPS = ("plan", "retrieval", "judge", "answer", "support")
# Of a mark whose sentence is not called supported.
_COLOURS = {"unsupported": "orange", "partly supported": "orange", "not checked": "gray"}
_GENERATORS = {"extractive": to_translate("quotations only")}


def draw_reply(conversation: Conversation, number: int, reply: Reply, *, latest: bool) -> None:
    """Draw the reply of a turn; the latest one shows its sources, whose pages are drawn beside it.

    The sources of other turns are folded away until a mark, or a person, opens them.
    """
    numbers = {source.n for source in reply.sources}
    firsts = {citation.n: citation for citation in reversed(reply.citations)}
    with spoken_answer(f"{number}"):
        _draw_text(conversation, number, reply, lambda n: _mark(n, number, linked=n in numbers, cited=firsts.get(n)))
    if reply.status == "answered" or reply.quotations:
        draw_answer_row(conversation, number)
    for warning in reply.warnings:
        if warning != reply.text and not is_ranking_note(warning):
            st.caption(f":material/info: {escape(show(warning))}")
    if reply.sources:
        _draw_sources(conversation, number, reply, latest=latest)
    if reply.queries:
        _draw_details(reply)
    elif reply.steps:
        # Of an answer that ended among its searches.
        st.caption("  \n".join(escape(describe_step(step, WORDING)) for step in reply.steps))


def _draw_text(conversation: Conversation, turn: int, reply: Reply, mark: Callable[[int], str]) -> None:
    """Draw what a reply says, with each mark as `mark` writes it, its records and how far it is supported."""
    settings = conversation.turns[turn].settings
    languages = {source.n: source.language for source in reply.sources}

    def language_of(n: int) -> str:
        return languages.get(n, "")

    def mark_of(_place: int, n: int) -> str:
        return mark(n)

    if reply.status == "error":
        show_error(show(reply.text))
    elif reply.status == "insufficient_evidence":
        with in_language(resources.text_language(reply.text), f"refusal-{turn}"):
            st.info(escape_paragraphs(reply.text), icon=":material/search_off:")
        rates = _told_rates(reply.refusals) if reply.refusals else None
        st.caption(escape(_advice(settings.wanted if settings else {})), help=rates)
        if reply.withheld:
            with st.expander(_("The model's text"), icon=":material/edit_note:"):
                st.markdown(escape_paragraphs(reply.withheld))
    elif reply.generator == QUOTED and reply.quoted:
        draw_quotations(reply.text, reply.quoted, reply.citations, language_of, f"{turn}", mark_of)
    else:
        with in_language(resources.text_language(reply.text), f"answer-{turn}"):
            st.markdown(answer_markdown(reply.text, _by_support(reply, mark)))
    if reply.quotations:
        draw_quotations(reply.quotations, reply.quoted, reply.citations, language_of, f"{turn}-beside", mark_of)
    if summary := support_summary(reply.support, reply.judge, WORDING):
        _draw_support(reply, summary, mark)
    if reply.records:
        draw_records(reply, mark)


def _by_support(reply: Reply, mark: Callable[[int], str]) -> Callable[[int], str]:
    """Return `mark` for the marks of a text in turn, in the colours of their labels."""
    places = [match.start() for match in CHECKED_MARK.finditer(reply.text)]
    labels = iter([next((one.label for one in reversed(reply.support) if one.start <= at), "") for at in places])

    def coloured(n: int) -> str:
        colour = _COLOURS.get(next(labels, ""))
        return mark(n).replace(":green-badge[", f":{colour}-badge[", 1) if colour else mark(n)

    return coloured


def _told_rates(rates: RefusalRates) -> str:
    """Return how often refusing is right, in words."""
    return _(
        "In our tests, refused by mistake: {mistaken} of {answerable} questions with an answer; rightly refused: "
        "{caught} of {unanswerable} without one."
    ).format(
        mistaken=number(rates.mistaken),
        answerable=number(rates.answerable),
        caught=number(rates.caught),
        unanswerable=number(rates.unanswerable),
    )


def _draw_support(reply: Reply, summary: str, mark: Callable[[int], str]) -> None:
    """Draw how many sentences are supported, and those that are not with the reasons."""
    st.caption(f":material/fact_check: {escape(summary)}")
    doubtful = list(unsupported_sentences(reply.text, reply.support, WORDING))
    if doubtful:
        with st.expander(_("Sentences to check"), icon=":material/rule:", type="compact"):
            for line in doubtful:
                st.markdown(answer_markdown(f"- {line}", mark))


def partial_answer(text: str) -> str:
    """Return the markdown of an unfinished answer, whose marks are not checked and link nowhere."""
    return answer_markdown(text, lambda n: _mark(n, 0, linked=False))


def _mark(n: int, turn: int, *, linked: bool, cited: Citation | None = None) -> str:
    """Return the markdown of a mark; a linked one shows title, page and quote under the pointer."""
    badge = f":green-badge[{n}]"
    if not linked:
        return badge
    hint = f"{citation_place(cited)}: {cited.quote}" if cited else ""
    return f'[{badge}](#{_anchor(turn, n)} "{escape(beginning(hint, _HINT))}")'


def _anchor(turn: int, n: int) -> str:
    return f"answer-{turn}-source-{n}"


def _draw_sources(conversation: Conversation, number: int, reply: Reply, *, latest: bool) -> None:
    key = turn_key(conversation, number)
    cited = list(dict.fromkeys(citation.n for citation in reply.citations))
    if reply.quoted:
        # The first quotation is the answer, or that of each side.
        cited = list(dict.fromkeys(one.n for one in reply.quoted if one.side)) or cited[:1]
    first = [source for source in reply.sources if source.n in cited]
    rest = [source for source in reply.sources if source.n not in cited]
    draw_first, draw_rest = (partial(_draw_cited, some, conversation, number, reply) for some in (first, rest))
    if first and latest:
        draw_first()
    elif first:
        title = counted("{n} source cited", "{n} sources cited", len(first))
        with st.container(key=f"sources-{number}"):
            _draw_folded(title, ":material/format_quote:", f"{key} cited", draw_first)
    if rest:
        if first:
            title = counted("{n} related passage", "{n} related passages", len(rest))
        elif reply.status == "insufficient_evidence":
            title = counted("{n} nearest passage", "{n} nearest passages", len(rest))
        else:
            title = counted("{n} passage found", "{n} passages found", len(rest))
        _draw_folded(title, ":material/manage_search:", f"{key} rest", draw_rest)


def _draw_cited(sources: Sequence[ShownSource], conversation: Conversation, number: int, reply: Reply) -> None:
    """Draw sources, each with its citations."""
    for source in sources:
        citations = tuple(citation for citation in reply.citations if citation.n == source.n)
        _draw_source(source, citations, conversation, number)


@st.fragment
def _draw_folded(
    title: str, icon: str, key: str, draw: Callable[[], object], kind: Literal["default", "compact"] = "default"
) -> None:
    """Draw an expander whose content is drawn once it is opened: a conversation has hundreds of sources."""
    with st.expander(title, icon=icon, key=key, on_change="rerun", type=kind) as folded:
        if folded.open:
            draw()


def _advice(wanted: Filter) -> str:
    """Return advice for an unanswered question: which filters leave no document, or what to try."""
    snapshot = resources.engine().collection.snapshot()
    if not snapshot.documents:
        return _("No document is indexed yet, so there is nothing to search.")
    obstacles = filter_obstacles(wanted, snapshot.facets, snapshot.documents)
    if obstacles:
        named = (
            replace(obstacle, values=tuple(document_titles(obstacle.values))) if obstacle.name == DOCUMENT else obstacle
            for obstacle in obstacles
        )
        return " ".join(describe_obstacle(obstacle, WORDING) for obstacle in named)
    if not wanted:
        return _("Try rephrasing.")
    return counted(
        "Try rephrasing, or clear the active filter.", "Try rephrasing, or clear the {n} active filters.", len(wanted)
    )


@st.fragment
def _draw_source(source: ShownSource, citations: tuple[Citation, ...], conversation: Conversation, number: int) -> None:
    place, key = _anchor(number, source.n), f"{turn_key(conversation, number)} source {source.n}"
    with st.container(border=True, key=place):
        st.subheader(f":green-badge[{source.n}] {escape(source.title)}", anchor=place)
        known = (source.authority, _place(source), source.file, licence_text(source.licence, WORDING))
        st.caption(" · ".join(escape(part) for part in known if part))
        if cited_as := cited_place(source, citations[0].pinpoint if citations else ""):
            st.markdown(cited_as)
        document = resources.find_document(source.document_id)
        marks = (tier_badge(source.tier), version_badge(document), badges(source))
        st.markdown(" ".join(filter(None, marks)), help=tier_help(source) or None)
        quotes = [(citation.start - source.start, citation.end - source.start) for citation in citations]
        with in_language(source.language, key):
            st.markdown(highlighted(excerpt(source.text, quotes, source.passage[0] - source.start, _EXCERPT)))
        if source.linked:
            _draw_links(source, key)
        if citations:
            with st.container(horizontal=True):
                draw_quote_row(conversation, number, source.n, citations, key)
        if document is None:
            st.caption(_(":material/info: This document is no longer in the collection."))
        else:
            _draw_original(source, document, citations, key)
        if can_translate(source) and st.toggle(_("Translate"), key=f"{key} translation"):
            draw_translation(source, citations, conversation.turns[number].asked)
        _draw_why(source, key)


def cited_place(source: ShownSource, pinpoint: str = "") -> str:
    """Return the place of a passage: "**Article 9 (3)** · Paris Agreement", "" if none is known.

    The section and paragraph are those of its best hit, or the `pinpoint` of a quotation.

    Below section, clause and act come the headings above the passage, from the outermost on. An act that is the
    document itself is named by its title already, and a heading is not repeated.
    """
    section = pinpoint or cited_section(source.section, source.clause)
    act = "" if _same(source.act, source.title) else source.act
    named = (source.title, source.act, source.section)
    titles = unnumbered(source.section, source.headings) if source.section else source.headings
    headings = [escape(title) for title in titles if not any(_same(title, other) for other in named)]
    place = " · ".join(part for part in (f"**{escape(section)}**" if section else "", escape(act)) if part)
    return "  \n".join(line for line in (place, f":gray[{' › '.join(headings)}]" if headings else "") if line)


def index_entries(source: ShownSource) -> str:
    """Return the index entries of the passage, one a line: "Listed in the index under “loss and damage”"."""
    return "  \n".join(f":material/toc: {escape(one[:1].upper() + one[1:])}" for one in source.indexed_under)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _draw_why(source: ShownSource, key: str) -> None:
    """Draw the index entries, ranks and scores that led to a source, folded away."""
    scores = describe_scores(source.scores, WORDING) if source.scores else ()
    lines = [line for line in (index_entries(source), *map(escape, scores)) if line]
    if lines:
        _draw_folded(
            _("Why this source"), ":material/help:", f"{key} why", lambda: st.caption("  \n".join(lines)), "compact"
        )


def _draw_original(source: ShownSource, document: DocumentRecord, citations: tuple[Citation, ...], key: str) -> None:
    page = citations[0].page if citations else source.page
    passage = (citations[0].start, citations[0].end) if citations else source.passage
    named = {**source.named_pages([page]), **(citations[0].named_page if citations else {})}
    place = page_place(source.file, named)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = _("Show {place}").format(place=place) if place and source.pages > 1 else _("Show the page")
        shown = st.toggle(label, key=f"{key} page")
        whole = st.popover(_("Full passage"), icon=":material/article:", type="tertiary")
        with whole, in_language(source.language, f"{key}-passage"):
            st.text(source.text)
        draw_original(document, key)
        st.page_link(
            "pages/document.py",
            label=_("Open document"),
            icon=":material/description:",
            query_params=DocumentPlace(document.document_id, page, passage).parameters(),
        )
    if shown:
        pages = list(range(min(page, source.page), max(page, source.last_page) + 1))
        if len(pages) > 1:
            choice = partial(page_choice, source.file, source.named_pages(pages) | named)
            noun = page_noun(source.file)
            page = st.segmented_control(noun, pages, default=page, format_func=choice, key=f"{key} pages") or page
        quotes = tuple((citation.start, citation.end) for citation in citations)
        start, end = source.passage
        inside = all(start <= first and last <= end for first, last in quotes)
        draw_page(document, source.passage if inside else (source.start, source.end), quotes, page, key)


def _draw_links(source: ShownSource, key: str) -> None:
    """Draw a button for each place that the source refers to."""
    with st.container(horizontal=True):
        for number, link in enumerate(source.linked):
            label = _("Refers to {place}").format(place=escape(link.label))
            with st.popover(label, icon=":material/link:", type="tertiary", key=f"{key} link {number}"):
                _draw_link(source, link, f"{key} link {number}")


def _draw_link(source: ShownSource, link: ShownLink, key: str) -> None:
    page = page_place(source.file, {link.page: link.page_label}) if source.pages > 1 else ""
    st.markdown(" · ".join(filter(None, (f"**{escape(link.label)}**", page))))
    st.text(link.text)
    document = resources.find_document(link.document_id)
    # Drawn when it is asked for: a passage may refer to ten others.
    if document is not None and st.toggle(_("Show its page"), key=f"{key} page"):
        draw_page(document, (link.start, link.end), (), link.page, key)


def draw_page(document: DocumentRecord, passage: Span, quotes: tuple[Span, ...], page: int, key: str) -> DrawnAs | None:
    """Draw a page of a document with the passage and the quotes in it marked, and return as what.

    None for the layout of an office file, and for a page that is slow to draw and follows, or cannot be drawn at all.
    """
    with show_errors(), st.container(border=True):
        if draw_layout_image(document, quotes or (passage,), page, key):
            return None
        drawing = resources.engine().drawings.page_image(document, *passage, quotes, page=page)
        with st.spinner(_("Drawing the page …")):
            unfinished = wait([drawing], PATIENCE).not_done
        if unfinished:
            st.info(_("This page takes longer to draw …"), icon=":material/hourglass_top:")
            draw_when_done(drawing, _LOOK_SECONDS)
            return None
        kind: DrawnAs = "page" if document.file.lower().endswith(".pdf") else "sheet"
        if drawing.exception():
            with show_errors():
                drawing.result()
            drawing = resources.engine().drawings.text_image(document, *passage, quotes)
            kind = "sheet"
        if kind == "sheet":
            st.caption(_(":material/info: Extracted text, not the original layout."))
        alt = _("Page of {title} with the passage marked").format(title=document.shown_title)
        st.image(drawing.result(), width="stretch", alt=alt)
        return kind
    return None


def _place(source: ShownSource) -> str:
    if source.pages <= 1:
        return ""
    pages = range(source.page, max(source.page, source.last_page) + 1)
    place = page_place(source.file, source.named_pages(pages))
    # Of printed numbers nobody has counted how many there are.
    return place if source.page_labels or not place else _("{place} of {total}").format(place=place, total=source.pages)


def _draw_details(reply: Reply) -> None:
    total = sum(reply.seconds.get(step, 0.0) for step in _CONSECUTIVE_STEPS)
    title = _("How this was found · {seconds} s").format(seconds=number(total, 1))
    with st.expander(title, type="compact"):
        lines = [named_values(_("Searched for"), " · ".join(quoted(escape(query)) for query in reply.queries))]
        if reply.keywords:
            lines.append(named_values(_("Exact terms"), " · ".join(map(escape, reply.keywords))))
        if reply.places:
            lines.append(named_values(_("Places"), ", ".join(map(escape, reply.places))))
        generator = QUOTED if reply.quotations else reply.generator
        answer = _(_GENERATORS[generator]) if generator in _GENERATORS else escape(generator) or _("none")
        analysis = _("Query analysis: {planner}. Answer: {answer}.")
        lines.append(analysis.format(planner=escape(shown_name(reply.planner)), answer=answer))
        steps = ", ".join(
            f"{_(name)} {number(reply.seconds[step], 2)} s" for step, name in _STEPS.items() if step in reply.seconds
        )
        lines.append(_("Times: {steps}.").format(steps=steps))
        lines += [escape(describe_step(step, WORDING)) for step in reply.steps]
        lines += [escape(show(warning)) for warning in reply.warnings if is_ranking_note(warning)]
        st.caption("  \n".join(lines))
