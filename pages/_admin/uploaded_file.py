"""A list or workbook that was uploaded to be looked at: on the disk while it is, gone after."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ingestion.operations import discard_upload, preview_upload
from pages._shared import resources


def kept(place: str, file: UploadedFile) -> Path:
    """Where the uploaded file lies, written once; the one that was there before at this place of the page is gone."""
    before = st.session_state.get(place)
    if before is not None and before[0] == file.file_id and Path(before[1]).exists():
        return Path(before[1])
    forget(place)
    path = preview_upload(resources.desk(), file.name, file)
    st.session_state[place] = file.file_id, str(path)
    return path


def forget(place: str) -> None:
    """Nothing; removes the file: what was taken from it is in the source store."""
    before = st.session_state.pop(place, None)
    if before is not None:
        discard_upload(Path(before[1]))
