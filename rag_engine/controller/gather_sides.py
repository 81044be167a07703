"""Evidence for a question with several sides: each asks its own documents its own question."""

from __future__ import annotations

import time
from collections import abc
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from rag_engine.answering.citations import words
from rag_engine.controller.sub_questions import plan_by_rules
from rag_engine.geography import Gazetteer, find_places
from rag_engine.planning.ellipsis import find_ellipsis
from rag_engine.retrieval.place_fit import said
from rag_engine.types.evidence import ControllerStep, Evidence, QueryPlan, ResidualGap, Side
from rag_engine.types.passage import Place, Source

# Words of a part that is understood by itself.
_TELLING = 4
# From the best ground of a side to the worst.
_GROUNDS = ("enough", "doubtful", "none")


def gather_sides(
    first: Evidence, sides: Sequence[Side], search: Callable[[Side], Evidence], gazetteer: Gazetteer
) -> abc.Generator[ControllerStep, None, Evidence]:
    """Yield a step for each side, and return all evidence: sources of sides in turn, then the question's.

    `first` is what the whole question found, and is returned if no part of it is answered by itself. A side whose
    passages may not answer has no sources.
    """
    started = time.perf_counter()
    steps: list[ControllerStep] = []
    found: list[Evidence] = []
    searched: list[Side] = []
    for number, side in enumerate(sides, 1):
        steps.append(ControllerStep("retrieve", number, side.question))
        yield steps[-1]
        asked, evidence = side, search(side)
        if evidence.ground == "none" and side.name:
            # A document may say the name too: "Die Hauptstadt der Bundesrepublik Deutschland ist Berlin".
            asked = replace(side, query=side.question)
            evidence = search(asked)
        found.append(evidence)
        may = evidence.sources if evidence.ground != "none" else ()
        searched.append(replace(asked, sources=tuple(one for one in may if _is_of(one, side, gazetteer))))
    if not any(side.name or side.sources for side in searched):
        return first
    pool: dict[Place, Source] = {}
    for source in chain(chain.from_iterable(zip_longest(*(side.sources for side in searched))), first.sources):
        if source is not None:
            pool.setdefault(source.place, source)
    sources = tuple(replace(source, n=n) for n, source in enumerate(pool.values(), 1))
    # A part has no name; where nothing is found in a document at all, that is said of the document.
    answering = {"", *(side.name for side in searched if side.sources)}
    open_parts = (side.question for side in searched if side.name in answering and not side.sources)
    grounds = [one.ground for one, side in zip(found, searched, strict=True) if side.sources]
    spent = time.perf_counter() - started
    return replace(
        first,
        hits=tuple(source.hits[0] for source in sources if not source.index_context),
        sources=sources,
        warnings=tuple(dict.fromkeys(chain(first.warnings, *(one.warnings for one in found)))),
        seconds={**first.seconds, "controller": spent, "retrieval": first.seconds.get("retrieval", 0.0) + spent},
        ground=min(grounds, key=_GROUNDS.index, default="none"),
        read=first.read + sum(one.read for one in found),
        steps=tuple(steps),
        gaps=tuple(map(ResidualGap, dict.fromkeys(open_parts))),
        sides=tuple(searched),
    )


def parts_as_sides(plan: QueryPlan, gazetteer: Gazetteer) -> tuple[Side, ...]:
    """Return the parts of a question by rules, each as a side of all documents; none for a single part."""
    parts = plan_by_rules(plan, gazetteer)
    if len(parts) < 2:
        return ()

    def leans(text: str) -> bool:
        # "And when?" and "how long do they serve?"
        return len(words(text)) < _TELLING or find_ellipsis(text, plan.language, gazetteer) is not None

    return tuple(Side("", one.text, one.queries[-1] if leans(one.text) else one.text) for one in parts)


def _is_of(source: Source, side: Side, gazetteer: Gazetteer) -> bool:
    """Return whether a source names the country and the year of a side, if it has to."""
    if side.year and side.year not in said(source):
        return False
    named = find_places(said(source), gazetteer, source.document.metadata.language, running=True)
    return not side.country or side.country in named.countries
