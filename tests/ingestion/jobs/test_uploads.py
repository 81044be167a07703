from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.file_names import is_too_long, safe_name
from ingestion.jobs.uploads import keep_upload


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
    assert len(kept.encode()) <= 180
    assert not kept.startswith(".")
    assert Path("/folder", kept).parent == Path("/folder")


def test_a_long_cyrillic_name_fits_a_file_system_and_keeps_its_ending(tmp_path: Path) -> None:
    name = "План действий при наводнениях " * 9 + ".pdf"
    path = keep_upload(tmp_path, name, io.BytesIO(b"%PDF"))
    assert path.name.startswith("План действий при наводнениях")
    assert path.suffix == ".pdf"
    assert path.read_bytes() == b"%PDF"


def test_a_name_of_three_hundred_arabic_letters_is_cut_between_words_and_shows_it() -> None:
    name = "الخطة الوطنية للحماية من الفيضانات " * 9 + ".pdf"
    assert is_too_long(name)
    kept = safe_name(name)
    assert kept.endswith("….pdf")
    assert set(kept.removesuffix("….pdf").split()) == set(name.removesuffix(".pdf").split())
    assert not is_too_long(kept)
    assert safe_name("خطة.pdf") == "خطة.pdf"


def test_two_uploads_of_one_name_are_both_kept_whole(tmp_path: Path) -> None:
    first = keep_upload(tmp_path, "plan.txt", io.BytesIO(b"one"))
    second = keep_upload(tmp_path, "plan.txt", io.BytesIO(b"two" * 1_000_000))
    assert first.name == second.name == "plan.txt"
    assert first.read_bytes() == b"one"
    assert second.read_bytes() == b"two" * 1_000_000
    assert [one.name for one in second.parent.iterdir()] == ["plan.txt"]
