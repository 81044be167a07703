"""Settings of the library, each person's own: the columns of its table and the saved filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ingestion.acts.context import ActContext
from ingestion.acts.register import act
from rag_engine.conversations.record_kinds import LONGEST_NAME, choice_of, keep_choice
from rag_engine.errors import InputError
from rag_engine.filters import Filter

_COLUMNS, _FILTERS = "library columns", "library filters"


@act("reader")
def chosen_columns(context: ActContext, default: Sequence[str]) -> list[str]:
    """Return the columns that were last chosen for the table."""
    kept = _kept(context, _COLUMNS)
    return list(default if kept is None else kept)


@act("reader")
def choose_columns(context: ActContext, columns: Sequence[str]) -> None:
    """Keep which columns the table has."""
    _keep(context, _COLUMNS, list(columns))


@act("reader")
def saved_filters(context: ActContext) -> dict[str, Filter]:
    """Return the saved filters by name, in the order of their names."""
    kept: Mapping[str, Mapping[str, Sequence[str]]] = _kept(context, _FILTERS) or {}
    read = {name: {facet: tuple(values) for facet, values in wanted.items()} for name, wanted in kept.items()}
    return dict(sorted(read.items(), key=lambda item: item[0].casefold()))


@act("reader")
def save_filters(context: ActContext, name: str, wanted: Filter) -> None:
    """Save a filter under a name, in the place of one of this name."""
    title = " ".join(name.split())
    if not title or len(title) > LONGEST_NAME:
        raise InputError("The filters need a name.", help="Give one of up to {limit} characters.", limit=LONGEST_NAME)
    if not wanted:
        raise InputError("No filter is set.", help="Choose at least one value, then save.")
    _keep(context, _FILTERS, saved_filters(context) | {title: dict(wanted)})


@act("reader")
def delete_filters(context: ActContext, name: str) -> Filter:
    """Delete a saved filter and return it, so that it can be saved again."""
    kept = saved_filters(context)
    if name not in kept:
        raise InputError("No filters are saved as {name!r}.", name=name)
    deleted = kept.pop(name)
    _keep(context, _FILTERS, kept)
    return deleted


def _keep(context: ActContext, kind: str, value: object) -> None:
    keep_choice(context.workspace, kind, context.person, json.dumps(value, ensure_ascii=False))


def _kept(context: ActContext, kind: str) -> Any:
    """Return the person's record of a kind, or None."""
    return json.loads(choice_of(context.workspace, kind, context.person) or "null")
