"""A language model in the pipeline: licences, links, kinds of page, descriptions.

Time and useful replies.

    SEXTANT_OLLAMA_URL=http://127.0.0.1:11434 python -m benchmarks.models.pipeline_model [--documents 5] [--shared DIR]

The model is asked what the rules leave open: clauses of data/eval/licence_clauses.tsv that they leave YELLOW, links
without a word of policies, pages that neither list nor offer documents. Descriptions are those of the shortest
documents of data/eval/corpus_metadata.tsv, with the model's values as far as they are believed. A reply is useful when
it comes in time, in the shape that was asked for, and is believed.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.pipeline import metadata
from benchmarks.report import machine, write_table
from ingestion.licence.check import ask_model, decide
from ingestion.licence.patterns import read_statements
from ingestion.navigation.link_choice import why_off_topic
from ingestion.navigation.page_kind import page_kind
from ingestion.paced_model import PacedModel
from ingestion.protocols import LanguageModel
from ingestion.web.links import PageLink
from ingestion.web.page import read_page
from rag_engine.config import DATA, read_config
from rag_engine.errors import BackendError
from rag_engine.models import Models

ROOT = Path(__file__).resolve().parents[2]
CLAUSES = DATA / "eval" / "licence_clauses.tsv"
SECONDS = 90.0
# Of each light that the rules leave YELLOW.
OF_EACH = 8
# What is looked for, the page on which the link stands, what the link says, whether it leads there.
LINKS = (
    ("Heat Health Action Plan", "Summer and health", "What to do when it gets very hot", True),
    ("Heat Health Action Plan", "Summer and health", "Opening hours of the outdoor pools", False),
    ("National Adaptation Strategy", "Climate change", "How the country prepares for a warmer future", True),
    ("National Adaptation Strategy", "Climate change", "Our minister at the summer festival", False),
    ("Piano nazionale di protezione civile", "Rischio idrogeologico", "Che fare prima e dopo un'alluvione", True),
    ("Piano nazionale di protezione civile", "Rischio idrogeologico", "Concorso fotografico 2023", False),
    ("Hochwasserschutzkonzept", "Wasser", "So schützt sich die Stadt vor dem Fluss", True),
    ("Hochwasserschutzkonzept", "Wasser", "Trinkwasserpreise der Stadtwerke", False),
)  # fmt: skip
TEXT = "The river rises every spring, and the town keeps walls, pumps and volunteers ready for it. " * 40
PAGES = (
    ("content", f"<h1>Living with the river</h1><p>{TEXT}</p><p>See also <a href='/parks'>our parks</a>.</p>"),
    (
        "directory",
        "<h1>Everything about floods</h1><ul>"
        + "".join(f"<li><a href='/r{n}'>The river in the year {n}</a></li>" for n in range(1998, 2012))
        + "</ul>",
    ),
    (
        "landing",
        "<h1>The town and its river, 2020</h1><p>Ten years in numbers and pictures.</p>"
        "<p><a href='/river-2020'>All 80 pages</a> <a href='/contact'>Contact</a></p>",
    ),
)
HTML = "de_wbf_admin_ch_14093.html"


@dataclass
class Watched:
    """A LanguageModel that notes how long each request takes and which of them are answered."""

    model: LanguageModel
    seconds: list[float] = field(default_factory=list)
    answered: int = 0

    @property
    def name(self) -> str:
        return self.model.name

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return the model's reply."""
        started = time.perf_counter()
        try:
            reply = self.model.complete_json(system, user, schema, seconds=seconds)
        finally:
            self.seconds.append(time.perf_counter() - started)
        self.answered += 1
        return reply


def row(name: str, watched: Watched, useful: int, right: str) -> list[str]:
    """Return a row of the table."""
    times = sorted(watched.seconds)
    middle = f"{times[len(times) // 2]:.0f}" if times else "-"
    longest = f"{times[-1]:.0f}" if times else "-"
    asked = len(times)
    print(name, asked, watched.answered, useful, right, middle, longest, flush=True)
    return [name, str(asked), f"{watched.answered} of {asked}", f"{useful} of {asked}", right, middle, longest]


def licences(model: LanguageModel) -> list[str]:
    """Return how the model judges clauses that the rules leave to a person."""
    with CLAUSES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    left = [one for one in rows if decide(read_statements(one["text"], "page")).light == "YELLOW"]
    chosen = [one for light in ("GREEN", "YELLOW", "RED") for one in left if one["light"] == light]
    counted = {
        light: [one for one in chosen if one["light"] == light][:OF_EACH] for light in ("GREEN", "YELLOW", "RED")
    }
    watched, useful, right, freed = Watched(model), 0, 0, 0
    total = sum(map(len, counted.values()))
    for light, some in counted.items():
        for one in some:
            mark, _, message = ask_model(watched, [one["text"]], seconds=SECONDS)
            useful += mark is not None and not message
            right += mark is not None and mark.light == light
            freed += mark is not None and mark.light == "GREEN" and light != "GREEN"
    return row("licence of a clause", watched, useful, f"{right} of {total}; {freed} wrongly GREEN")


def relevance(model: LanguageModel) -> list[str]:
    """Return how the model judges links that hold no word of policies."""
    watched, right = Watched(model), 0
    for expected, page, text, leads in LINKS:
        link = PageLink(f"https://example.org/{abs(hash(text))}", text)
        why = why_off_topic(link, expected=expected, page_name=page, language_model=watched, seconds=SECONDS)
        right += (not why) == leads
    return row("relevance of a link", watched, watched.answered, f"{right} of {len(LINKS)}")


def kinds(model: LanguageModel, shared: Path) -> list[str]:
    """Return how the model sorts pages that the rules leave open."""
    pages = [(kind, f"<html><body><main>{body}</main></body></html>".encode()) for kind, body in PAGES]
    pages.append(("content", (shared / "data" / "corpus" / HTML).read_bytes()))
    watched, useful, right, asked = Watched(model), 0, 0, 0
    for kind, body in pages:
        before = len(watched.seconds)
        page = read_page(body, "utf-8", "https://example.org/page")
        verdict = page_kind(page, language_model=watched, seconds=SECONDS)
        if len(watched.seconds) > before:
            asked += 1
            useful += not verdict.warning
            right += verdict.kind == kind
    return row("kind of a page", watched, useful, f"{right} of {asked}")


def descriptions(model: LanguageModel, documents: int, corpus: Path) -> tuple[list[str], list[str]]:
    """Return how the model describes documents, and what of it is right with the model and without."""
    by_size = sorted(metadata.read_truth(), key=lambda one: (corpus / one.file).stat().st_size)
    truths: Sequence[metadata.Described] = by_size[:documents]
    watched = Watched(model)
    with_model = metadata.measure(truths, metadata.describe_all(truths, corpus, watched))
    by_rules = metadata.measure(truths, metadata.describe_all(truths, corpus))
    right = sum(one.told_right + one.untold_right for one in with_model)
    total = sum(one.files for one in with_model)
    notes = [
        f"{one.field}: right {one.told_right + one.untold_right}, wrong {one.wrong} of {one.files} with the model; "
        f"right {other.told_right + other.untold_right}, wrong {other.wrong} by rules alone."
        for one, other in zip(with_model, by_rules, strict=True)
    ]
    return row("description of a document", watched, watched.answered, f"{right} of {total} fields"), notes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=5)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    asked = parser.parse_args()
    found, why = Models(read_config()).language_model()
    if found is None:
        raise BackendError(f"No language model answers. {why}", help="Start Ollama, or set SEXTANT_OLLAMA_URL.")
    model, shared = PacedModel(found), asked.shared.resolve()
    rows = [licences(model), relevance(model), kinds(model, shared)]
    last, notes = descriptions(model, asked.documents, shared / "data" / "corpus")
    write_table(
        "pipeline_model",
        f"The pipeline's questions to {model.name}",
        ["question", "asked", "answered in time", "useful", "right", "median s", "longest s"],
        [*rows, last],
        [machine(), "`python -m benchmarks.models.pipeline_model`, two threads.", *notes],
    )


if __name__ == "__main__":
    main()
