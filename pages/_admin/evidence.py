"""What a decision rests on: marks of a licence, parts of a score, the file itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import streamlit as st

from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.types import LicenceMark, Light, Quality
from pages._shared import resources
from pages._shared.markdown import plain

_LIGHTS: Mapping[str, tuple[str, str]] = {
    "GREEN": ("green", ":material/check_circle:"),
    "YELLOW": ("yellow", ":material/help:"),
    "RED": ("red", ":material/block:"),
}
_LAYERS: Mapping[str, str] = {
    "domain": "known site",
    "mark": "machine-readable mark",
    "pattern": "wording",
    "model": "language model",
    "person": "a person",
}
# The most that each part of the score can be.
_PARTS = (
    ("Length", "length", 50),
    ("Passages", "chunks", 20),
    ("Sections", "sections", 15),
    ("Cleaning", "cleaning", 15),
)
_SHOWN_MARKS = 12


def light_badge(light: Light | str) -> str:
    """Markdown of a light: colour, sign and word."""
    colour, sign = _LIGHTS.get(light, ("gray", ":material/help:"))
    return f":{colour}-badge[{sign} {plain(light)}]"


def draw_marks(marks: Sequence[LicenceMark]) -> None:
    """Nothing; draws each piece of evidence with its light, what it says and where it stood."""
    if not marks:
        st.caption("No statement on a licence was found.")
    for mark in marks[:_SHOWN_MARKS]:
        layer = _LAYERS.get(mark.layer, mark.layer)
        st.markdown(
            f"{light_badge(mark.light)} **{plain(mark.licence) or 'no licence named'}** · {plain(mark.place)} · {layer}"
            + (f" · rule {plain(mark.rule)}" if mark.rule else "")
            + (f"  \n“{plain(mark.quote)}”" if mark.quote else "")
        )
    if len(marks) > _SHOWN_MARKS:
        st.caption(f"and {len(marks) - _SHOWN_MARKS:,} more")


def draw_quality(quality: Quality) -> None:
    """Nothing; draws the score and its four parts as bars."""
    st.markdown(f"Quality **{quality.score:.0f} of 100**")
    for place, (name, field, most) in zip(st.columns(4), _PARTS, strict=True):
        value = float(getattr(quality, field))
        place.progress(min(max(value / most, 0.0), 1.0), text=f"{name} {value:.0f}/{most}")
    if quality.readability < 1:
        st.caption(f"{quality.readability:.0%} of the text read by OCR looks like words.")


def draw_address(record: SourceRecord, key: str) -> None:
    """Nothing; draws where a source is, its address as text with a link or its file's path, and its file."""
    source = record.source
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key} address"):
        st.caption(plain(source.url or source.path), width="content")
        if urlsplit(source.url).scheme in ("http", "https"):
            st.link_button("Open", source.url, icon=":material/open_in_new:", type="tertiary")
        _draw_file(record, key)


def _draw_file(record: SourceRecord, key: str) -> None:
    """Nothing; draws the button that hands out the source's file, where there is one."""
    download = record.download
    path = file_of(resources.workspace(), download) if download is not None and download.path else None
    if path is None:
        return
    st.download_button(
        "File",
        path.read_bytes,
        path.name,
        # Never a type that the browser would open in place: the file may hold scripts.
        "application/octet-stream",
        key=f"{key} file",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        help=path.name,
    )
