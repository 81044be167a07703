"""Card of a reader's adapter: its training data with licences, its figures and its hash.

    python -m training.card [ADAPTER_FOLDER] [--figures FILE.json] [--shared DIR]

Writes origin and licence of all that an adapter's card names into it, and the figures that `training.evaluate --out`
wrote. Without new figures, the card keeps its old ones. `training.train` writes a new adapter's card by the same
function.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_engine.backends.reader.load import ADAPTER, CARD, read_card
from rag_engine.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = "adapter.safetensors"
LICENCE = "AGPL-3.0-or-later"
# Where each set is from and under which licence: what ../shared/data/reading/README.md says.
ORIGINS: Mapping[str, tuple[str, str]] = {
    "es_squad1": ("SQuAD-es 1.1, small development set (ccasimiro88/TranslateAlignRetrieve)", "CC BY 4.0"),
    "es_squad2": ("SQuAD-es 2.0, small development set (ccasimiro88/TranslateAlignRetrieve)", "CC BY 4.0"),
    "fr_cnil": (
        "questions to the French data protection authority (etalab-ia/piaf-ml)",
        "Etalab open licence, in a repository under MIT",
    ),
    "pt_squad2": (
        "SQuAD 2.0 development set in Portuguese (cjaniake/squad_v2.0_pt)",
        "SQuAD is CC BY-SA 4.0; the translation states none",
    ),
    "questions": ("written for this training, on passages of the documents and texts of our own", LICENCE),
    "tr_tquad": ("TQuAD training set (TQuad/turkish-nlp-qa-dataset)", "no licence file"),
}


def complete_card(folder: Path, manifest: Path, figures: Mapping[str, Any] | None = None) -> None:
    """Write data, licences and figures into an adapter's card; InputError if the weights are another's.

    `manifest` lists the documents that questions were made from.
    """
    card = read_card(folder)
    if hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest() != card.get("sha256"):
        raise InputError(f"{folder / CARD} describes another adapter.", help="Restore both files.")
    data = data_of(card["sets"], card["documents"], manifest)
    write_card(folder, {**card, "data": data, "figures": figures or card.get("figures", {}), "licence": LICENCE})


def data_of(sets: Sequence[str], documents: Sequence[str], manifest: Path) -> list[dict[str, str]]:
    """Return name, origin and licence of each set and document; InputError for an unknown licence."""
    if unknown := [name for name in sets if name not in ORIGINS]:
        raise InputError(f"No licence is known of the set {unknown[0]}.", help="Add it to ORIGINS in training/card.py.")
    listed = dict(_listed(manifest)) if documents else {}
    if missing := [name for name in documents if not all(listed.get(name, ("", "")))]:
        raise InputError(f"{manifest} has no source and licence of {missing[0]}.", help="Add them to its line.")
    named = {name: ORIGINS[name] for name in sets} | {name: listed[name] for name in documents}
    return [{"name": name, "from": origin, "licence": licence} for name, (origin, licence) in named.items()]


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Write the card of the adapter in a folder, with the hash of its weights last."""
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    whole = {**{name: value for name, value in card.items() if name != "sha256"}, "sha256": digest}
    (folder / CARD).write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _listed(manifest: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name of each document with its source and licence; "as above" is that of its repository."""
    licences: dict[str, str] = {}
    with manifest.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            repository = row["source"].partition(":")[0]
            licence = licences.get(repository, "") if row["licence"] == "as above" else row["licence"]
            licences[repository] = licence
            yield Path(row["path"]).name, (row["source"], licence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter", type=Path, nargs="?", default=ADAPTER)
    parser.add_argument("--figures", type=Path, help="what `python -m training.evaluate --out FILE.json` wrote")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    figures = json.loads(arguments.figures.read_text(encoding="utf-8")) if arguments.figures else None
    complete_card(arguments.adapter, arguments.shared / "data" / "MANIFEST.tsv", figures)


if __name__ == "__main__":
    main()
