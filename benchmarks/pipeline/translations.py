"""Translations: pairs of documents in two languages that are linked, and that say different things.

    python -m benchmarks.pipeline.translations [--shared DIR]

The documents are the articles of XQuAD in four languages and the Declaration of Human Rights in seven, in thirds; each
is taken with and without its figures, and with a masthead that differs from language to language or none.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.config import DeduplicationConfig
from ingestion.deduplication.find_duplicates import find_twins, join_twins
from ingestion.deduplication.signatures import ComparedSource, candidate_of
from ingestion.types.source import Extraction, ListedSource
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config
from rag_engine.types.document import Block, ExtractedText

ROOT = Path(__file__).resolve().parents[2]
MASTHEADS = {
    "de": "Bundesamt für Umwelt\nPressestelle\nDie Reihe wird fortgesetzt. Nachdruck nur mit Quellenangabe.",
    "en": "Ministry of the Environment\nPublished on the occasion of the annual meeting of the heads of department.",
    "es": "Boletín oficial\nEdición para las bibliotecas\nTraducción no oficial preparada por la secretaría.",
    "fr": "Service de presse\nDocument d'information à l'usage des communes.",
    "it": "Ufficio stampa\nCollana di studi, a cura della segreteria.",
    "pt": "Gabinete de comunicação\nTexto de apoio às autarquias.",
    "tr": "Çevre Bakanlığı\nYayın kurulu\nBu çeviri bilgi amaçlıdır.",
}
_THIRD = 10


def works(benchmarks: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield a work's name, a language and the paragraphs in it."""
    for path in sorted(benchmarks.glob("xquad/*/corpus.jsonl")):
        articles: defaultdict[str, list[str]] = defaultdict(list)
        for line in path.read_text(encoding="utf-8").splitlines():
            paragraph = json.loads(line)
            articles[paragraph["_id"].partition("p")[0]].append(paragraph["text"].lstrip("\ufeff"))
        yield from ((name, path.parent.name, texts) for name, texts in articles.items())
    for path in sorted(benchmarks.glob("udhr_parallel/*.jsonl")):
        texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        for start in range(0, len(texts), _THIRD):
            yield f"declaration {start}", path.stem, texts[start : start + _THIRD]


def candidate(work: str, language: str, paragraphs: Sequence[str], figures: bool, masthead: bool) -> ComparedSource:
    """Return a document as deduplication sees it."""
    shown = [*([MASTHEADS[language]] if masthead else []), *paragraphs]
    text = "\n\n".join(shown if figures else (re.sub(r"\d[\d.,]*", "", one) for one in shown))
    code, size = f"{work} {language}", len(text)
    extracted = ExtractedText(text, 1, (), (Block(0, size, 1, "text"),), "text/plain", "")
    extraction = Extraction(code, "text/plain", 1, 0, 0, size, size, "", language, size)
    return candidate_of(ListedSource(code), extraction, extracted, text, score=50, date="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    config = read_config()
    encoder = load_encoder(config.encoder, config.execution)
    found = list(works(arguments.shared / "data" / "benchmarks"))
    total = sum(count * (count - 1) // 2 for count in Counter(work for work, _, _ in found).values())
    least = DeduplicationConfig().translation_similarity
    rows = []
    for figures in (True, False):
        for masthead in (False, True):
            candidates = [candidate(*one, figures, masthead) for one in found]
            twins = find_twins(candidates, least, encoder.encode_passages)
            joined = join_twins(twins, lambda code: code.rpartition(" ")[2])
            linked = [
                one.rpartition(" ")[0] == other.rpartition(" ")[0]
                for work in joined
                for one, other in combinations(work, 2)
            ]
            words = ("with" if figures else "without", "one in each language" if masthead else "none")
            right = sum(linked)
            rows.append([*words, f"{right} of {total} ({right / total:.1%})", f"{len(linked) - right}"])
    write_table(
        "translations",
        "Translations that are linked",
        ["figures", "masthead", "pairs linked", "pairs linked falsely"],
        rows,
        [
            machine(),
            f"`python -m benchmarks.pipeline.translations`; {len(found)} documents (XQuAD's articles in de, en, es, "
            "tr and "
            "thirds of the Declaration of Human Rights in seven languages), by meaning alone: no address, title or "
            "symbol. The limits of `ingestion/deduplication/find_duplicates.py` were chosen on these.",
        ],
    )


if __name__ == "__main__":
    main()
