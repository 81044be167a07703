"""A small keyword index in four languages."""

from pathlib import Path

import pytest

from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.protocols import SparseIndex

# (key, document, language, text): two documents in English, one each in Italian, German and Turkish.
ROWS = [
    (1, 1, "en", "Flood risk management plans shall be reviewed by 2030."),
    (2, 1, "en", "The WHO and the cities agreed on heat plans under Regulation 2021/1119."),
    (3, 2, "en", "Those who live in a flooded city are told to leave."),
    (4, 3, "it", "Il piano di gestione del rischio alluvioni di Bologna si aggiorna entro il 2030."),
    (5, 3, "it", "L'OMS e la WHO Regional Office: le ondate di calore nelle città."),
    (6, 4, "de", "Hochwasserrisiken werden nach § 73 Absatz 5 Satz 2 bewertet, siehe 1/CP.21."),
    (7, 5, "tr", "İstanbul'da depremlerin etkisi büyüktür."),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sparse"


@pytest.fixture
def index(folder: Path) -> TantivyIndex:
    opened = open_sparse_index(folder, writable=True)
    opened.add(ROWS)
    opened.commit()
    return opened


def found(index: SparseIndex, query: str, language: str = "en", **options: object) -> list[int]:
    return [key for key, _ in index.search(query, language, 10, **options)]  # type: ignore[arg-type]
