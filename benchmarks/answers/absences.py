"""Words asked of a named document: how often they are said not to occur.

    python -m benchmarks.answers.absences [--workspace DIR] [--shared DIR]

The questions are those of data/eval/not_there.tsv. Each names one document and one word; the document holds a form of
the word ("there"), though seldom the same, or none ("not there").
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.config import DATA

QUESTIONS = DATA / "eval" / "not_there.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file, delimiter="\t"))
    asked, absent = Counter[str](), Counter[str]()
    with corpus_engine(parser.parse_args()) as engine:
        for one in questions:
            asked[one["kind"]] += 1
            said = bool(engine.search(one["question"]).absent)
            absent[one["kind"]] += said
            if said == (one["kind"] == "there"):
                print(f"{one['kind']}: {one['question']}", flush=True)
    write_table(
        "absences",
        "Words that are said not to occur in a named document",
        ["the word is", "questions", "said not to occur"],
        [[kind, str(asked[kind]), str(absent[kind])] for kind in asked],
        [machine(), "`python -m benchmarks.answers.absences`, no language model."],
    )


if __name__ == "__main__":
    main()
