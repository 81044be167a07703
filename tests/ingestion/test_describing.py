from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.describing import describe, read_descriptions
from rag_engine.errors import InputError
from rag_engine.geography import load_gazetteer
from rag_engine.types import ExtractedText

EXTRACTED = ExtractedText("Text", 1, (), (), "text/plain", title="A title of its own")


def write(folder: Path, *lines: str) -> Path:
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_what_was_given_wins_and_the_text_fills_the_rest(tmp_path: Path) -> None:
    write(tmp_path, '{"file": "a.pdf", "hazards": ["Flood"], "countries": ["Italia"], "date": "2019-05-02"}')
    metadata = describe(read_descriptions(tmp_path)["a.pdf"], EXTRACTED, "it", load_gazetteer())
    assert metadata.title == "A title of its own"
    assert metadata.countries == ("Italy",)
    assert metadata.year == 2019
    assert metadata.hazards == ("Flood",)


def test_a_folder_without_descriptions_has_none(tmp_path: Path) -> None:
    assert read_descriptions(tmp_path) == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", "line 2 is not JSON"),
        ('{"title": "No file"}', "line 2 does not name its file"),
        ('{"file": "a.pdf", "colour": "red"}', "unknown keys colour"),
        ('{"file": "a.pdf", "hazards": "Flood"}', "hazards is 'Flood'"),
        ('{"file": "a.pdf", "year": "2019"}', "year is '2019'"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_descriptions(write(tmp_path, '{"file": "b.pdf"}', line))
