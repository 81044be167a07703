"""Quotations of an answer: the best first, with how well it answers, the others folded below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages._shared.accessibility import in_language
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape
from pages._shared.numbers_and_dates import counted, percent
from pages._shared.page_names import citation_place
from rag_engine.answering.quotations.quotation_chance import share_of_fit
from rag_engine.types.answer import Citation, Fit, ShownQuotation

_FITS: Mapping[Fit, tuple[str, str, str]] = {
    "answers": ("green", ":material/check_circle:", to_translate("Answers the question")),
    "related": ("yellow", ":material/link:", to_translate("Related")),
    "weak": ("gray", ":material/signal_cellular_alt_1_bar:", to_translate("Weak")),
}
# Characters of a quotation that are shown before the rest is folded.
_LONG = 1_200
_BOLD = "**"

# Returns the markdown of the mark of a quotation, by its place among them and the number of its source.
MarkOf = Callable[[int, int], str]


def draw_quotations(
    text: str,
    quoted: Sequence[ShownQuotation],
    citations: Sequence[Citation],
    language_of: Callable[[int], str],
    key: str,
    mark: MarkOf,
) -> None:
    """Draw an answer that consists of quotations; `language_of(n)` is the language of source n."""

    def draw(place: int) -> None:
        with st.container(key=f"quoted-{key}-{place}"):
            if quoted[place].side:
                st.markdown(f"**{escape(quoted[place].side)}**")
            with in_language(language_of(quoted[place].n), f"quotation-{key}-{place}"):
                _draw_words(quoted[place], lambda n: mark(place, n))
            share = share_of_fit(quoted[place].fit)
            told = _("In our tests, {share} of the quotations with this badge answered.")
            # "2, National plan" reads as a page.
            pinpoint = citations[place].pinpoint
            named = pinpoint if not pinpoint[:1].isdigit() else ""
            where = ", ".join(filter(None, (named, citation_place(citations[place]))))
            st.caption(
                f"{fit_badge(quoted[place].fit)} {escape(where)}",
                help=told.format(share=percent(share)) if share is not None else None,
            )

    def draw_around(said: str) -> None:
        if said.strip():
            st.markdown(answer_markdown(said.strip(), lambda n: mark(-1, n)))

    before, _first, after = text.partition(quoted[0].text)
    draw_around(before.strip().removesuffix(f"**{quoted[0].side}**"))
    first = max(1, sum(bool(one.side) for one in quoted))
    for place in range(first):
        draw(place)
    if len(quoted) > first:
        title = counted("Also relevant ({n})", "Also relevant ({n})", len(quoted) - first)
        with st.expander(title, icon=":material/format_quote:"):
            for place in range(first, len(quoted)):
                draw(place)
    draw_around(after.partition(quoted[-1].text)[2] if len(quoted) > 1 else after)


def fit_badge(fit: Fit) -> str:
    """Return the markdown of how well a quotation answers: colour, sign and word."""
    colour, sign, words = _FITS[fit]
    return f":{colour}-badge[{sign} {_(words)}]"


def _draw_words(one: ShownQuotation, mark: Callable[[int], str]) -> None:
    lines = one.text.splitlines()
    shown = _beginning(lines) if len(one.text) > _LONG else lines
    if len(shown) == len(lines):
        st.markdown(answer_markdown(one.text, mark))
        return
    st.markdown(answer_markdown("\n".join([*shown, f"[…] [Source {one.n}]"]), mark))
    with st.expander(_("Whole passage"), type="compact"):
        st.markdown(answer_markdown(one.text, mark))


def _beginning(lines: Sequence[str]) -> list[str]:
    """Return the first lines of a long quotation, and the line with the words that answer."""
    kept = [lines[0]]
    for line in lines[1:]:
        if sum(map(len, kept)) + len(line) > _LONG:
            break
        kept.append(line)
    answering = [line for line in lines[len(kept) :] if _BOLD in line]
    return [*kept, *(["[…]"] if answering else []), *answering[:1]]
