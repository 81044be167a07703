from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.metadata_file import read_descriptions
from rag_engine.errors import InputError


def write(folder: Path, *lines: str) -> Path:
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def vast(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def test_a_folder_without_descriptions_has_none(tmp_path: Path) -> None:
    assert read_descriptions(tmp_path) == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", "line 2 is not JSON"),
        ('{"title": "No file"}', "line 2 does not name its file"),
        ('{"file": "a.pdf", "colour": "red"}', "unknown keys colour"),
        ('{"file": "a.pdf", "hazards": "Flood"}', "hazards is 'Flood'"),
        ('{"file": "a.pdf", "hazards": ["Flood", 3]}', r"hazards is \['Flood', 3\]"),
        ('{"file": "a.pdf", "year": "2019"}', "year is '2019'"),
        ('{"file": "a.pdf", "year": true}', "year is True"),
        ('{"file": "a.pdf", "language": "Klingon"}', "line 2: language is 'Klingon'.*ISO 639-1, such as en"),
        ('{"file": "a.pdf", "language": "xx"}', "language is 'xx'"),
        ('{"file": "a.pdf", "language": "eng-lish"}', "language is 'eng-lish'"),
        ("[" * 100_000, "line 2 is not JSON"),
        ('{"file": "a.pdf", "year": ' + "1" * 5000 + "}", "line 2 is not JSON"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_descriptions(write(tmp_path, '{"file": "b.pdf"}', line))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (os.mkfifo, "is a pipe"),
        (Path.mkdir, "is a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "leads out of the folder"),
        (lambda path: path.symlink_to("/etc/passwd"), "leads out of the folder"),
        (vast, "more than 50,000,000 bytes"),
    ],
)
def test_descriptions_that_are_no_file_lead_out_or_have_no_end_are_refused_at_once(
    tmp_path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(tmp_path / "metadata.jsonl")
    with pytest.raises(InputError, match=rf"metadata\.jsonl.*{said}") as refused:
        read_descriptions(tmp_path)
    assert refused.value.help


@pytest.mark.parametrize(
    ("given", "code"),
    [
        *(("en", "en"), ("EN", "en"), (" it ", "it"), ("pt-BR", "pt"), ("de_AT", "de"), ("zh-Hans-CN", "zh")),
        *(("English", "en"), ("GERMAN", "de"), ("Deutsch", "de"), ("italiano", "it"), ("Türkçe", "tr")),
        *(("francais", "fr"), ("nb", "no"), ("norsk", "no"), ("sw", "sw"), ("Ελληνικά", "el"), ("日本語", "ja")),
    ],
)
def test_a_language_becomes_its_code_however_it_is_written(tmp_path: Path, given: str, code: str) -> None:
    write(tmp_path, json.dumps({"file": "a.pdf", "language": given}))
    assert read_descriptions(tmp_path)["a.pdf"]["language"] == code


def test_a_file_in_another_encoding_is_named_with_its_cure(tmp_path: Path) -> None:
    lines = '{"file": "a.pdf"}\n{"file": "b.pdf", "title": "Dürre"}\n'
    (tmp_path / "metadata.jsonl").write_bytes(lines.encode("latin-1"))
    with pytest.raises(InputError, match=r"metadata.jsonl, line 2 is not UTF-8.*Save"):
        read_descriptions(tmp_path)


def test_a_file_saved_on_windows_reads_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "metadata.jsonl").write_bytes(b'\xef\xbb\xbf{"file": "a.pdf"}\r\n\r\n{"file": "b.pdf"}\r\n')
    assert list(read_descriptions(tmp_path)) == ["a.pdf", "b.pdf"]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    write(tmp_path, '{"file": "a.pdf", "notes": "one\u2028two"}', '{"file": "b.pdf"}')
    assert read_descriptions(tmp_path)["a.pdf"]["notes"] == "one\u2028two"
