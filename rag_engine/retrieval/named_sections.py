"""Sections that a question names, looked up in the catalog: where they are, or that there are none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag_engine.chunking.sections.references import named_sections
from rag_engine.retrieval.provenance import named_acts
from rag_engine.storage.section_index import Act, SectionPlace
from rag_engine.types import QueryPlan

# A section may be as long as a book; of its parents so many are looked at.
_MOST_PLACES = 60


@dataclass(frozen=True, slots=True)
class NamedSections:
    """What a question names: the places of sections, in its order, and the names of acts and labels of sections."""

    places: tuple[SectionPlace, ...] = ()
    acts: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()


def find_named(plan: QueryPlan, acts: Sequence[Act], allowed: Collection[int] | None) -> NamedSections:
    """Return what the question names of the acts, as far as it is in the allowed documents (None allows all).

    A section without its act is only looked up where a single act has one of that label: which one is meant is not
    known otherwise.
    """
    labels = named_sections(plan.question, plan.language)
    names = named_acts(plan.question, plan.language, {name for act in acts for name in (act.name, *act.titles)})
    named = [act for act in acts if act.name in names or not names.isdisjoint(act.titles)]
    places: list[SectionPlace] = []
    for label in labels:
        having = [act for act in named or acts if act.places(label, allowed)]
        if named or len(having) == 1:
            # The act itself comes before a document that has it as an annex.
            having.sort(key=lambda act: act.name not in act.titles)
            places += [place for act in having for place in act.places(label, allowed)]
    return NamedSections(tuple(places[:_MOST_PLACES]), names, labels)
