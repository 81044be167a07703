"""The pairs of sentences and passages are well formed, and every passage is in the real document."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.conftest import ROOT

LABELS = {
    "supported": "supported",
    "number changed": "unsupported",
    "name changed": "unsupported",
    "negated": "unsupported",
    "unrelated": "unsupported",
    "over-generalised": "partly",
}
with (ROOT / "data" / "eval" / "support.tsv").open(encoding="utf-8", newline="") as file:
    PAIRS = list(csv.DictReader(file, delimiter="\t"))


def test_every_pair_has_the_label_of_its_kind_and_the_half_of_its_id() -> None:
    for pair in PAIRS:
        assert pair["label"] == LABELS[pair["kind"]], pair["id"]
        half = "heldout" if hashlib.sha256(pair["id"].encode()).digest()[0] % 2 else "dev"
        assert pair["half"] == half, pair["id"]


def test_ids_and_sentences_are_distinct() -> None:
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)
    assert len({(pair["sentence"], pair["passage"]) for pair in PAIRS}) == len(PAIRS)


def test_every_language_has_its_share_and_about_half_of_the_sentences_are_supported() -> None:
    by_language = Counter(pair["language"] for pair in PAIRS)
    assert set(by_language) == {"en", "it", "fr", "de", "es", "pt", "tr"}
    assert min(by_language.values()) >= 45
    supported = sum(pair["label"] == "supported" for pair in PAIRS) / len(PAIRS)
    assert 0.4 <= supported <= 0.6


def test_passages_are_in_their_documents(shared: Path) -> None:
    # One document of each reader that is quick; all of them are checked when the pairs are changed.
    for name in (
        "en_eu_climate_law_2021-1119.md",
        "fr_exemple_cahier_de_charge_be.odt",
        "tr_yangin_yonetmeligi_excerpt.pdf",
    ):
        text = " ".join(extract(shared / "data" / "corpus" / name, ExtractionLimits(), None).text.split())
        for pair in PAIRS:
            if pair["document"] == name:
                assert " ".join(pair["passage"].split()) in text, pair["id"]
