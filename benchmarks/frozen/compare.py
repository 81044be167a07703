"""Compare what people get from two checkouts; both run now, for scores differ between processors.

    python -m benchmarks.frozen.compare BEFORE AFTER --out DIR [--only PART ...] [--limit N] [--shared DIR]

A checkout is asked by its own .venv, in processes and workspaces of its own, with no language model. Both get the
questions that both have. What each gives is kept under DIR by its commit and not asked again there, unless files of
the checkout differ from the commit. The command ends with 1 where something differs. Parts: sample and corpus (the
list of the documents, every form of the data set, and of each question the status, text, citations and refusals),
runs (ranked documents of the development sets by the default, the paper's and the statutes' profile; of one of them,
"runs squad_it"), licences, metadata, tables, and doors (what each act leaves behind in a workspace through each door).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
# Development sets in the folder of the benchmarks; behind a colon the set whose questions are asked of the corpus.
DATASETS = (
    "aila_statutes", "legalquad_de", "faquad_pt", "xquad/en", "xquad/en:xquad/es", "xquad/en:xquad/de",
    "xquad/en:xquad/tr", "xquad/es", "xquad/de", "xquad/tr", "statutes_in", "squad_it", "scifact",
)  # fmt: skip
QUESTIONS = {"sample": "data/eval/gold/sample.jsonl", "corpus": "data/eval/passages.jsonl"}
PARTS = ("licences", "tables", "metadata", "doors", "sample", "corpus", *(f"runs {name}" for name in DATASETS))
FIRST, SHOWN = 10, 12
# What differs from one run to the next: times of day, seconds, ports, and names that are drawn.
_SECONDS = {"seconds", "milliseconds", "index_seconds", "encode_seconds", "query_encode_ms", "ms_p50", "ms_p95"}
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "DRAWN"),
    (re.compile(r"(?<='name': 'workspace', 'value': ')[0-9a-f]{8}"), "DRAWN"),
    # That of a phase takes in when a file was changed.
    (re.compile(r"(?<='fingerprint': ')[0-9a-f]{64}"), "FINGERPRINT"),
    (re.compile(r"(?<=127\.0\.0\.1:)\d+"), "PORT"),
)
NO_MODEL = "http://127.0.0.1:9"

Given = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree with its environment; `kept` is the folder of its output."""

    folder: Path
    kept: Path
    commit: str

    def file(self, part: str, limit: int) -> Path:
        """Return where a part is kept."""
        name = part.replace("/", "-").replace(":", " by ")
        return self.kept / (f"{name}.first{limit}.json" if limit else f"{name}.json")


def open_checkout(folder: Path, role: str, out: Path) -> Checkout:
    """Return a checkout; what is not a commit as it stands has no name under which it is asked only once."""
    if not (folder / ".venv" / "bin" / "python").exists():
        sys.exit(f"{folder} has no .venv/bin/python; run `make check` there first.")
    commit, changed = _git(folder, "rev-parse", "HEAD"), _git(folder, "status", "--porcelain")
    known = "" if changed else commit[:12]
    kept = out / f"{role}-{known or 'as-it-is'}"
    kept.mkdir(parents=True, exist_ok=True)
    return Checkout(folder, kept, known)


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False).stdout.strip()


def ask(checkout: Checkout, part: str, limit: int, shared: Path, before: Path, questions: Sequence[str]) -> Given:
    """Return what a checkout gives for a part, masked; it is written first."""
    file = checkout.file(part, limit)
    if not checkout.commit or not file.exists():
        print(f"{part}: {checkout.folder} ...", file=sys.stderr, flush=True)
        # One name for both checkouts, for what is kept of a document holds the path that it came from.
        with _empty_folder(checkout.kept.parent / "away") as away:
            written = away / "given.json"
            command, variables = _command(part, limit, shared, before, questions, written)
            variables |= {"HF_HUB_OFFLINE": "1", "SEXTANT_SHARED": str(shared)}
            # The tests of the doors take a page that names no server for one without errors.
            if part != "doors":
                variables["SEXTANT_OLLAMA_URL"] = NO_MODEL
            environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables}
            python = checkout.folder / ".venv" / "bin" / "python"
            ended = subprocess.run([python, *command], cwd=checkout.folder, env=environment, check=False, stdout=2)
            if not written.exists():
                sys.exit(f"{part} broke off in {checkout.folder} with {ended.returncode}; why is said above.")
            text = written.read_text(encoding="utf-8")
            # The samples of one are given to both.
            for folder in (checkout.folder, before):
                text = text.replace(str(folder), "CHECKOUT")
        file.write_text(json.dumps(masked(json.loads(text)), ensure_ascii=False, indent=1), encoding="utf-8")
    given: Given = json.loads(file.read_text(encoding="utf-8"))
    return given


@contextmanager
def _empty_folder(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def _command(
    part: str, limit: int, shared: Path, before: Path, questions: Sequence[str], written: Path
) -> tuple[list[str], dict[str, str]]:
    """Return the arguments of a checkout's interpreter, and the variables that it takes."""
    away, data = written.parent, shared / "data"
    probe = [str(FOLDER / "probe.py")]
    if part == "doors":
        tests = ["-m", "pytest", "tests/ingestion/test_doors.py", "-p", "doors_plugin", "-p", "no:cacheprovider"]
        variables = {"PYTHONPATH": str(FOLDER), "FROZEN_FILE": str(written), "FROZEN_LIMIT": str(limit)}
        return [*tests, "--basetemp", str(away / "doors")], variables
    if part in QUESTIONS:
        documents = before / "data" / "sample" / "documents" if part == "sample" else data / "corpus"
        (away / "questions.json").write_text(json.dumps(questions[: limit or None]), encoding="utf-8")
        return [*probe, part, str(written), str(documents), str(away)], {}
    if part.startswith("runs "):
        return [*probe, "runs", str(written), str(away), str(data / "benchmarks"), part.removeprefix("runs ")], {}
    arguments = {"licences": [str(before / "data" / "eval")], "tables": [str(data / "corpus")], "metadata": []}
    return [*probe, part, str(written), *arguments[part]], {}


def common_questions(collection: str, before: Path, after: Path) -> list[str]:
    """Return the questions that both checkouts have, in the order of the first."""
    lines = [(folder / QUESTIONS[collection]).read_text(encoding="utf-8").splitlines() for folder in (before, after)]
    first, second = ([json.loads(line)["question"] for line in some] for some in lines)
    return [question for question in first if question in set(second)]


def masked(value: Any) -> Any:
    """Return the value without what differs from one run to the next."""
    if isinstance(value, dict):
        return {masked(key): masked(each) for key, each in value.items() if key not in _SECONDS}
    if isinstance(value, list):
        return [masked(each) for each in value]
    if isinstance(value, str):
        for pattern, name in _VOLATILE:
            value = pattern.sub(name, value)
    return value


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of each thing that differs, and the lines that do."""
    for name in dict.fromkeys((*before, *after)):
        if name not in after or name not in before:
            yield f"{name}: only {'before' if name in before else 'after'}"
        elif before[name] != after[name]:
            compared = unified_diff(_lines(before[name]), _lines(after[name]), lineterm="", n=0)
            different = [line for line in compared if not line.startswith(("---", "+++"))]
            rest = [f"    ... {len(different) - SHOWN} more lines"] if len(different) > SHOWN else []
            yield "\n".join([name, *(f"    {line}" for line in different[:SHOWN]), *rest])


def _lines(value: Any) -> list[str]:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).splitlines()


def rankings(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield how many questions of each run have the same first ten, and the figures of both."""
    runs: dict[str, list[bool]] = {}
    for name, ranked in before.items():
        if not name.startswith("figures "):
            run, _, _ = name.partition(".run ")
            runs.setdefault(run, []).append(ranked[:FIRST] == after.get(name, [])[:FIRST])
    for run, same in runs.items():
        yield f"{run}: the same first {FIRST} for {sum(same)} of {len(same)} questions"
    for name in before:
        if name.startswith("figures "):
            yield f"{name}: nDCG@10 {_ndcg(before[name])} before, {_ndcg(after.get(name))} after"


def _ndcg(figures: Any) -> list[float]:
    """Return the values of every nDCG@10 in the figures, in their order."""
    if isinstance(figures, dict):
        own = figures.get("ndcg@10")
        nested = [value for key in figures if key != "ndcg@10" for value in _ndcg(figures[key])]
        return [own if isinstance(own, float) else own["mean"], *nested] if own is not None else nested
    return [value for each in figures for value in _ndcg(each)] if isinstance(figures, list) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for what each gives")
    parser.add_argument("--only", nargs="+", choices=("runs", *PARTS), default=PARTS, metavar="PART")
    parser.add_argument("--limit", type=int, default=0, help="only so many questions or acts")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    folders = arguments.before.resolve(), arguments.after.resolve()
    checkouts = [
        open_checkout(folder, role, arguments.out.resolve())
        for folder, role in zip(folders, ("before", "after"), strict=True)
    ]
    differing = 0
    for part in [one for one in PARTS if not {one, one.partition(" ")[0]}.isdisjoint(arguments.only)]:
        questions = common_questions(part, *folders) if part in QUESTIONS else []
        shared = arguments.shared.resolve()
        before, after = (ask(one, part, arguments.limit, shared, folders[0], questions) for one in checkouts)
        if part.startswith("runs "):
            print("\n".join(rankings(before, after)))
        found = list(differences(before, after))
        print("\n".join([f"## {part}: {len(found)} of {len(before)} differ", *found]), flush=True)
        differing += len(found)
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
