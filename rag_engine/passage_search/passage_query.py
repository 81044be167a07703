"""Query of the Search page: words, filter and order, as the address of the page keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from rag_engine import filters
from rag_engine.text.words.search_words import read_search

SortOrder = Literal["relevance", "date"]
SORT_ORDERS: tuple[SortOrder, ...] = get_args(SortOrder)

_WORDS, _SORT, _MATCH, _STRUCK, _WITHIN = "words", "sort", "match", "struck", "within"
_ALL_WORDS, _MEANING, _INCLUDED, _DOCUMENT = "words", "meaning", "include", "document"
_FILTERS = (*filters.FACETS, filters.DOCUMENT, filters.AS_OF, filters.DATED, filters.VERSIONS)


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Words to search for, the filter and the order; without words, the documents that the filter allows.

    With `words_only` a passage has to hold the words, however near it is in meaning; None is so for a phrase in
    quotation marks alone. With `struck`, words that documents show struck out are found too. With `anywhere` the words
    may be in different passages of a document.
    """

    words: str = ""
    wanted: filters.Filter = field(default_factory=dict)
    sort: SortOrder = "relevance"
    words_only: bool | None = None
    struck: bool = False
    anywhere: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.wanted)

    @property
    def by_words(self) -> bool:
        """Whether only what holds the words is found, and nothing that is near in meaning."""
        return read_search(self.words).phrased if self.words_only is None else self.words_only

    def parameters(self) -> dict[str, list[str]]:
        """Return the parameters of the address that reproduces the search, without defaults."""
        named: dict[str, list[str]] = {
            _WORDS: [self.words] if self.words else [],
            _SORT: [self.sort] if self.sort != "relevance" else [],
        }
        match = {None: [], True: [_ALL_WORDS], False: [_MEANING]}[self.words_only]
        named |= {_MATCH: match, _STRUCK: [_INCLUDED] if self.struck else []}
        named |= {_WITHIN: [_DOCUMENT] if self.anywhere else []}
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
    match = parameters.get(_MATCH, ())
    words_only = True if _ALL_WORDS in match else False if _MEANING in match else None
    struck, anywhere = _INCLUDED in parameters.get(_STRUCK, ()), _DOCUMENT in parameters.get(_WITHIN, ())
    wanted = {name: values for name, values in named.items() if values}
    return PassageQuery(words, wanted, sort, words_only, struck, anywhere)
