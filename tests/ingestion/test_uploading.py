from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.uploading import keep_upload, safe_name


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Piano caldo.docx", "Piano caldo.docx"),
        ("Hitzeschutzplan für Köln.pdf", "Hitzeschutzplan für Köln.pdf"),
        (".bashrc", "bashrc"),
        ("..", "upload"),
        ("", "upload"),
        ("a\x00b\n.pdf", "ab.pdf"),
    ],
)
def test_a_name_keeps_its_letters_and_loses_its_folders(given_name: str, kept: str) -> None:
    assert safe_name(given_name) == kept


@given(st.text(max_size=400))
def test_any_name_stays_one_visible_name_in_its_folder(name: str) -> None:
    kept = safe_name(name)
    assert kept
    assert len(kept) <= 150
    assert not kept.startswith(".")
    assert Path("/folder", kept).parent == Path("/folder")


def test_an_upload_is_kept_whole_and_replaces_one_of_the_same_name(tmp_path: Path) -> None:
    keep_upload(tmp_path, "plan.txt", io.BytesIO(b"old"))
    path = keep_upload(tmp_path, "plan.txt", io.BytesIO(b"new" * 1_000_000))
    assert path.read_bytes() == b"new" * 1_000_000
    assert [one.name for one in path.parent.iterdir()] == ["plan.txt"]
