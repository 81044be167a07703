"""Coverage of the documents that are shown: the gaps in words, a map, and counts as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from ingestion.status.coverage import UNKNOWN, Gap, KnownFacet, MissingPair, MissingSince, MissingYears, coverage
from pages._library.coverage_grid import draw_grid
from pages._shared.filter_widgets import display_text
from pages._shared.interface_language import _, interface_language, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, number
from rag_engine.filters import Filter
from rag_engine.text.languages import name_in
from rag_engine.types.document import DocumentRecord

# The heading of each table, and what it is called by those who read the page out.
_CHARTS = {
    "hazard": (to_translate("Hazard"), to_translate("Documents by hazard")),
    "language": (to_translate("Language"), to_translate("Documents by language")),
    "document_type": (to_translate("Document type"), to_translate("Documents by document type")),
    "licence": (to_translate("Licence"), to_translate("Documents by licence")),
}
_NOT_KNOWN: Mapping[KnownFacet, str] = {
    "country": to_translate("Country not known"),
    "year": to_translate("Year not known"),
    "document_type": to_translate("Document type not known"),
    "licence": to_translate("Licence not known"),
}
# Hazards whose names say too little beside a country or a language.
_HAZARDS = {
    to_translate("Other"): to_translate("Other hazards"),
    to_translate("Multi-hazard"): to_translate("Several hazards"),
}
# Bars of a chart; the rest is counted together.
_MOST = 12
_GREEN = "#2b9a52"


def draw_coverage(documents: Sequence[DocumentRecord], wanted: Filter) -> None:
    """Draw what the documents that a filter allows cover, and what they leave out."""
    found = coverage(documents)
    st.caption(
        counted(
            "{n} document matches the current filters.", "{n} documents match the current filters.", found.documents
        )
    )
    if not documents:
        return
    st.header(_("Gaps"), anchor=False)
    st.markdown("\n".join(f"- {escape(_told(gap, found.documents))}" for gap in found.gaps) or _("No gaps found."))
    st.header(_("Map"), anchor=False)
    draw_grid(documents, wanted)
    years = {year: count for year, count in found.counts["year"].items() if year != UNKNOWN}
    if years:
        st.header(_("Year"), anchor=False)
        span = range(int(min(years)), int(max(years)) + 1)
        # Streamlit shows the names of the columns, at the axes and at a bar.
        x, y = _("Year"), _("Documents")
        bars = pd.DataFrame({x: [str(year) for year in span], y: [years.get(str(year), 0) for year in span]})
        st.bar_chart(bars, x=x, y=y, height=220, color=_GREEN)
    for place, (name, (heading, _alt)) in enumerate(_CHARTS.items()):
        if place % 2 == 0:
            columns = st.columns(2)
        with columns[place % 2]:
            st.header(_(heading), anchor=False)
            _draw_bars(name, found.counts[name])


def _told(gap: Gap, documents: int) -> str:
    match gap:
        case MissingYears(first, last):
            return _("No documents from {first} to {last}.").format(first=first, last=last)
        case MissingSince(facet, value, year):
            return _("No documents about {value} after {year}.").format(value=_subject(facet, value), year=year)
        case MissingPair(hazard, "language", value):
            words = _("Nothing in {language} about {hazard}.")
            return words.format(language=name_in(value, interface_language()), hazard=_subject("hazard", hazard))
        case MissingPair(hazard, facet, value):
            words = _("Nothing about {hazard} in {country}.")
            return words.format(hazard=_subject("hazard", hazard), country=_subject(facet, value))
        case _:
            return counted(
                "{what}: {unknown} of {n} document.",
                "{what}: {unknown} of {n} documents.",
                documents,
                what=_(_NOT_KNOWN[gap.facet]),
                unknown=number(gap.documents),
            )


def _subject(name: str, value: str) -> str:
    """Return a value as it stands within a sentence: a hazard is no name."""
    if name != "hazard":
        return display_text(name, value)
    called = _(_HAZARDS[value]) if value in _HAZARDS else display_text(name, value)
    return called[:1].lower() + called[1:]


def _draw_bars(name: str, counts: Mapping[str, int]) -> None:
    unknown = _("not known")
    listed = [(unknown if value == UNKNOWN else display_text(name, value), count) for value, count in counts.items()]
    rest = sum(count for _value, count in listed[_MOST:])
    others = counted("{n} other", "{n} others", max(0, len(listed) - _MOST))
    listed = [*listed[:_MOST], *([(others, rest)] if rest else [])]
    st.dataframe(
        pd.DataFrame(listed, columns=["value", "documents"]),
        hide_index=True,
        key=f"coverage {name}",
        height=38 + 35 * len(listed),
        column_config={
            "value": st.column_config.TextColumn(_(_CHARTS[name][0]), width=200),
            "documents": st.column_config.ProgressColumn(
                _("Documents"), format="%d", min_value=0, max_value=max(count for _value, count in listed)
            ),
        },
        alt=_(_CHARTS[name][1]),
    )
