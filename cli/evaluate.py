"""The verbs that measure: ranking on data sets, passages of real documents, single steps, and answers."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cli.ask import Recipe, TopK
from cli.options import AsJson, Workspace
from cli.terminal import bar, end_as_json, engine_of, err, errors_end, out, print_json, print_table, say, warn
from cli.test_questions import test_questions
from rag_engine.config import DATA, read_config, shared_folder
from rag_engine.errors import InputError

if TYPE_CHECKING:
    from rag_engine.engine import Engine
    from rag_engine.evaluation.answers.accepted_run import KeptRun, RecordedRun
    from rag_engine.evaluation.answers.run_answers import AnswersRequest
    from rag_engine.evaluation.configurations import Configuration
    from rag_engine.evaluation.datasets import Dataset, Split
    from rag_engine.evaluation.metric import Measured
    from rag_engine.evaluation.run_passages import PassageFigures

app = typer.Typer(
    no_args_is_help=True,
    help="Measure what is found, in a collection of its own, and (own, answers, gate) what the workspace answers.",
)

app.add_typer(test_questions.app, name="own")

Documents = Annotated[
    Path | None, typer.Option(help="Folder of the quoted documents; by default SEXTANT_SHARED/data/corpus.")
]
Gold = Annotated[Path, typer.Option(help="Questions with the passages that answer them, one JSON object a line.")]
SplitOfGold = Annotated[str, typer.Option("--split", help="dev, heldout or all.")]
Results = Annotated[Path | None, typer.Option(help="Folder for the table (Markdown, CSV) and its charts.")]
Questions = Annotated[
    Path | None,
    typer.Argument(metavar="[GOLD]", help="Questions with reference answers; by default on the invented samples."),
]
JudgeModel = Annotated[
    str, typer.Option("--judge", help="A second model that judges: ollama/NAME or openai/NAME, better not the first.")
]
JudgeUrl = Annotated[str, typer.Option("--judge-url", help="The judge's endpoint; by default the configured one.")]
Repeat = Annotated[int, typer.Option("--repeat", min=1, max=20, help="How often each answer is judged.")]
TextMetrics = Annotated[
    bool,
    typer.Option("--text-metrics", help="Also BLEU, ROUGE, METEOR, BERTScore (pip install 'sextant\\[text-metrics]')."),
]
# Of passages the differences that are shown; precision alone rewards reading little.
_PASSAGES = ("recall", "f1", "ndcg")
_DRAWN = ("recall", "ndcg")
# The factorial asks each question some seventy times.
_ABLATION_QUESTIONS = 60
_COLUMNS = ("configuration", "nDCG@10", "95%", "recall@10", "recall@100", "MRR@10", "MAP", "ms p50", "p95", "against")


@dataclass(frozen=True, slots=True)
class _Shown:
    """Layout of a comparison.

    Differences of the metrics in `differences` are shown, against the configuration `baseline`. The metrics in `charts`
    are drawn.
    """

    name: str
    title: str
    metrics: Sequence[str]
    differences: Sequence[str]
    baseline: str
    notes: tuple[str, ...]
    charts: Sequence[str]


@app.command()
def retrieval(
    datasets: Annotated[list[Path], typer.Argument(help="Folders with corpus.jsonl, queries and qrels.")],
    split: Annotated[str, typer.Option(help="dev, heldout or all.")] = "all",
    names: Annotated[
        list[str] | None, typer.Option("--config", help="A configuration, several times; the first is the baseline.")
    ] = None,
    queries_from: Annotated[Path | None, typer.Option(help="Ask this data set's questions of the corpus.")] = None,
    pooled: Annotated[bool, typer.Option("--pooled", help="All corpora in one index, the first's questions.")] = False,
    runs: Annotated[Path | None, typer.Option("--run", help="Folder for run files in TREC's form.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure ranking on data sets in BEIR's form: nDCG@10, recall, MRR, MAP, with 95% intervals."""
    from rag_engine.evaluation.configurations import CONFIGURATIONS, chosen_of
    from rag_engine.evaluation.run_retrieval import run_retrieval
    from rag_engine.evaluation.vector_cache import vectors_folder
    from rag_engine.models import open_encoder

    with _errors_reported(as_json), bar("Measuring") as advance:
        configurations = chosen_of(CONFIGURATIONS, names or ["default"])
        config = read_config()
        read = _read(datasets, split, queries_from, pooled)
        embedder = open_encoder(config)
        reports = [
            run_retrieval(
                [dataset], configurations, config, embedder, cache=vectors_folder(), progress=advance, runs=runs
            )[0].to_dict()
            for dataset in read
        ]
    end_as_json(as_json, reports[0] if len(reports) == 1 else {"datasets": reports})
    for report in reports:
        _print(report)


@app.command()
def chunking(
    strategies: Annotated[
        list[str] | None, typer.Option("--strategy", help="A strategy, several times; without it every one.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, help="How many passages.")] = 5,
    documents: Documents = None,
    gold: Gold = DATA / "eval" / "passages.jsonl",
    split: SplitOfGold = "dev",
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Compare the ways of chunking by how well what they find covers the passages that answer."""
    from rag_engine.evaluation.configurations import Configuration, chunking_strategies
    from rag_engine.evaluation.passage_metrics import METRICS

    with _errors_reported(as_json):
        configurations = [
            Configuration(name, f"{name} chunks", {"top_k": top_k}, {"strategy": name})
            for name in chunking_strategies(strategies or [])
        ]
        figures, groups = _on_passages(configurations, documents, gold, split)
        baseline = (
            "semantic"
            if any(configuration.name == "semantic" for configuration in configurations)
            else configurations[0].name
        )
        notes = [
            f"{figure.measured.name}: {figure.children:,} children of {figure.child_size:.0f} characters in "
            f"{figure.parents:,} parents of {figure.parent_size:.0f}; indexed in {figure.index_seconds:.0f} s, "
            f"{figure.encode_seconds:.0f} s of it encoding."
            for figure in figures
        ]
        measured = [figure.measured for figure in figures]
        title = "Ways of chunking on real documents"
        shown = _Shown("chunking", title, METRICS, _PASSAGES, baseline, (*notes, *_warned(figures)), _DRAWN)
        _finish(measured, groups, shown, results, as_json)


@app.command()
def ablation(
    datasets: Annotated[
        list[Path] | None, typer.Argument(help="Data sets to run on; without one the questions on real documents.")
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option("--config", help="Only these of the configurations; the first is the baseline.")
    ] = None,
    documents: Documents = None,
    gold: Gold = DATA / "eval" / "passages.jsonl",
    split: SplitOfGold = "dev",
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Measure what each step is worth: configurations side by side, with intervals and paired differences."""
    from rag_engine.evaluation import passage_metrics as chunk_scores
    from rag_engine.evaluation.configurations import chosen_of, configurations
    from rag_engine.evaluation.metric import METRICS as RANKING
    from rag_engine.evaluation.run_retrieval import run_retrieval
    from rag_engine.evaluation.vector_cache import vectors_folder
    from rag_engine.models import open_encoder

    with _errors_reported(as_json):
        config = read_config()
        chosen = chosen_of(configurations(), names or [])
        notes = tuple(f"{configuration.name}: {configuration.says}." for configuration in chosen)
        if not datasets:
            figures, groups = _on_passages(chosen, documents, gold, split, at_most=_ABLATION_QUESTIONS)
            measured, title = [figure.measured for figure in figures], "What each step is worth"
            notes = (*_warned(figures), *notes)
            shown = _Shown("ablation", title, chunk_scores.METRICS, _PASSAGES, chosen[0].name, notes, _DRAWN)
            _finish(measured, groups, shown, results, as_json)
            return
        embedder = open_encoder(config)
        for dataset in _read(datasets, split, None, pooled=False):
            with bar("Measuring") as advance:
                [report] = run_retrieval([dataset], chosen, config, embedder, cache=vectors_folder(), progress=advance)
            name, title = f"ablation.{dataset.name}", f"What each step is worth on {dataset.name}"
            warned = (*report.dataset.warnings, *notes)
            shown = _Shown(name, title, RANKING, RANKING[:1], chosen[0].name, warned, RANKING[:2])
            _finish(list(report.measured), None, shown, results, as_json)


@app.command()
def answers(
    gold: Questions = None,
    top_k: TopK = None,
    profile: Recipe = "",
    judge: JudgeModel = "",
    judge_url: JudgeUrl = "",
    repeat: Repeat = 1,
    text_metrics: TextMetrics = False,
    results: Annotated[Path | None, typer.Option(help="Folder for the rows (CSV) and the run (JSON).")] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions with reference answers and measure the answers; a run that was stopped goes on."""
    from ingestion.acts.evaluation import write_run

    with engine_of(workspace, as_json, profile=profile) as engine:
        request = _request(gold, top_k, judge, judge_url, repeat, text_metrics=text_metrics)
        recorded = _measure(engine, request)
        files = write_run(recorded, results) if results else ()
    end_as_json(as_json, asdict(recorded.run) | {"files": [str(file) for file in files]})
    _print_run(recorded.run)
    if files:
        say(f"Written: {files[0]} and {files[1].name}", console=err)


@app.command()
def gate(
    gold: Questions = None,
    against: Annotated[
        Path | None, typer.Option(help="Run to hold this one against; by default the workspace's accepted one.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Keep this run as the accepted one.")] = False,
    top_k: TopK = None,
    profile: Recipe = "",
    judge: JudgeModel = "",
    judge_url: JudgeUrl = "",
    repeat: Repeat = 1,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Hold the settings against the accepted run; exit code 1 where a figure fell by more than chance."""
    from rag_engine.evaluation.answers.accepted_run import (
        find_accepted,
        keep_run,
        read_run,
        require_accepted,
        require_answers,
    )
    from rag_engine.evaluation.answers.gate import compare_runs, keep_result

    with engine_of(workspace, as_json, profile=profile) as engine:
        kept = engine.config.workspace
        # Before any question is asked.
        accepted = read_run(against) if against else find_accepted(kept) if accept else require_accepted(kept)
        request = _request(gold, top_k, judge, judge_url, repeat)
        recorded = _measure(engine, request, anew=True)
        run = recorded.run
        require_answers(run)
        result = compare_runs(accepted, run, engine.collection.generation()) if accepted else None
        if result is not None and against is None:
            keep_result(kept, result)
        if accept:
            keep_run(kept, recorded.id)
    found, dropped, differing = (result.changes, result.dropped, result.differing) if result else ((), (), ())
    listed = [asdict(change) | {"dropped": change.dropped} for change in found]
    figures = {"changes": listed, "dropped": list(dropped), "differing": differing, "accepted": accept}
    code = 1 if dropped and not accept else 0
    end_as_json(as_json, figures, code)
    if accepted is None:
        _print_run(run)
    changes = []
    for change in found:
        means, figure = (f"{change.accepted:.3f}", f"{change.current:.3f}"), change.difference
        found_now = (f"{figure.value:+.3f}", f"{figure.low:+.3f}, {figure.high:+.3f}", f"{figure.p:.3f}")
        changes.append((change.metric, change.questions, *means, *found_now, "DROPPED" if change.dropped else ""))
    if changes:
        print_table(("metric", "n", "accepted", "now", "difference", "95%", "p", ""), changes)
    if differing:
        say(f"The runs differ in: {', '.join(differing)}.")
    if accept:
        out.print("This run is the accepted one now.")
    raise typer.Exit(code)


def _request(
    gold: Path | None,
    top_k: int | None,
    judge: str,
    judge_url: str,
    repeat: int,
    *,
    text_metrics: bool = False,
) -> AnswersRequest:
    """Return what the command line asks; a file of questions is named so that it is found from anywhere."""
    from rag_engine.evaluation.answers.run_answers import AnswersRequest

    named = str(gold.absolute()) if gold else ""
    return AnswersRequest(named, top_k, judge, judge_url, repeat, text_metrics)


def _measure(engine: Engine, request: AnswersRequest, *, anew: bool = False) -> RecordedRun:
    """Measure the answers with a bar on a terminal, elsewhere a line a question."""
    from rag_engine.evaluation.answers.measure import measure_answers

    with bar("Asking") as advance:

        def progress(done: int, total: int, now: str) -> None:
            advance(done, total, now)
            if not sys.stderr.isatty() and now:
                say(f"{done + 1} of {total}: {now}", console=err)

        return measure_answers(engine, request, anew=anew, progress=progress, warn=lambda words: warn(tuple(words)))


def _print_run(run: KeptRun) -> None:
    """Print the figures of a run over all questions, over each kind and over each language."""
    rows = []
    for figure in run.figures:
        mean, spread = figure.mean, "" if figure.spread is None else f"{figure.spread:.3f}"
        figures = (f"{mean.value:.3f}", f"{mean.low:.3f}-{mean.high:.3f}", spread)
        rows.append((figure.group, figure.metric, figure.questions, *figures))
    print_table(("questions", "metric", "n", "mean", "95%", "spread"), rows)
    failures = [f"{row.id}: {row.failure}" for row in run.rows if row.failure]
    warn(tuple(failures[:10]))
    if len(failures) > 10:
        warn((f"{len(failures) - 10} more questions or judgements failed; the table of rows says why.",))


def _on_passages(
    configurations: list[Configuration], documents: Path | None, gold: Path, split: str, at_most: int = 10_000
) -> tuple[tuple[PassageFigures, ...], Mapping[str, Sequence[bool]]]:
    """Return the figures on the questions with known passages, and the groups of the questions.

    All documents that the split's questions quote are searched, however few of the questions are asked.
    """
    from ingestion.add_files import read_documents
    from rag_engine.evaluation.gold import read_gold, spread
    from rag_engine.evaluation.run_passages import run_passages, subsets
    from rag_engine.evaluation.vector_cache import vectors_folder
    from rag_engine.models import open_encoder

    config = read_config()
    questions = read_gold(gold, cast("Split", split))
    folder = documents or shared_folder() / "data" / "corpus"
    with bar("Reading") as advance:
        named = (quote.document for question in questions for quote in question.quotes)
        read = read_documents(named, folder, config.ocr, advance)
    questions = spread(questions, at_most)
    embedder = open_encoder(config)
    with bar("Measuring") as advance:
        figures = run_passages(
            questions, read, configurations, config, embedder, cache=vectors_folder(), progress=advance
        )
    return figures, subsets(questions)


def _warned(figures: Sequence[PassageFigures]) -> list[str]:
    """Return what the searches of the configurations warned of."""
    return [f"{figure.measured.name}: {warning}" for figure in figures for warning in figure.warnings]


def _finish(
    measured: list[Measured],
    groups: Mapping[str, Sequence[bool]] | None,
    shown: _Shown,
    results: Path | None,
    as_json: bool,
) -> None:
    """Print the comparison and write it to the folder of results."""
    from rag_engine.evaluation.report import compare, foremost, markdown_table, write_report

    rows = compare(measured, shown.baseline, groups)
    written: list[Path] = []
    if results:
        written = write_report(
            results, shown.name, shown.title, rows, shown.metrics, shown.differences, shown.notes, shown.charts
        )
    if as_json:
        # One data set after another.
        print_json({"rows": [asdict(row) for row in rows], "notes": shown.notes, "files": [str(p) for p in written]})
        return
    say(f"# {shown.title}\n")
    say(markdown_table(foremost(rows), shown.metrics, shown.differences))
    for note in shown.notes:
        say(f"- {note}")
    for path in written:
        say(f"Written: {path}", console=err)


def _read(folders: list[Path], split: str, queries_from: Path | None, pooled: bool) -> list[Dataset]:
    from rag_engine.backends.identify_language import identify_language
    from rag_engine.evaluation.datasets import pool_datasets, read_dataset

    if pooled and queries_from:
        raise InputError(
            "--pooled and --queries-from cannot be combined.", help="Name the corpus of the questions first."
        )
    read = [
        read_dataset(folder, cast("Split", split), identify=identify_language, queries_from=queries_from)
        for folder in folders
    ]
    return [pool_datasets(read)] if pooled else read


def _print(report: dict[str, Any]) -> None:
    language = report["language"] or "language not known"
    say(
        f"{report['dataset']} ({report['split']}): {report['documents']:,} documents, {language}; "
        f"{report['queries']:,} questions; indexed in {report['index_seconds']:.0f} s, "
        f"{report['encode_seconds']:.0f} s of it encoding; a question is encoded in {report['query_encode_ms']:.0f} ms",
        "italic",
    )
    rows = []
    for one in report["configs"]:
        low, high = one["ndcg@10_interval"]
        metrics = [f"{one[metric]:.3f}" for metric in ("recall@10", "recall@100", "mrr@10", "map")]
        times = [f"{one[name]:.1f}" for name in ("ms_p50", "ms_p95")]
        versus = one.get("versus")
        against = ""
        if versus:
            found = versus["ndcg@10"]
            against = f"{versus['name']} {found['difference']:+.3f} (p {found['p']:.3f})"
        rows.append((one["name"], f"{one['ndcg@10']:.3f}", f"{low:.3f}-{high:.3f}", *metrics, *times, against))
    print_table(_COLUMNS, rows)
    warn(tuple(report["warnings"]))


@contextmanager
def _errors_reported(as_json: bool) -> Iterator[None]:
    """End the command at an error as all commands do.

    A request to end is an exception as well, so that the temporary collection is removed.
    """
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with errors_end(as_json):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)
