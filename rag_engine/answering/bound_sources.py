"""Sources of a question's act, place and years: those of another act, place or year contradict it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_engine.answering.chances import with_sources
from rag_engine.answering.refuse_answer import likely_sources, may_be_about, years_of
from rag_engine.geography import Gazetteer, load_gazetteer
from rag_engine.retrieval.act_mentions import find_acts
from rag_engine.retrieval.named_documents import NamedDocuments
from rag_engine.retrieval.place_fit import is_elsewhere, said
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source


def bound(evidence: Evidence, named: NamedDocuments) -> Evidence:
    """Return the evidence without sources that contradict the question, the named documents first.

    If all contradict, the evidence stays as it is, for a refusal to show what is nearest. If none of the likeliest
    speaks of the question's country, as where an act of many countries is named, the ground is doubtful.
    """
    gazetteer = load_gazetteer()
    kept = [source for source in evidence.sources if not _contradicts(source, evidence, named, gazetteer)]
    kept = _of_years(kept, years_of(evidence.plan.question))
    if not kept:
        return evidence
    kept.sort(key=lambda source: source.document.key not in named.first)
    numbered = [replace(source, n=n) for n, source in enumerate(kept, 1)]
    if numbered != list(evidence.sources):
        first = {hit.child_id: place for place, hit in enumerate(hit for source in kept for hit in source.hits)}
        hits = tuple(sorted(evidence.hits, key=lambda hit: first.get(hit.child_id, len(first))))
        evidence = with_sources(replace(evidence, hits=hits), numbered)
    scope = evidence.plan.scope
    silent = evidence.ground == "enough" and scope.countries and not any(hit.named for hit in evidence.hits)
    if silent and not any(
        may_be_about(source, scope, gazetteer, doubtful=True, act=False) for source in likely_sources(kept)
    ):
        return replace(evidence, ground="doubtful")
    return evidence


def as_likely(first: Evidence, every: Evidence) -> bool:
    """Return whether the named documents are about as likely to answer as the best of all documents."""
    places = likely_sources((*every.sources, *first.sources))
    return first.ground != "none" and any(source is own for source in places for own in first.sources)


def _contradicts(source: Source, evidence: Evidence, named: NamedDocuments, gazetteer: Gazetteer) -> bool:
    """Return whether a source is about another place, or neither is of a named act nor mentions one."""
    if source.document.key in named.first or any(hit.named for hit in source.hits):
        return False
    if named.acts and not find_acts(said(source), named.mentioned):
        return True
    scope = evidence.plan.scope
    return bool(scope.countries) and is_elsewhere(source, scope, gazetteer)


def _of_years(sources: list[Source], years: Sequence[str]) -> list[Source]:
    """Return the sources without those of other years alone, if a likely one names a year that is asked."""
    if not any(year in said(source) for source in likely_sources(sources) for year in years):
        return sources
    return [one for one in sources if any(year in said(one) for year in years) or not years_of(one.text)]
