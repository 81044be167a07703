"""A list of places in a document, each a link that is followed without loading the page again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from pages._document.open_document import address_of, followed
from rag_engine.viewer.address import PlaceLink

_FOLDER = Path(__file__).parent
_list = st.components.v2.component(
    "document places",
    css=(_FOLDER / "places.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "places.js").read_text(encoding="utf-8"),
)


def draw_places(places: Sequence[PlaceLink], label: str, key: str, *, beside: bool = False) -> None:
    """Draw the list of places under an accessible name.

    Notes stand below the words, or with `beside` beside them.
    """
    data = {
        "label": label,
        "beside": beside,
        "places": [
            {
                "address": address_of(place.place),
                "words": [list(piece) for piece in place.words],
                "language": place.language,
                "note": place.note,
                "depth": place.depth,
                "current": place.current,
            }
            for place in places
        ],
    }
    targets = [place.place for place in places]
    _list(key=key, data=data, on_followed_change=partial(followed, key, targets))
