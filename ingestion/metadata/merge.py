"""Merging of the rules' and the model's metadata: where they agree it is surer, where they differ one wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from ingestion.metadata.authorities import canonical_authority
from ingestion.metadata.summary import DESCRIPTION_WORDS, TARGET_WORDS
from ingestion.types import FIELDS, FieldName, FieldValue

_AGREED = 0.15
_SAME_TITLE = 90.0
# A model that miscounts by a few words has still written a summary.
_SLACK = 0.12
# What a model knows better than rules only where it quotes.
_TOGETHER: tuple[FieldName, ...] = ("hazards", "key_criteria", "tags")
_Values = Mapping[FieldName, list[FieldValue]]


def merge(rules: Sequence[FieldValue], model: Sequence[FieldValue]) -> tuple[list[FieldValue], list[str]]:
    """Return the values of both, one for each single-valued field in the order of the fields, and what was left out."""
    merged: list[FieldValue] = []
    warnings: list[str] = []
    ruled, proposed = _by_field(rules), _by_field(map(_canonical, model))
    for name in FIELDS:
        if name in _TOGETHER:
            merged += _union(ruled[name], proposed[name])
        elif name == "countries":
            merged += _countries(ruled, proposed)
        elif name in ("description", "target"):
            merged += _prose(name, ruled[name], proposed[name], warnings)
        else:
            merged += _single(name, ruled, proposed)
    return merged, warnings


def fits(name: FieldName, text: str) -> bool:
    """Return whether a description or target has about as many words as it should and ends as a sentence."""
    least, most = DESCRIPTION_WORDS if name == "description" else TARGET_WORDS
    count = len(text.split())
    return least * (1 - _SLACK) <= count <= most * (1 + _SLACK) and text.rstrip().endswith((".", "!", "?", "”", '"'))


def _by_field(values: Iterable[FieldValue]) -> _Values:
    listed = list(values)
    return {name: [value for value in listed if value.field == name] for name in FIELDS}


def _canonical(value: FieldValue) -> FieldValue:
    known = canonical_authority(value.value) if value.field == "authority" else None
    return replace(value, value=known.name) if known else value


def _union(by_rules: Sequence[FieldValue], by_model: Sequence[FieldValue]) -> list[FieldValue]:
    """Return every label of either side; the model's have been held against the text before."""
    proposed = {value.value: value for value in by_model}
    merged = [_surer(value) if value.value in proposed else value for value in by_rules]
    ruled = {value.value for value in by_rules}
    return merged + [value for name, value in proposed.items() if name not in ruled]


def _single(name: FieldName, ruled: _Values, proposed: _Values) -> list[FieldValue]:
    if not ruled[name] or not proposed[name]:
        return [*ruled[name][:1], *proposed[name][:1]]
    rule, other = ruled[name][0], proposed[name][0]
    if _same(name, rule.value, other.value):
        return [_surer(rule)]
    if rule.source == "seed" or name == "language":
        return [rule]
    return [other if other.confidence > rule.confidence else rule]


def _countries(ruled: _Values, proposed: _Values) -> list[FieldValue]:
    """Return the countries of the side whose geographical level was taken, so that the two fit each other."""
    level = _single("geographical_level", ruled, proposed)
    if level and level[0].source == "model":
        return proposed["countries"] if level[0].value == "National" else []
    names = {value.value for value in proposed["countries"]}
    return [_surer(value) if value.value in names else value for value in ruled["countries"]]


def _prose(
    name: FieldName, by_rules: Sequence[FieldValue], by_model: Sequence[FieldValue], warnings: list[str]
) -> list[FieldValue]:
    """Return the model's text where it has the length that it should have, else the document's own sentences."""
    if not by_model:
        return list(by_rules[:1])
    if fits(name, by_model[0].value):
        return [by_model[0]]
    count = len(by_model[0].value.split())
    warnings.append(f"The model's {name} was left out: it has {count} words or ends in the middle of a sentence.")
    return list(by_rules[:1])


def _surer(value: FieldValue) -> FieldValue:
    return replace(value, confidence=round(min(1.0, value.confidence + _AGREED), 2))


def _same(name: FieldName, one: str, other: str) -> bool:
    if name == "title":
        return fuzz.token_sort_ratio(one.casefold(), other.casefold()) >= _SAME_TITLE
    if name == "date":
        return one.startswith(other) or other.startswith(one)
    return one.casefold() == other.casefold()
