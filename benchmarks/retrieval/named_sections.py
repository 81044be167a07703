"""Questions that name a section: how often it comes first, for every statute of the real documents.

    python -m benchmarks.retrieval.named_sections [--every N] [--workspace DIR] [--shared DIR]

The forms are those of data/eval/named_sections.tsv. The sections asked for are those that data/eval/sections_starts.tsv
lists, which was made from the raw lines of the PDFs. For an act or treaty without a list they are the indexed ones.
Each form asks for every N-th section, another one for each form, and for number 999, which does not exist.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.chunking.section.rules import normal_label
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine, open_engine

ROOT = Path(__file__).resolve().parents[2]
FORMS = DATA / "eval" / "named_sections.tsv"
STARTS = DATA / "eval" / "sections_starts.tsv"
# One act may be in several documents.
ALSO_IN = {"en_paris_agreement.pdf": "en_unfccc_cop21_decision1_paris.pdf"}
UNITS = ("article ", "section ")
NO_SUCH = "999"


@dataclass(frozen=True, slots=True)
class Form:
    """A way of asking for section {n} of an act, by its title, short title, number or initials."""

    file: str
    language: str
    form: str
    question: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rank of the section that a question names, 0 if it is not found.

    For a section that does not exist the rank is 1 if the answer says so.
    """

    form: Form
    rank: int
    exists: bool


def read_forms() -> list[Form]:
    """Return the forms of the committed table."""
    lines = FORMS.read_text(encoding="utf-8").splitlines()[1:]
    return [Form(*line.split("\t")) for line in lines]


def listed_sections(engine: Engine) -> dict[str, list[str]]:
    """Return the labels of the numbered sections of each file that is an act, in their order."""
    labels: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for line in STARTS.read_text(encoding="utf-8").splitlines()[1:]:
        file, _, section, _ = line.split("\t", 3)
        labels[file][normal_label(section)] = None
    known = set(labels)
    view = engine.collection.view()
    for act in view.acts:
        for label, places in act.sections.items():
            file = view.snapshot.documents[places[0].document_key].file
            if file not in known:
                labels[file][label] = None
    return {file: [one for one in those if one.startswith(UNITS)] for file, those in labels.items()}


def ask(engine: Engine, forms: Sequence[Form], sections: Mapping[str, Sequence[str]], every: int) -> Iterator[Outcome]:
    """Yield the outcome of every question."""
    for place, form in enumerate(forms):
        for label in sections[form.file][place % every :: every]:
            number = label.partition(" ")[2]
            sources = engine.search(form.question.format(n=number)).sources
            files = {form.file, ALSO_IN.get(form.file, "")}
            right = [source.document.file in files and normal_label(source.section) == label for source in sources]
            rank = right.index(True) + 1 if True in right else 0
            if rank != 1:
                print(f"{form.question.format(n=number)}: rank {rank}", flush=True)
            yield Outcome(form, rank, exists=True)
        absent = engine.search(form.question.format(n=NO_SUCH)).absent
        if not absent:
            print(f"{form.question.format(n=NO_SUCH)}: not said to be missing", flush=True)
        yield Outcome(form, int(bool(absent)), exists=False)


def table(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return a row for each act, language and form, and for all."""
    groups: dict[str, list[Outcome]] = {}
    for name in ("file", "language", "form"):
        for one in outcomes:
            groups.setdefault(getattr(one.form, name), []).append(one)
    return [row(name, those) for name, those in (*groups.items(), ("all", outcomes))]


def row(name: str, outcomes: Sequence[Outcome]) -> list[str]:
    """Return how often the section came first, among the first ten, and was said not to exist."""
    existing = [one for one in outcomes if one.exists]
    missing = [one for one in outcomes if not one.exists]
    counts = [sum(one.rank == 1 for one in existing), sum(one.rank > 0 for one in existing)]
    shares = [f"{count / len(existing):.1%}" for count in counts]
    return [name, f"{len(existing)}", *shares, f"{sum(one.rank for one in missing)} of {len(missing)}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=4, metavar="N")
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    forms = read_forms()
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            wanted = sorted({*(form.file for form in forms), *ALSO_IN.values()})
            add_paths([arguments.shared / "data" / "corpus" / file for file in wanted], engine)
        outcomes = list(ask(engine, forms, listed_sections(engine), arguments.every))
        documents = len(engine.collection.snapshot().documents)
        engine.close()
    write_table(
        "named_sections",
        "Questions that name a section",
        ["asked", "questions", "first", "among the first ten", "no such section, and said so"],
        table(outcomes),
        [
            machine(),
            f"`python -m benchmarks.retrieval.named_sections --every {arguments.every}` over {documents} documents.",
            "The forms were written with the rules at hand; other words for an act may not be met.",
        ],
    )


if __name__ == "__main__":
    main()
