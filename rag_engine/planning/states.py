"""States, Länder, cantons and regions of countries that a text names (data/states.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from rag_engine.geography import expand
from rag_engine.text.folding import fold_in_place
from rag_engine.text.tables import read_table
from rag_engine.types.evidence import GeographicScope

_ENDING = r"(?:['’]?s)?(?![\w-])"
_OF = r"\s(?:(?:of|von|di|de|do|da|del|della)\s(?:the\s)?)?"


@dataclass(frozen=True, slots=True, eq=False)
class StateNames:
    """States by their folded names, the country of each, and the expression that finds the names."""

    by_form: Mapping[str, str]
    country_of: Mapping[str, str]
    pattern: re.Pattern[str]


@cache
def load_states() -> StateNames:
    """Return the names of data/states.toml."""
    table = dict(read_table("states"))
    things, not_alone = [form for one in table.pop("things") for form in expand(one)], frozenset(table.pop("not_alone"))
    forms = {
        fold_in_place(form): state
        for states in table.values()
        for state, written in states.items()
        for pattern in ([state] if state not in not_alone else []) + written
        for form in expand(pattern)
        if form not in not_alone
    }
    any_form, thing = _any_of(forms), _any_of(map(fold_in_place, things))
    # The expression of a thing takes the place in it, so that it is not found again.
    named = rf"(?:{thing}{_OF}(?:{any_form})|(?:{any_form})\s{thing}){_ENDING}|(?P<state>{any_form}){_ENDING}"
    country_of = {state: country for country, states in table.items() for state in states}
    return StateNames(forms, country_of, re.compile(rf"(?<![\w-])(?:{named})"))


def _any_of(words: Iterable[str]) -> str:
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"


@lru_cache(maxsize=4096)
def states_in(text: str) -> tuple[str, ...]:
    """Return the English names of the states that a text names, in the order of their first mention.

    >>> states_in("Wie fördert das Land Baden-Württemberg die Feuerwehren Bayerns?")
    ('Baden-Württemberg', 'Bavaria')
    >>> states_in("What does the New Mexico Declaration say?")
    ()
    """
    names = load_states()
    return tuple(dict.fromkeys(names.by_form[fold_in_place(form)] for form in state_mentions(text)))


def state_mentions(text: str) -> list[str]:
    """Return the words with which a text names states."""
    matches = load_states().pattern.finditer(fold_in_place(text))
    return [text[match.start("state") : match.end("state")] for match in matches if match["state"]]


def with_states(scope: GeographicScope, text: str) -> GeographicScope:
    """Return the places of a text with the states that it names and their countries."""
    states = states_in(text)
    countries = (*scope.countries, *(load_states().country_of[state] for state in states))
    return GeographicScope(tuple(dict.fromkeys(countries)), scope.regions, states)
