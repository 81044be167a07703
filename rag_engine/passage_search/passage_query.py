"""Query of the Search page: words, filter and order, as the address of the page keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from rag_engine import filters

SortOrder = Literal["relevance", "date"]
SORT_ORDERS: tuple[SortOrder, ...] = get_args(SortOrder)

_WORDS, _SORT, _MATCH, _STRUCK = "words", "sort", "match", "struck"
_ALL_WORDS, _INCLUDED = "words", "include"
_FILTERS = (*filters.FACETS, filters.DOCUMENT, filters.AS_OF, filters.DATED, filters.VERSIONS)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Words to search for, the filter and the order; without words, the documents that the filter allows.

    With `words_only` a passage has to hold the words, however near it is in meaning. With `struck`, words that
    documents show struck out are found too.
    """

    words: str = ""
    wanted: filters.Filter = field(default_factory=dict)
    sort: SortOrder = "relevance"
    words_only: bool = False
    struck: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.wanted)

    def parameters(self) -> dict[str, list[str]]:
        """Return the parameters of the address that reproduces the search, without defaults."""
        named: dict[str, list[str]] = {
            _WORDS: [self.words] if self.words else [],
            _SORT: [self.sort] if self.sort != "relevance" else [],
        }
        named |= {_MATCH: [_ALL_WORDS] if self.words_only else [], _STRUCK: [_INCLUDED] if self.struck else []}
        named |= {name: list(self.wanted[name]) for name in _FILTERS if name in self.wanted}
        return {name: values for name, values in named.items() if values}

    def without(self, name: str) -> PassageQuery:
        """Return the query without one of the facets of its filter."""
        return replace(self, wanted=filters.without(self.wanted, name))

    def toggled(self, name: str, value: str) -> PassageQuery:
        """Return the query with a value of a facet chosen, or without it if it was chosen.

        >>> PassageQuery("sea walls", {"country": ("Italy",)}).toggled("country", "Spain").wanted
        {'country': ('Italy', 'Spain')}
        """
        before = self.wanted.get(name, ())
        after = tuple(one for one in before if one != value) if value in before else (*before, value)
        return self.with_values(name, after)

    def with_values(self, name: str, values: Sequence[str]) -> PassageQuery:
        """Return the query with these values of a facet; none leave it out."""
        rest = filters.without(self.wanted, name)
        return replace(self, wanted={**rest, name: tuple(values)} if values else rest)


def read_query(parameters: Mapping[str, Sequence[str]]) -> PassageQuery:
    """Return the query that the parameters of an address name; unreadable values are ignored.

    >>> read_query({"words": ["sea walls"], "country": ["Italy"]}).wanted
    {'country': ('Italy',)}
    """
    words = " ".join(" ".join(parameters.get(_WORDS, ())).split())
    sort = next((order for order in SORT_ORDERS if order in parameters.get(_SORT, ())), SORT_ORDERS[0])
    named = {name: tuple(dict.fromkeys(filter(None, parameters.get(name, ())))) for name in _FILTERS}
    named[filters.AS_OF] = tuple(filter(filters.is_date, named[filters.AS_OF]))
    named[filters.DATED] = tuple(value for value in named[filters.DATED] if value == filters.ONLY)
    words_only = _ALL_WORDS in parameters.get(_MATCH, ())
    wanted = {name: values for name, values in named.items() if values}
    return PassageQuery(words, wanted, sort, words_only, _INCLUDED in parameters.get(_STRUCK, ()))
