"""The card of an adapter says what it was trained on, under which licences, and how well it reads."""

import hashlib
from pathlib import Path

import pytest

from rag_engine.backends.reader.load import ADAPTER, read_card
from rag_engine.errors import InputError
from training.card import WEIGHTS, complete_card, data_of, write_card
from training.samples import LICENSED

COLUMNS = "path\tkind\tsource\tlicence\n"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "MANIFEST.tsv"
    rows = ("c/en_a.pdf\tpdf\tone/docs:a.pdf\tCC BY 4.0", "c/en_b.pdf\tpdf\ttwo/docs:b.pdf\tpublic domain")
    above = ("c/en_c.pdf\tpdf\tone/docs:c.pdf\tas above", "c/en_d.pdf\tpdf\tthree/docs:d.pdf\t")
    file.write_text(COLUMNS + "\n".join((*rows, *above)) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / WEIGHTS).write_bytes(b"weights")
    write_card(folder, {"sets": ["es_squad1"], "documents": ["en_a.pdf", "en_c.pdf"], "steps": 3})
    return folder


def test_the_card_that_is_shipped_has_data_licences_figures_and_the_hash_of_the_adapter() -> None:
    card = read_card(ADAPTER)
    assert {*LICENSED, "en_paris_agreement.pdf"} <= {one["name"] for one in card["data"]}
    assert [one["name"] for one in card["data"]] == [*card["sets"], *card["documents"]]
    assert all(one["from"] and one["licence"] for one in card["data"])
    assert card["figures"]["command"].startswith("python -m training.evaluate")
    told = card["figures"]["sets"]["xquad/en"]
    assert told["first_quotation"]["0.3"] > told["first_quotation"]["0"]
    assert told["auc"]["reader"] > told["auc"]["likeness"]
    assert card["left_out"]
    assert card["sha256"] == hashlib.sha256((ADAPTER / WEIGHTS).read_bytes()).hexdigest()


def test_a_card_is_completed_and_keeps_what_it_has(adapter: Path, manifest: Path) -> None:
    complete_card(adapter, manifest, {"command": "measured", "sets": {}})
    complete_card(adapter, manifest)
    card = read_card(adapter)
    assert [(one["name"], one["licence"]) for one in card["data"]] == [
        ("es_squad1", "CC BY 4.0"),
        ("en_a.pdf", "CC BY 4.0"),
        ("en_c.pdf", "CC BY 4.0"),
    ]
    assert (card["figures"]["command"], card["steps"]) == ("measured", 3)
    assert card["sha256"] == hashlib.sha256(b"weights").hexdigest()


def test_the_card_of_another_adapter_is_refused(adapter: Path, manifest: Path) -> None:
    (adapter / WEIGHTS).write_bytes(b"others")
    before = (adapter / "card.json").read_bytes()
    with pytest.raises(InputError, match="describes another adapter"):
        complete_card(adapter, manifest)
    assert (adapter / "card.json").read_bytes() == before


@pytest.mark.parametrize(
    ("sets", "documents", "said"),
    [(["mine"], [], "set mine"), ([], ["en_d.pdf"], "en_d.pdf"), ([], ["en_e.pdf"], "en_e.pdf")],
)
def test_data_without_a_licence_is_refused(manifest: Path, sets: list[str], documents: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        data_of(sets, documents, manifest)
