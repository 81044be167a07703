"""Query of a search for passages, and the address that reproduces it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from rag_engine.filters import AS_OF, DOCUMENT, FACETS, VERSIONS, Filter, is_date, without

SortOrder = Literal["relevance", "date"]
SORT_ORDERS: tuple[SortOrder, ...] = get_args(SortOrder)

_WORDS, _SORT, _MATCH = "words", "sort", "match"
_ALL_WORDS = "words"
_FILTERS = (*FACETS, DOCUMENT, AS_OF, VERSIONS)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Words to search for, the filter and the order; without words, the documents that the filter allows.

    With `words_only` a passage has to hold the words, however near it is in meaning.
    """

    words: str = ""
    wanted: Filter = field(default_factory=dict)
    sort: SortOrder = "relevance"
    words_only: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.wanted)

    def parameters(self) -> dict[str, list[str]]:
        """Return the parameters of the address that reproduces the search; what is usual is left out."""
        named: dict[str, list[str]] = {
            _WORDS: [self.words] if self.words else [],
            _SORT: [self.sort] if self.sort != "relevance" else [],
        }
        named |= {_MATCH: [_ALL_WORDS] if self.words_only else []}
        named |= {name: list(self.wanted[name]) for name in _FILTERS if name in self.wanted}
        return {name: values for name, values in named.items() if values}

    def without(self, name: str) -> PassageQuery:
        """Return the query without one of the facets of its filter."""
        return replace(self, wanted=without(self.wanted, name))

    def toggled(self, name: str, value: str) -> PassageQuery:
        """Return the query with a value of a facet chosen, or without it where it was."""
        before = self.wanted.get(name, ())
        after = tuple(one for one in before if one != value) if value in before else (*before, value)
        return self.with_values(name, after)

    def with_values(self, name: str, values: Sequence[str]) -> PassageQuery:
        """Return the query with these values of a facet; none leave it out."""
        rest = without(self.wanted, name)
        return replace(self, wanted={**rest, name: tuple(values)} if values else rest)


def read_query(parameters: Mapping[str, Sequence[str]]) -> PassageQuery:
    """Return the query that the parameters of an address name; what cannot be read counts as not named."""
    words = " ".join(" ".join(parameters.get(_WORDS, ())).split())
    sort = next((one for one in SORT_ORDERS if one in parameters.get(_SORT, ())), SORT_ORDERS[0])
    named = {name: tuple(dict.fromkeys(filter(None, parameters.get(name, ())))) for name in _FILTERS}
    named[AS_OF] = tuple(filter(is_date, named[AS_OF]))
    words_only = _ALL_WORDS in parameters.get(_MATCH, ())
    return PassageQuery(words, {name: values for name, values in named.items() if values}, sort, words_only)
