"""Output of one checkout, written as JSON; run by its interpreter, in its folder.

    python probe.py PART FILE [ARGUMENT ...]

It is started by path, so that a checkout without this file can be asked as well. Collections are asked through the
terminal's commands; what is only measured, through the checkout's own measurements.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

Part = Callable[..., Iterator[tuple[str, Any]]]


# The profiles whose run files are compared, each with the configuration and the setting that ask for it.
PROFILES = (("default", "default", ""), ("paper", "paper", ""), ("statutes", "default", "statutes"))


def terminal(*words: str, recipe: str = "") -> str:
    """Return what a command of the terminal prints; RuntimeError names one that fails."""
    from typer.testing import CliRunner

    from cli.main import app

    result = CliRunner().invoke(app, list(words), env={"SEXTANT_RETRIEVAL": recipe or None})
    if result.exit_code:
        raise RuntimeError(f"sextant {' '.join(words)}: {result.output}") from result.exception
    return result.stdout


def collection(documents: str, away: str) -> Iterator[tuple[str, Any]]:
    """Add, list and export the documents, and ask each question; a row of a sheet is a line."""
    from openpyxl import load_workbook

    workspace = ("--workspace", str(Path(away) / "workspace"))
    terminal("add", documents, *workspace)
    yield "list", json.loads(terminal("list", *workspace, "--json"))
    for form in ("jsonl", "csv", "bib", "ris", "xlsx"):
        file = Path(away) / f"dataset.{form}"
        terminal("export", str(file), *workspace)
        if form == "xlsx":
            for sheet in load_workbook(file).worksheets:
                yield f"xlsx {sheet.title}", [str(row) for row in sheet.iter_rows(values_only=True)]
        else:
            yield form, file.read_text(encoding="utf-8").splitlines()
    for question in json.loads((Path(away) / "questions.json").read_text(encoding="utf-8")):
        yield question, json.loads(terminal("ask", question, *workspace, "--json"))


def runs(away: str, benchmarks: str, dataset: str) -> Iterator[tuple[str, Any]]:
    """Return the ranked documents of each question by each profile, and the figures."""
    for profile, configuration, recipe in PROFILES:
        corpus, *asking = (_dataset(Path(benchmarks) / name, Path(away)) for name in dataset.split(":"))
        run = f"{profile} {dataset}"
        folder = Path(away) / run.replace("/", " ")
        words = ["--split", "dev", "--config", configuration, "--run", str(folder), "--json"]
        words += [word for one in asking for word in ("--queries-from", str(one))]
        yield f"figures {run}", json.loads(terminal("eval", "retrieval", str(corpus), *words, recipe=recipe))
        ranked: dict[str, list[str]] = {}
        for path in folder.rglob("*.run"):
            for line in path.read_text(encoding="utf-8").splitlines():
                question, _, document, *_ = line.split()
                ranked.setdefault(question, []).append(document)
        yield from ((f"{run}.run {question}", documents) for question, documents in ranked.items())


def _dataset(folder: Path, away: Path) -> Path:
    """Return a data set, put together with the checkout's own questions where it holds acts alone."""
    from benchmarks.retrieval.statutes import assemble_statutes

    if (folder / "corpus.jsonl").exists():
        return folder
    return assemble_statutes(folder, Path("data") / "eval" / folder.name, away / folder.name)


def licences(folder: str) -> Iterator[tuple[str, Any]]:
    """Return the verdict on each case."""
    from benchmarks.pipeline.licences import judge_case, read_cases

    for name in ("licences", "licence_statements", "licence_clauses"):
        for case in read_cases(Path(folder) / f"{name}.tsv"):
            yield f"{name} {case.id}", asdict(judge_case(case))


def metadata() -> Iterator[tuple[str, Any]]:
    """Return the description of each document of the corpus by rules."""
    from benchmarks.pipeline.metadata import describe_all, read_truth

    for found in describe_all(read_truth()):
        yield found.file, asdict(found)


def tables(corpus: str) -> Iterator[tuple[str, Any]]:
    """Return the sentences of the tables on each judged page."""
    from benchmarks.pipeline.tables import our_sentences, truths

    for name, page in truths():
        yield f"{name} {page}", our_sentences(Path(corpus) / name, page)


PARTS: dict[str, Part] = {
    "sample": collection,
    "corpus": collection,
    "runs": runs,
    "licences": licences,
    "metadata": metadata,
    "tables": tables,
}


def main(part: str, file: str, *arguments: str) -> None:
    """Write what the part gives, and say how far it is."""
    given: dict[str, Any] = {}
    for name, value in PARTS[part](*arguments):
        given[name] = value
        if len(given) % 50 == 0:
            print(f"  {part}: {len(given)}", file=sys.stderr, flush=True)
    Path(file).write_text(json.dumps(given, ensure_ascii=False, default=str), encoding="utf-8")


if __name__ == "__main__":
    # The checkout's own modules come before the folder that this file lies in.
    sys.path[0] = str(Path.cwd())
    main(*sys.argv[1:])
