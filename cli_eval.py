"""The verbs that measure: retrieval on benchmark data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.table import Table

from cli_frame import AsJson, bar, err, print_json, print_table, warn
from rag_engine.config import read_config
from rag_engine.errors import InputError, SextantError

if TYPE_CHECKING:
    from rag_engine.evaluation.datasets import Dataset, Split

app = typer.Typer(
    no_args_is_help=True, help="Measure what is found, in a collection of its own; the workspace is not touched."
)

_COLUMNS = ("configuration", "nDCG@10", "95%", "recall@10", "recall@100", "MRR@10", "MAP", "ms p50", "p95", "against")


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
    from rag_engine.backends.encoder import load_encoder
    from rag_engine.evaluation.configurations import named_configurations
    from rag_engine.evaluation.retrieval_run import run_retrieval
    from rag_engine.evaluation.vector_cache import cache_folder

    with _errors_reported(as_json), bar("Measuring") as advance:
        configurations = named_configurations(names or ["default"])
        config = read_config()
        read = _read(datasets, split, queries_from, pooled)
        embedder = load_encoder(config.encoder, config.execution)
        reports = [
            run_retrieval(
                one, configurations, config, embedder, cache=cache_folder(), progress=advance, runs=runs
            ).to_dict()
            for one in read
        ]
    if as_json:
        print_json(reports[0] if len(reports) == 1 else {"datasets": reports})
        return
    for report in reports:
        _print(report)


def _read(folders: list[Path], split: str, queries_from: Path | None, pooled: bool) -> list[Dataset]:
    from rag_engine.backends.language import identify_language
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
    title = (
        f"{report['dataset']} ({report['split']}): {report['documents']:,} documents, {language}; "
        f"{report['queries']:,} questions; indexed in {report['index_seconds']:.0f} s, "
        f"{report['encode_seconds']:.0f} s of it encoding; a question is encoded in {report['query_encode_ms']:.0f} ms"
    )
    table = Table(*_COLUMNS, box=None, title=title, title_justify="left")
    for one in report["configs"]:
        low, high = one["ndcg@10_interval"]
        metrics = [f"{one[metric]:.3f}" for metric in ("recall@10", "recall@100", "mrr@10", "map")]
        times = [f"{one[name]:.1f}" for name in ("ms_p50", "ms_p95")]
        versus = one.get("versus")
        against = ""
        if versus:
            found = versus["ndcg@10"]
            against = f"{versus['name']} {found['difference']:+.3f} (p {found['p']:.3f})"
        table.add_row(one["name"], f"{one['ndcg@10']:.3f}", f"{low:.3f}-{high:.3f}", *metrics, *times, against)
    print_table(table)
    warn(tuple(report["warnings"]))


@contextmanager
def _errors_reported(as_json: bool) -> Iterator[None]:
    """Nothing; an error ends the command with its message and cure, and exit code 2."""
    try:
        yield
    except SextantError as error:
        if as_json:
            print_json({"error": str(error), "retryable": error.retryable})
        else:
            err.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None
