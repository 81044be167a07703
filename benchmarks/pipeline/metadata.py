"""Share of descriptions that the rules alone get right, against reading the real documents.

    python -m benchmarks.pipeline.metadata      writes benchmarks/results/metadata.md

The documents lie in the folder that SEXTANT_SHARED names (default: ../shared); what is right is in
data/eval/corpus_metadata.tsv. Every file is copied under a name that says nothing, so that only the file itself
speaks. No language model is asked. Scans are read by the OCR that is installed.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import fuzz

from benchmarks.report import machine, write_table
from ingestion.config import IngestionConfig
from ingestion.extraction.text_cache import cleaned_reading
from ingestion.metadata.authorities import canonical_authority
from ingestion.phases.metadata import describe_source
from ingestion.protocols import LanguageModel
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.description import Description, FieldName
from ingestion.types.source import Extraction, ListedSource
from rag_engine.backends.identify_language import identify_language
from rag_engine.text.folding import fold

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "data" / "eval" / "corpus_metadata.tsv"
JUDGED = ROOT / "data" / "eval" / "corpus_descriptions.tsv"
CORPUS = Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")) / "data" / "corpus"
WORKERS = 2
ALIKE = 85.0
NOTHING = "nothing"

# The most that may be wrong in any field: no value is better than a wrong one.
MOST_WRONG = 0.05

# The least share that must be right; what has no bar is only told.
BARS: dict[str, float] = {
    "language": 1.0,
    "title": 0.9,
    "document_type": 0.85,
    "authority": 0.85,
    "level and countries": 0.85,
    "date": 0.85,
}

# What is wrong in the whole is not listed once more for its part.
_WHOLE = {"countries alone": "level and countries", "date, to the day": "date"}


@dataclass(frozen=True, slots=True)
class Described:
    """Description of a document, by a reader or by the rules; a reader may give several right answers.

    No answer at all means that the document does not tell, or that the rules found nothing.
    """

    file: str
    language: str
    title: tuple[str, ...]
    document_type: tuple[str, ...]
    authority: tuple[str, ...]
    geographical_level: tuple[str, ...]
    countries: frozenset[str]
    date: tuple[str, ...]
    target: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One field: `told` counts the documents that tell it, `missed` holds file, found and wanted."""

    field: str
    files: int
    told: int
    told_right: int
    untold_right: int
    missed: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float:
        """The share 0..1 of all documents for which the field is right."""
        return (self.told_right + self.untold_right) / self.files

    @property
    def wrong(self) -> int:
        """How many documents have a value that is wrong, and not merely none."""
        return sum(found != NOTHING for _, found, _ in self.missed)


def read_truth(path: Path = TABLE) -> list[Described]:
    """Return what a reader found in the documents, in the order of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Described(
            row["file"],
            row["language"],
            _alternatives(row["title"]),
            _alternatives(row["document_type"]),
            _alternatives(row["authority"]),
            _alternatives(row["geographical_level"]),
            frozenset(filter(None, row["countries"].split(";"))),
            _alternatives(row["date"]),
            _alternatives(row["target"]),
        )
        for row in rows
    ]


def describe_all(
    truths: Sequence[Described], corpus: Path = CORPUS, language_model: LanguageModel | None = None
) -> list[Described]:
    """Return what the rules, and a language model if given, say of the same documents, in order."""
    config = IngestionConfig(use_model=language_model is not None)
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox(config.limits, count=WORKERS) as readers,
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        copies = [Path(folder) / f"document_{n:02d}{Path(one.file).suffix}" for n, one in enumerate(truths, start=1)]
        for one, copy in zip(truths, copies, strict=True):
            shutil.copyfile(corpus / one.file, copy)
        files = [one.file for one in truths]
        return list(pool.map(lambda file, copy: _describe(file, copy, readers, config, language_model), files, copies))


def _describe(
    file: str, copy: Path, readers: Sandbox, config: IngestionConfig, language_model: LanguageModel | None
) -> Described:
    read = readers.read(copy)
    extracted = read.extracted
    reading = cleaned_reading(read, identify_language(extracted.text))
    extraction = Extraction(
        text_hash=hashlib.sha256(reading.cleaned.encode()).hexdigest(),
        media_type=extracted.media_type,
        pages=extracted.pages,
        ocr_pages=len(extracted.ocr_pages),
        unread_pages=len(extracted.unread_pages),
        characters=len(extracted.text),
        cleaned_characters=len(reading.cleaned),
        title=extracted.title,
        language=reading.language,
        size=copy.stat().st_size,
        warnings=extracted.warnings,
    )
    outcome = describe_source(
        ListedSource(code=copy.stem, path=str(copy)),
        extracted,
        extraction,
        reading.properties,
        language_model,
        config=config,
    )
    assert isinstance(outcome.evidence, Description), outcome.message
    values = outcome.evidence.values

    def said(field: FieldName) -> tuple[str, ...]:
        return tuple(one.value for one in values if one.field == field and one.value)

    # A file's name stands in for a title where none is found.
    title = tuple(value for value in said("title") if folded(value) != folded(copy.stem))
    return Described(
        file,
        next(iter(said("language")), ""),
        title[:1],
        said("document_type")[:1],
        said("authority")[:1],
        said("geographical_level")[:1],
        frozenset(said("countries")),
        said("date")[:1],
        said("target")[:1],
        next(iter(said("description")), ""),
    )


def measure(truths: Sequence[Described], found: Sequence[Described]) -> list[Score]:
    """Return the score of each field.

    "countries alone" and "date, to the day" say how much is lost by the other half.
    """
    return [
        _score("language", truths, found, lambda one: (one.language,), _equal),
        _score("title", truths, found, lambda one: one.title, _alike),
        _score("document_type", truths, found, lambda one: one.document_type, _equal),
        _score("authority", truths, found, lambda one: one.authority, _same_body),
        _score("level and countries", truths, found, _places, _equal),
        _score("countries alone", truths, found, lambda one: tuple(filter(None, [_listed(one)])), _equal),
        _score("date", truths, found, lambda one: one.date, _same_time),
        _score("date, to the day", truths, found, lambda one: one.date, _equal),
        _score("target", truths, found, lambda one: one.target, str.startswith),
    ]


def judged(found: Sequence[Described]) -> Counter[str]:
    """Return how many descriptions are right, wrong, none, or other than those that were read and judged."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        read = {(row["file"], row["description"]): row["verdict"] for row in csv.DictReader(file, delimiter="\t")}
    return Counter(read.get((one.file, one.description), "not read") if one.description else "none" for one in found)


def _score(
    field: str,
    truths: Sequence[Described],
    found: Sequence[Described],
    answers: Callable[[Described], tuple[str, ...]],
    right: Callable[[str, str], bool],
) -> Score:
    told = told_right = untold_right = 0
    missed = []
    for truth, said in zip(truths, found, strict=True):
        wanted, got = answers(truth), answers(said)
        told += bool(wanted)
        if not wanted and not got:
            untold_right += 1
        elif wanted and got and any(right(got[0], one) for one in wanted):
            told_right += 1
        else:
            missed.append((truth.file, got[0] if got else NOTHING, " or ".join(wanted) or NOTHING))
    return Score(field, len(truths), told, told_right, untold_right, tuple(missed))


def _places(one: Described) -> tuple[str, ...]:
    countries = _listed(one)
    if not one.geographical_level:
        return (f"no level: {countries}",) if countries else ()
    return tuple(f"{level}: {countries or 'no country'}" for level in one.geographical_level)


def _listed(one: Described) -> str:
    return ", ".join(sorted(one.countries))


def _equal(got: str, wanted: str) -> bool:
    return got == wanted


def _alike(got: str, wanted: str) -> bool:
    return fuzz.ratio(folded(got), folded(wanted)) >= ALIKE


def _same_body(got: str, wanted: str) -> bool:
    one, other = canonical_authority(got), canonical_authority(wanted)
    return (one is not None and other is not None and one.name == other.name) or _alike(got, wanted)


def _same_time(got: str, wanted: str) -> bool:
    """Whether one is the beginning of the other; both have the year at least."""
    return min(len(got), len(wanted)) >= 4 and (got.startswith(wanted) or wanted.startswith(got))


def folded(text: str) -> str:
    """Return the words in lower case without accents and marks."""
    return " ".join(re.findall(r"[^\W_]+", fold(text)))


def _alternatives(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("||") if part.strip())


def main() -> None:
    """Print and write the table and every miss."""
    truths = read_truth()
    found = describe_all(truths)
    scores = measure(truths, found)
    descriptions = ", ".join(f"{count} {verdict}" for verdict, count in sorted(judged(found).items()))
    rows = [
        (
            score.field,
            f"{score.told_right + score.untold_right} of {score.files}",
            f"{score.share:.1%}",
            f"{score.wrong} ({score.wrong / score.files:.1%})",
            str(len(score.missed) - score.wrong),
            f"{BARS[score.field]:.0%}" if score.field in BARS else "-",
            f"{score.told_right} of {score.told}",
            f"{score.untold_right} of {score.files - score.told}",
        )
        for score in scores
    ]
    misses = [
        f"{score.field}, {file}: found “{_short(got)}”, wanted “{_short(wanted)}”"
        for score in scores
        for file, got, wanted in score.missed
        if (_WHOLE.get(score.field), file) not in {(other.field, one[0]) for other in scores for one in other.missed}
    ]
    write_table(
        "metadata",
        "Descriptions by rules alone",
        (
            "field",
            "right",
            "share",
            "wrong",
            "none though told",
            "bar",
            "right where the document tells it",
            "rightly left empty",
        ),
        rows,
        (
            "`python -m benchmarks.pipeline.metadata`",
            "A title is right when it is at least 85% alike; a date when it is the beginning of the right one, or the "
            "right one its beginning, from the year on; a target, which is whom the document addresses and what for, "
            f"when it begins with the right words. At most {MOST_WRONG:.0%} of a field may be wrong.",
            f"Descriptions, judged by reading (data/eval/corpus_descriptions.tsv): {descriptions}. Right is prose of "
            "the document that says what it is about; a list, a note or a reference in it makes it wrong.",
            *misses,
            machine("lingua-language-detector", "rapidfuzz"),
        ),
    )


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"


if __name__ == "__main__":
    main()
