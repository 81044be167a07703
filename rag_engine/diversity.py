"""Which of the ranked children are admitted: a floor, a cap for each document, each parent once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked child with what admission asks about."""

    key: int
    document_key: int
    parent_key: int
    similarity: float
    by_keyword: bool


def per_document_cap(top_k: int, documents: int) -> int:
    """How many passages one document may bring: 2 up to ten results, 3 beyond (Buriasco 2026, table of section 5.3).

    Where only few documents are asked they may bring enough to fill the results.
    """
    return max(2 if top_k <= 10 else 3, math.ceil(top_k / max(documents, 1)))


def admit(
    ranked: Iterable[Candidate], *, top_k: int, cap: int, floor: float, keyword_floor: float
) -> dict[int, list[Candidate]]:
    """The admitted parents in rank order, each with its children that were found, best first.

    A child below the floor is left out; one that the keyword leg found only has to reach the keyword floor.
    A further child of an admitted parent joins it and uses up neither the cap nor the places.
    """
    admitted: dict[int, list[Candidate]] = {}
    taken: Counter[int] = Counter()
    for candidate in ranked:
        if candidate.similarity < (min(floor, keyword_floor) if candidate.by_keyword else floor):
            continue
        if candidate.parent_key in admitted:
            admitted[candidate.parent_key].append(candidate)
        elif len(admitted) < top_k and taken[candidate.document_key] < cap:
            admitted[candidate.parent_key] = [candidate]
            taken[candidate.document_key] += 1
    return admitted


def with_siblings(scores: Mapping[int, float], parent_of: Callable[[int], int], share: float) -> dict[int, float]:
    """Scores with a share of the best sibling's added, best first.

    Of two passages that rank about the same, the one that several of its children speak for comes first.
    """
    families: dict[int, list[int]] = {}
    for key in scores:
        families.setdefault(parent_of(key), []).append(key)
    supported = dict(scores)
    for family in families.values():
        for key in family:
            supported[key] += share * max((scores[other] for other in family if other != key), default=0.0)
    return dict(sorted(supported.items(), key=lambda item: -item[1]))


def reorder(fused: Mapping[int, float], boost: Callable[[int], float]) -> dict[int, float]:
    """Fused scores times their boost, best first."""
    boosted = {key: score * boost(key) for key, score in fused.items()}
    return dict(sorted(boosted.items(), key=lambda item: -item[1]))
