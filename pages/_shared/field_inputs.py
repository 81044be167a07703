"""Inputs for the fields of a document, by the kind of each field, and what the fields are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from ingestion.types.description import LIST_FIELDS, FieldName
from pages._shared.filter_widgets import display_text
from pages._shared.interface_language import _, to_translate

_HEADINGS: Mapping[FieldName, str] = {
    "title": to_translate("Title"),
    "authority": to_translate("Authority"),
    "document_type": to_translate("Document type"),
    "hazards": to_translate("Hazards"),
    "target": to_translate("Audience and purpose"),
    "key_criteria": to_translate("Key criteria"),
    "tags": to_translate("Tags"),
    "description": to_translate("Description"),
    "language": to_translate("Language"),
    "date": to_translate("Date"),
    "geographical_level": to_translate("Geographical level"),
    "countries": to_translate("Countries"),
    "notes": to_translate("Notes"),
    "licence": to_translate("Licence"),
    "source_url": to_translate("Source address"),
}
# As filters name what has a fixed list or is a country or a language.
_FACETS: Mapping[FieldName, str] = {
    "document_type": "document_type",
    "hazards": "hazard",
    "key_criteria": "key_criteria",
    "tags": "tags",
    "geographical_level": "geographical_level",
    "countries": "country",
    "language": "language",
}
LONG: frozenset[FieldName] = frozenset({"target", "description", "notes"})


def heading_of(field: FieldName) -> str:
    """Return the name of a field."""
    return _(_HEADINGS[field])


def value_text(field: FieldName, value: str) -> str:
    """Return a value of a field in the language of the interface; what is free text stays as it is."""
    facet = _FACETS.get(field, "")
    return display_text(facet, value) if facet else value


def draw_field(
    label: str, field: FieldName, before: Sequence[str], labels: Sequence[str], key: str, hint: str = ""
) -> list[str]:
    """Draw the input for a field and return the values entered; `hint` stands in an empty one."""
    options = list(dict.fromkeys([*labels, *before]))
    if field in LIST_FIELDS:
        return list(
            st.multiselect(
                label,
                options,
                list(before),
                accept_new_options=not labels,
                format_func=partial(value_text, field),
                placeholder=hint or _("None"),
                key=f"{key} values",
            )
        )
    value = next(iter(before), "")
    if labels:
        index = options.index(value) if value else None
        chosen = st.selectbox(
            label,
            options,
            index,
            format_func=partial(value_text, field),
            placeholder=hint or _("None"),
            key=f"{key} value",
        )
        return [chosen] if chosen else []
    if field in LONG:
        return [st.text_area(label, value, placeholder=hint or None, key=f"{key} value")]
    help = {
        "date": _("2020-12-31, 2020-12 or 2020"),
        "language": _("Two letters, such as en or pt"),
        "licence": _(
            "Such as CC BY 4.0, or in words; (NC) and (ND) behind it say that commercial use or changes are forbidden"
        ),
        "source_url": _("Web address where the document was published"),
    }.get(field)
    return [st.text_input(label, value, key=f"{key} value", placeholder=hint or None, help=help)]
