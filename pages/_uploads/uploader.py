"""Places where files are dropped; lists and workbooks are stored while they are previewed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ingestion.acts.documents import discard_upload, preview_upload
from pages._shared import resources
from pages._shared.elements import why_disabled
from pages._uploads.bounds import discard_with_session, let_go, offer_upload


def stored_preview(place: str, file: UploadedFile) -> Path:
    """Store the uploaded file once and return its path; discard the file before it at this place."""
    path: Path | None
    before, path = st.session_state.get(place, ("", None))
    if path is None or before != file.file_id or not path.exists():
        _discard(place)
        path = preview_upload(resources.context(), file.name, file)
        discard_with_session(path)
        st.session_state[place] = file.file_id, path
    return path


def draw_uploader(place: str, act: str, label: str, types: Sequence[str], **options: Any) -> Any:
    """Draw where files are dropped that an act takes, and return them."""
    # A new key for each batch empties the widget once its files are handed on.
    key = f"{place} upload {st.session_state.setdefault(f'{place} batch', 0)}"
    why = why_disabled(act)
    if why is None:
        offer_upload()
    return st.file_uploader(label, type=types, key=key, disabled=why is not None, help=why, **options)


def draw_preview_uploader(place: str, label: str, types: Sequence[str]) -> UploadedFile | None:
    """Draw where a file is dropped and return it; the preview at this place ends with it."""
    file: UploadedFile | None = draw_uploader(place, "preview_upload", label, types)
    if file is None:
        _discard(place)
    return file


def empty_uploader(place: str) -> None:
    """Draw the page again without the files that were dropped at this place."""
    let_go(f"{place} upload {st.session_state[f'{place} batch']}")
    st.session_state[f"{place} batch"] += 1
    st.rerun()


def leave(place: str) -> None:
    """Draw the page again without the file: its content is in the source store."""
    _discard(place)
    empty_uploader(place)


def _discard(place: str) -> None:
    _, path = st.session_state.pop(place, ("", None))
    if path is not None:
        discard_upload(path)
