"""Evidence of several queries as one: every source once, renumbered so that each part of the question comes early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from rag_engine.controller.memory import Place, WorkingMemory, place_of
from rag_engine.types import ControllerStep, Evidence, Hit, ResidualGap, Source


def merge_evidence(memory: WorkingMemory, steps: Sequence[ControllerStep], *, seconds: float) -> Evidence:
    """Return the pool as the evidence of the question: all of it, with what stayed unresolved.

    The rankings of the sub-questions take turns, place by place, and that of the question itself comes after them.
    """
    pool, first = memory.pool(), memory.issued[0].found
    # Of the question's own search every source is in the last ranking, of the others in those of their sub-questions.
    order = dict.fromkeys(_in_turn([*_rankings(memory), [place_of(source) for source in first.sources]]))
    hits = _hits(memory)
    kept = _without_repeated_contexts([replace(pool[place], hits=hits[place]) for place in order])
    sources = tuple(replace(source, n=n) for n, source in enumerate(kept, 1))
    found = [query.found for query in memory.issued]
    return replace(
        first,
        hits=tuple(source.hits[0] for source in sources if not source.index_context),
        sources=sources,
        warnings=tuple(dict.fromkeys((*chain.from_iterable(one.warnings for one in found), *memory.warnings))),
        seconds={**first.seconds, "controller": seconds, "retrieval": first.seconds.get("retrieval", 0.0) + seconds},
        steps=tuple(steps),
        gaps=tuple(
            ResidualGap(memory.sub_questions[number].text, memory.states[number] == "contradicted")
            for number in memory.unresolved
        ),
    )


def _without_repeated_contexts(sources: Sequence[Source]) -> list[Source]:
    """Return the sources with the sentences of an index last, but for those that are in another one."""
    whole = [source for source in sources if not source.index_context]
    children = {hit.child_id for source in whole for hit in source.hits}
    for source in sources:
        if source.index_context and source.hits[0].child_id not in children:
            children.add(source.hits[0].child_id)
            whole.append(source)
    return whole


def _rankings(memory: WorkingMemory) -> list[list[Place]]:
    """Return the sources of each sub-question, best first: those of its own searches, else by what they say on it."""
    rankings: list[list[Place]] = []
    for number in range(len(memory.sub_questions)):
        own = [place_of(source) for query in memory.issued if query.about == number for source in query.found.sources]
        said = sorted((one for one in memory.propositions if one.about == number), key=lambda one: -one.support)
        rankings.append(list(dict.fromkeys((*own, *(one.place for one in said)))))
    return rankings


def _in_turn(rankings: Sequence[Sequence[Place]]) -> Iterator[Place]:
    """Yield the first place of every ranking, then the second of every ranking, and so on."""
    for row in zip_longest(*rankings):
        yield from (place for place in row if place is not None)


def _hits(memory: WorkingMemory) -> dict[Place, tuple[Hit, ...]]:
    """Return the hits of each source over all queries, what a question names and then the most similar first."""
    found: dict[Place, list[Hit]] = {}
    for query in memory.issued:
        for source in query.found.sources:
            found.setdefault(place_of(source), []).extend(source.hits)
    best: dict[Place, tuple[Hit, ...]] = {}
    for place, hits in found.items():
        children: dict[str, Hit] = {}
        for hit in sorted(hits, key=lambda hit: (not hit.named, -hit.similarity)):
            children.setdefault(hit.child_id, hit)
        best[place] = tuple(children.values())
    return best
