"""Refusals by name: a country or a year of the question that no source speaks of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag_engine.geography import ELSEWHERE, Gazetteer, find_places, geographic_boost, place_mentions
from rag_engine.types.evidence import Evidence, GeographicScope
from rag_engine.types.passage import Source

_LEADING = 2  # sources that may be about a country; further down are documents that list the countries of a treaty
_AS_LIKELY = 0.5  # of the best chance to answer; what is less likely says nothing about the country
YEAR = re.compile(r"(?<![\w/.,:-])(?:1[5-9]|20)\d\d(?![\w/:-]|[.,]\d)")


def unnamed(evidence: Evidence, gazetteer: Gazetteer) -> str:
    """Return the question's country or year that no source mentions, or "".

    It is written as in the question. If one of several countries or years is mentioned, the result is "". A leading
    source may be about the country without its name if its place is unknown, the whole world, or the country's region.
    If the ground is doubtful, a source that is about as likely as the best must name the country or the year.
    """
    question, scope = evidence.plan.question, evidence.plan.scope
    if evidence.absent or evidence.sides or not evidence.sources or any(hit.named for hit in evidence.hits):
        return ""
    likely, doubtful = _likely(evidence.sources), evidence.ground == "doubtful"
    years = years_of(question)
    sources = likely if doubtful else evidence.sources
    if years and not any(year in said(source) for year in years for source in sources):
        return ", ".join(dict.fromkeys(years))
    if scope.countries and (
        all(is_elsewhere(source, scope, gazetteer) for source in likely[:_LEADING])
        or (doubtful and not any(may_be_about(source, scope, gazetteer) for source in likely))
    ):
        return _written(question, scope, gazetteer, evidence.plan.language)
    return ""


def may_be_about(source: Source, scope: GeographicScope, gazetteer: Gazetteer) -> bool:
    """Return whether a source or its document names a wanted country, or is of an unknown place."""
    metadata = source.document.metadata
    if not metadata.countries and not metadata.geographical_level:
        return True
    named = find_places(said(source), gazetteer, metadata.language, running=True)
    return not set(scope.countries).isdisjoint((*metadata.countries, *named.countries))


def _likely(sources: Sequence[Source]) -> list[Source]:
    """Return the sources that are about as likely to answer as the likeliest."""
    chances = [max((hit.chance or 0.0 for hit in source.hits), default=0.0) for source in sources]
    least = _AS_LIKELY * max(chances)
    return [source for source, chance in zip(sources, chances, strict=True) if chance >= least]


def years_of(text: str) -> list[str]:
    """Return the years that a text names, and no other numbers."""
    return YEAR.findall(text)


def said(source: Source) -> str:
    """Return the words of a source: title, year, act and text."""
    metadata = source.document.metadata
    return f"{metadata.title} {metadata.year or ''} {source.act} {source.text}"


def is_elsewhere(source: Source, scope: GeographicScope, gazetteer: Gazetteer) -> bool:
    """Return whether a source is about other places and names none of the question's."""
    metadata = source.document.metadata
    if geographic_boost(scope, metadata, gazetteer) != ELSEWHERE:
        return False
    named = find_places(said(source), gazetteer, metadata.language, running=True)
    return set(scope.countries).isdisjoint(named.countries) and set(scope.regions).isdisjoint(named.regions)


def _written(question: str, scope: GeographicScope, gazetteer: Gazetteer, language: str) -> str:
    """Return the words with which the question names its countries."""
    question = unicodedata.normalize("NFC", question)
    mentions = place_mentions(question, gazetteer, language)
    asked = set(scope.countries)
    words = [question[start:end] for form, start, end in mentions if not asked.isdisjoint(form.countries)]
    return ", ".join(dict.fromkeys(words or scope.countries))
