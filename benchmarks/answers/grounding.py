"""Answers with and without a book's index: from the whole book, with the index, from a knowledge base.

    python -m benchmarks.answers.grounding [--book es] [--model NAME --ollama URL --runs 3 --questions 6 --top-k 3]

After Zhou, Li and Lemieux 2025, who asked one model once each. The questions are those of
data/eval/index_questions.jsonl, with a reference answer and the words that a right answer must have. Without a model
the answers are quotations, the same in every run. With one each question is answered several times, at the
temperature of the program.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from ingestion.book_index.find_pages import index_pages
from rag_engine.answer_sentences import listed_in_index
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.run_answers import answer_of
from rag_engine.evaluation.answers.scoring import answer_match
from rag_engine.evaluation.datasets import read_objects
from rag_engine.evaluation.significance import paired_difference
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.geography import load_gazetteer
from rag_engine.grounding.build import cached_queries, entry_evidence
from rag_engine.grounding.knowledge import index_entries
from rag_engine.models import open_encoder, open_judge
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import Generator
from rag_engine.retrieval.book_index_boost import match_index
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Source

ROOT = Path(__file__).resolve().parents[2]
BOOKS = {"es": "es_lshort_latex_a4.pdf", "it": "it_lshort_latex.pdf"}
QUESTIONS = DATA / "eval" / "index_questions.jsonl"
WITHOUT, WITH, KNOWLEDGE_BASE = "without the index", "with the index", "from the knowledge base alone"
FIGURES = ("key words", "right page", "words of the reference")
# A port that nobody listens on: searches and quotations are made without a model.
_NOBODY = "http://127.0.0.1:9"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on a book with its reference answer and the pages that answer it."""

    question: AnswerQuestion
    document: str
    pages: frozenset[int]


# A question with the evidence of each condition.
Prepared = tuple[Asked, Mapping[str, Evidence]]


@dataclass(frozen=True, slots=True)
class Scored:
    """The figures of one answer, whether it is one, and whether it cites what the index lists."""

    figures: tuple[float, ...]
    answered: bool
    cites_listed: bool


def read_questions() -> list[Asked]:
    return [
        Asked(
            AnswerQuestion(
                one["id"], one["language"], "terminology", one["question"], one["answer"], (), tuple(one["keywords"])
            ),
            one["document"],
            frozenset(one["pages"]),
        )
        for one in (line.values for line in read_objects(QUESTIONS))
    ]


def prepared(engine: Engine, questions: Sequence[Asked], top_k: int) -> list[Prepared]:
    """Return the questions with the evidence found with the index, without it, and in the knowledge base."""
    base = knowledge_base(engine)
    found: list[Prepared] = []
    for one in questions:
        plan = plan_question(
            one.question.question,
            identify=lambda _, language=one.question.language: language,
            gazetteer=load_gazetteer(),
            generator=None,
            config=engine.config,
        )
        evidence = {
            WITHOUT: engine.find(plan, None, engine.retrieval(top_k=top_k, index_weight=0.0)),
            WITH: engine.find(plan, None, engine.retrieval(top_k=top_k)),
            KNOWLEDGE_BASE: base(plan, top_k),
        }
        found.append((one, evidence))
    return found


def knowledge_base(engine: Engine) -> Callable[[QueryPlan, int], Evidence]:
    """Return the search by cosine in the passages in which the entries of the index are grounded."""
    view, embedder = engine.collection.view(), engine.embedder()
    pages = {key: index_pages(engine.catalog.extracted(one)) for key, one in view.snapshot.documents.items()}
    texts = {key: engine.catalog.text(key) for key in view.snapshot.documents}
    entries = index_entries(engine.catalog, view.snapshot.documents)
    contexts = [[texts[place.document.key][place.start : place.end] for place in one.places] for one in entries]
    cached = [cached_queries(one, its) for one, its in zip(entries, contexts, strict=True)]
    queries = embedder.encode_queries([query for several in cached for query in several])
    ends = np.cumsum([len(several) for several in cached]).tolist()
    union: dict[str, Source] = {}
    for entry, its, end in zip(entries, contexts, ends, strict=True):
        for source in entry_evidence(entry, its, queries[end - len(its) : end], view, pages).sources:
            if not source.index_context:
                union.setdefault(source.hits[0].child_id, source)
    sources = list(union.values())
    print(f"knowledge base: {len(sources)} of {len(view.snapshot)} passages", flush=True)
    vectors = embedder.encode_passages([source.text for source in sources])

    def search(plan: QueryPlan, top_k: int) -> Evidence:
        cosines = vectors @ embedder.encode_queries([plan.question])[0]
        best = np.argsort(-cosines, kind="stable")[:top_k].tolist()
        chosen = tuple(replace(sources[place], n=n) for n, place in enumerate(best, start=1))
        return Evidence(plan, tuple(source.hits[0] for source in chosen), chosen)

    return search


def scored(one: Asked, answer: Answer) -> Scored:
    """Return the figures of an answer; what is said of the index itself does not count."""
    listed = [source for source in answer.evidence.sources if source.listed]
    cited = {citation.n for citation in answer.citations}
    of_index = [source for source in listed if source.n in cited]
    answered = answer.status == "answered"
    text = answer.text.removesuffix(listed_in_index(of_index, answer.evidence.plan.language)) if answered else ""
    question = one.question
    reference = replace(question, keywords=_long_words(question.answer))
    pages = {citation.page for citation in answer.citations} if answered else set()
    figures = (answer_match(text, question), float(bool(pages & one.pages)), answer_match(text, reference))
    return Scored(figures, answered, bool(of_index) and answered)


def _long_words(text: str) -> tuple[str, ...]:
    return tuple(word for word in dict.fromkeys(text.split()) if sum(map(str.isalnum, word)) > 3)


def rows(engine: Engine, found: Sequence[Prepared], generator: Generator | None, runs: int) -> list[list[str]]:
    """Return a row for each condition, with the difference from the answers without the index."""
    values: dict[str, np.ndarray] = {}
    told = []
    for condition in (WITHOUT, WITH, KNOWLEDGE_BASE):
        answers = [
            [scored(one, answer_of(engine.answer_from(evidence[condition], generator))) for one, evidence in found]
            for _ in range(runs)
        ]
        # Of shape (runs, questions, figures).
        figures = np.array([[one.figures for one in run] for run in answers])
        values[condition] = figures.mean(axis=0)
        row = [generator.name if generator else "quotations", condition, str(len(found)), str(runs)]
        row.append(f"{fmean(one.answered for run in answers for one in run):.0%}")
        row.append(f"{fmean(one.cites_listed for run in answers for one in run):.0%}")
        for place in range(len(FIGURES)):
            means = figures[:, :, place].mean(axis=1).tolist()
            spread = f" ± {stdev(means):.3f}" if runs > 1 else ""
            gained = paired_difference(values[condition][:, place], values[WITHOUT][:, place])
            change = f" ({gained.value:+.3f}; {gained.low:+.3f} to {gained.high:+.3f}; p {gained.p:.2f})"
            row.append(f"{fmean(means):.3f}{spread}{'' if condition == WITHOUT else change}")
        told.append(row)
        print(" | ".join(row), flush=True)
    return told


def opened(workspace: Path, book: Path) -> Engine:
    """Return the engine over a workspace with the book, added if it is not there; it asks no model."""
    config = read_config(workspace)
    config = replace(config, generation=replace(config.generation, ollama_url=_NOBODY, openai_url=""))
    # The conditions have most of their texts in common.
    engine = Engine(config, embedder=CachedEmbedder(open_encoder(config), vectors_folder()))
    if not engine.collection.documents():
        [added] = add_paths([book], engine)
        if added.status != "indexed":
            raise SystemExit(f"{book}: {added.reason}")
    return engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--book", choices=list(BOOKS), help="one of the two alone")
    parser.add_argument(
        "--workspaces", type=Path, help="a folder with a workspace for each book, kept for the next time"
    )
    parser.add_argument("--model", default="", help="a model of an Ollama server; none: quotations")
    parser.add_argument("--ollama", default="http://127.0.0.1:11434")
    parser.add_argument("--runs", type=int, default=3, help="how often a model answers each question")
    parser.add_argument("--questions", type=int, default=0, help="of each book, those that name an entry first; 0: all")
    parser.add_argument("--top-k", type=int, default=10)
    arguments = parser.parse_args()
    table: list[list[str]] = []
    reader = ""
    for name in [arguments.book] if arguments.book else BOOKS:
        with TemporaryDirectory() as folder:
            workspace = arguments.workspaces / name if arguments.workspaces else Path(folder)
            engine = opened(workspace, arguments.shared / "data" / "indexbook" / BOOKS[name])
            asked = [one for one in read_questions() if one.document == BOOKS[name]]
            index = engine.collection.view().index
            names_entry = {
                one.question.id: bool(match_index(index, one.question.question, name).passages) for one in asked
            }
            asked.sort(key=lambda one: not names_entry[one.question.id])
            chosen = asked[: arguments.questions or len(asked)]
            found = prepared(engine, chosen, arguments.top_k)
            generator = None
            if arguments.model:
                settings = replace(engine.config.generation, ollama_url=arguments.ollama, ollama_model=arguments.model)
                generator = open_judge(engine.config, settings)
            told = rows(engine, found, generator, arguments.runs if generator else 1)
            contexts = sum(any(one.index_context for one in evidence[WITH].sources) for _, evidence in found)
            named = f"{sum(names_entry[one.question.id] for one in chosen)} of {len(chosen)}"
            table += [[name, named, str(contexts), *row] for row in told]
            reader = engine.config.reader
            engine.close()
    write_table(
        "_".join(filter(None, ("grounding", arguments.book, arguments.model.partition(":")[0].replace(".", "_")))),
        "Answers with the index of a book and without",
        [
            "book", "name an entry", "a sentence of the index added", "answers by", "condition", "questions", "runs",
            "answered", "cite what the index lists", *FIGURES,
        ],
        table,
        [
            f"`python -m benchmarks.answers.grounding{_arguments(arguments)}`; {arguments.top_k} passages a question. "
            "In brackets the difference from the answers without the index, paired over the questions, with its 95% "
            "interval of the bootstrap and the p value of a randomisation test; ± is the standard deviation over runs.",
            "**Key words**: the share of the words that no right answer can do without; **right page**: the share of "
            "the answers that cite a page that answers; **words of the reference**: the share of the reference "
            "answer's words of more than three letters that the answer holds. A long answer holds more of both.",
            "**From the knowledge base alone**: only the passages in which an entry of the index is grounded, by "
            "cosine, as in the paper. Quotations come out the same in every run.",
            f"Passages are judged and quoted {'without' if reader == 'none' else 'with'} the reader.",
            "20 questions a book, or the first of them that name an entry, written by reading the pages before any "
            "ranking of them was seen: only large differences show.",
            machine(),
        ],
    )  # fmt: skip


def _arguments(given: argparse.Namespace) -> str:
    """Return the options that decide the figures, as they were given."""
    model = f" --model {given.model} --runs {given.runs}" if given.model else ""
    questions = f" --questions {given.questions}" if given.questions else ""
    return (f" --book {given.book}" if given.book else "") + model + questions


if __name__ == "__main__":
    main()
