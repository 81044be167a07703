"""Documents of the analyst's own, kept in the workspace for good and put on the list of sources."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ingestion.admin_views import under
from ingestion.seeds import read_seeds
from ingestion.uploading import keep_upload
from pages._shared import resources
from pages._shared.admin_seeds import add_sources, draw_unusable
from pages._shared.trouble import told

_TYPES = [
    "pdf", "docx", "docm", "pptx", "pptm", "xlsx", "xlsm", "odt", "odp", "ods", "epub", "rtf", "html", "htm", "xhtml",
    "md", "txt", "doc", "ppt", "xls",
]  # fmt: skip
_REFUSED = "documents refused"


def draw_document_upload() -> None:
    """Nothing; takes files and puts them on the list."""
    batch = st.session_state.setdefault("document batch", 0)
    files = st.file_uploader(
        "Documents of your own", type=_TYPES, accept_multiple_files=True, key=f"document upload {batch}"
    )
    st.caption("They stay in the workspace and go through every phase, as downloaded ones do.")
    label = f"Add {len(files):,} documents" if len(files) > 1 else "Add document"
    if st.button(label, type="primary", icon=":material/note_add:", disabled=not files):
        with told():
            _take(files)
        st.session_state["document batch"] = batch + 1
        st.rerun()
    draw_unusable(st.session_state.get(_REFUSED, ()))


def _take(files: Sequence[UploadedFile]) -> None:
    """Nothing; the files are in the workspace's sources/ and on the list; what cannot be read is not kept."""
    workspace = resources.workspace()
    folder = workspace / "sources"
    folder.mkdir(exist_ok=True)
    folders: list[Path] = []
    for file in files:
        kept = keep_upload(workspace, file.name, file)
        # With its folder, so that two files of one name both stay.
        folders.append(kept.parent.replace(folder / kept.parent.name))
    report = read_seeds(folder, resources.register().sources())
    # Others may be adding files in this moment.
    names = {one.name for one in folders}
    add_sources([one for one in report.new if under(one.path, folder) in names])
    refused = [one for one in report.unusable if Path(one.place).parts[0] in names]
    for one in refused:
        shutil.rmtree(folder / Path(one.place).parts[0], ignore_errors=True)
    st.session_state[_REFUSED] = refused
