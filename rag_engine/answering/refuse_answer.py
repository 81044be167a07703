"""Refusals that name the place, year, act or section that no source speaks of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag_engine.answering.missing_names import missing_attribute, missing_section, unknown_act
from rag_engine.geography import Gazetteer, find_places, geographic_boost, place_mentions
from rag_engine.planning.states import state_mentions
from rag_engine.retrieval.place_fit import names_place, place_fit, said
from rag_engine.types.evidence import Evidence, GeographicScope
from rag_engine.types.passage import Source

_AS_LIKELY = 0.5  # of the best chance to answer; what is less likely says nothing about the country
_PROBABLE = 0.5  # chance from which a passage counts that is not about the country alone
_HARDLY = 0.2  # chance below which a list of countries, or a document about elsewhere, speaks of none of them
_LIST = 6  # countries from which a passage is a list of them
YEAR = re.compile(r"(?<![\w/.,:-])(?:1[5-9]|20)\d\d(?![\w/:-]|[.,]\d)")


def unnamed(evidence: Evidence, gazetteer: Gazetteer) -> str:
    """Return the question's place, year, act, section or attribute that no source mentions, or "".

    It is written as in the question. If one of several countries or years is mentioned, the result is "". A source may
    be about the country without its name if its place is unknown, if it is of an act that the question names, and
    unless the ground is doubtful if it is about the whole world. Only sources about as likely as the best count; for a
    year all do, unless the ground is doubtful.
    """
    question, scope = evidence.plan.question, evidence.plan.scope
    if evidence.absent or evidence.sides or not evidence.sources or any(hit.named for hit in evidence.hits):
        return ""
    likely, doubtful = likely_sources(evidence.sources), evidence.ground == "doubtful"
    years = years_of(question)
    sources = likely if doubtful else evidence.sources
    if years and not any(year in said(source) for year in years for source in sources):
        return ", ".join(dict.fromkeys(years))
    if scope.countries and not any(may_be_about(source, scope, gazetteer, doubtful=doubtful) for source in likely):
        return _written(question, scope, gazetteer, evidence.plan.language)
    # An act of the collection was looked up by its name.
    of_an_act = any(hit.provenance for source in likely for hit in source.hits)
    return (
        ("" if of_an_act else unknown_act(question, likely))
        or missing_section(question, evidence.plan.language, evidence.sources)
        or missing_attribute(question, likely)
    )


def may_be_about(
    source: Source, scope: GeographicScope, gazetteer: Gazetteer, *, doubtful: bool, act: bool = True
) -> bool:
    """Return whether a source may be about the places of a question.

    With `act` a passage of an act that the question names may be, without their names.
    """
    metadata = source.document.metadata
    fit = place_fit(scope, metadata, gazetteer)
    if fit in ("about", "unknown"):
        return True
    chance = max((1.0 if hit.chance is None else hit.chance for hit in source.hits), default=1.0)
    of_world = geographic_boost(scope, metadata, gazetteer) == 1.0
    if names_place(source, scope, gazetteer):
        # What hardly answers, and is about elsewhere or lists the countries of a treaty, does not speak of this one.
        passing = fit == "elsewhere" or (
            of_world and len(find_places(source.text, gazetteer, metadata.language, running=True).countries) >= _LIST
        )
        return chance >= _HARDLY or not passing
    of_the_act = act and any(hit.provenance for hit in source.hits)
    return fit == "wider" and (of_the_act or (of_world and not doubtful and chance >= _PROBABLE))


def likely_sources(sources: Sequence[Source]) -> list[Source]:
    """Return the sources that are about as likely to answer as the likeliest."""
    chances = [max((hit.chance or 0.0 for hit in source.hits), default=0.0) for source in sources]
    least = _AS_LIKELY * max(chances, default=0.0)
    return [source for source, chance in zip(sources, chances, strict=True) if chance >= least]


def years_of(text: str) -> list[str]:
    """Return the years that a text names, and no other numbers."""
    return YEAR.findall(text)


def _written(question: str, scope: GeographicScope, gazetteer: Gazetteer, language: str) -> str:
    """Return the words with which the question names its states, or else its countries."""
    question = unicodedata.normalize("NFC", question)
    if scope.states:
        return ", ".join(dict.fromkeys(state_mentions(question)))
    mentions = place_mentions(question, gazetteer, language)
    asked = set(scope.countries)
    words = [question[start:end] for form, start, end in mentions if not asked.isdisjoint(form.countries)]
    return ", ".join(dict.fromkeys(words or scope.countries))
