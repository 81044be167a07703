"""Verbs of `sextant eval own`: the workspace's own test questions, their runs, and two runs compared."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.jobs import watch
from cli.options import AsJson, Workspace
from cli.terminal import context_of, end_as_json, out, print_json, print_table, warn

if TYPE_CHECKING:
    from rag_engine.evaluation.answers.accepted_run import RecordedRun

app = typer.Typer(
    no_args_is_help=True,
    help="Ask the workspace its own test questions, and compare the results, as the Evaluation page does.",
)

RunIdOption = Annotated[str, typer.Argument(metavar="[RUN]", help="A run of `own runs`; without one the last.")]


@app.command("test")
def ask_all(
    judge: Annotated[str, typer.Option("--judge", help="A second model that judges: ollama/NAME or openai/NAME.")] = "",
    judge_url: Annotated[str, typer.Option("--judge-url", help="The judge's endpoint.")] = "",
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=20, help="How often each answer is judged.")] = 1,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ask every test question now and print the results; a test that was stopped continues."""
    from ingestion.acts.evaluation import queue_test
    from rag_engine.errors import BackendError
    from rag_engine.evaluation.answers.test_runs import read_test_run

    with context_of(workspace, as_json) as context:
        ended = watch(context, queue_test(context, judge, judge_url, repeat))
        if ended.status == "failed":
            raise BackendError(ended.message)
        if ended.status != "done":
            warn((f"Job {ended.id} is {ended.status}; the same command continues it.",))
            raise typer.Exit(130)
        _print_run(read_test_run(context.workspace, str(ended.results[0]["id"])), as_json)
        warn(tuple(filter(None, (ended.message,))))


@app.command()
def results(
    run: RunIdOption = "",
    table: Annotated[Path | None, typer.Option("--export", help="Write the questions of the run to this .csv.")] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Print the results of a run; --export writes it question by question."""
    from ingestion.acts.evaluation import exported_results
    from ingestion.dataset.export import write_file

    with context_of(workspace, as_json) as context:
        found = _run(context.workspace, run)
        if table is not None:
            write_file(table, exported_results(found))
        _print_run(found, as_json)


@app.command()
def runs(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the runs that were kept, the latest first."""
    from rag_engine.evaluation.answers.test_runs import list_test_runs

    with context_of(workspace, as_json) as context:
        found = list_test_runs(context.workspace)
    end_as_json(as_json, {"runs": [asdict(summary) for summary in found]})
    table = ("run", "questions", "model", "index")
    print_table(table, ((summary.id, summary.questions, summary.model, summary.generation) for summary in found))


@app.command()
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="The earlier run (`own runs`).")],
    after: RunIdOption = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs question by question."""
    from rag_engine.evaluation.answers.test_results import MEASURES, compare_tests, describe_chance, describe_result

    with context_of(workspace, as_json) as context:
        found = compare_tests(_run(context.workspace, before).run, _run(context.workspace, after).run)
    changes = [
        {
            "question": change.after.question,
            "change": change.change,
            "before": describe_result(change.before),
            "after": describe_result(change.after),
        }
        for change in found.changes
    ]
    shares = [asdict(share) | {"difference": share.verdict} for share in found.shares]
    end_as_json(as_json, {"questions": changes, "shares": shares, "settings": dict(found.settings)})
    rows = (
        (
            MEASURES[change.measure],
            change.questions,
            change.before,
            change.after,
            change.gained,
            change.lost,
            change.verdict,
        )
        for change in found.shares
    )
    print_table(("measure", "n", "before", "after", "right now", "wrong now", "difference"), rows)
    out.print(describe_chance(len(found.changes)), markup=False)
    if differing := [change.values() for change in changes if change["change"] != "same"]:
        print_table(("question", "change", "before", "after"), differing)
    if found.settings:
        print_table(("setting", "before", "after"), ((name, *pair) for name, pair in found.settings.items()))


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="Questions as `sextant eval answers` reads them.")],
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Take over questions of a file; one with a known id replaces it."""
    from ingestion.acts.evaluation import import_questions

    with context_of(workspace, as_json) as context:
        found = import_questions(context, file)
    end_as_json(as_json, asdict(found))
    out.print(f"{found.added} added, {found.replaced} replaced.")
    warn(tuple(f"{document} is not in the collection." for document in found.missing))


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="The file to write, one JSON object a line.")],
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Write the test questions to a file that `import` and `sextant eval answers` read."""
    from ingestion.acts.evaluation import export_questions

    with context_of(workspace, as_json) as context:
        count = export_questions(context, file)
    end_as_json(as_json, {"path": str(file), "questions": count})
    out.print(f"Wrote {count} questions to {file}.", markup=False)


@app.command("keep-good")
def keep_good(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Keep every answer that was rated good as a test question."""
    from ingestion.acts.evaluation import keep_good_answers

    with context_of(workspace, as_json) as context:
        kept = keep_good_answers(context)
    end_as_json(as_json, {"kept": [asdict(question) for question in kept]})
    for question in kept:
        out.print(question.question, markup=False, soft_wrap=True)
    out.print(f"{len(kept)} kept.")


def _run(workspace: Path, id: str) -> RecordedRun:
    from rag_engine.errors import InputError
    from rag_engine.evaluation.answers.test_runs import list_test_runs, read_test_run

    known = list_test_runs(workspace)
    if not known:
        raise InputError("There are no runs yet.", help="`sextant eval own test` makes one.")
    return read_test_run(workspace, id or known[0].id)


def _print_run(run: RecordedRun, as_json: bool) -> None:
    from rag_engine.evaluation.answers.test_results import MEASURES, describe_chance, describe_result, shares

    found = shares(run.run.rows)
    if as_json:
        listed = [asdict(share) | {"interval": asdict(share.interval)} for share in found]
        questions = [asdict(row) | {"result": describe_result(row)} for row in run.run.rows]
        print_json({"id": run.id, "settings": run.run.settings, "shares": listed, "questions": questions})
        return
    rows = (
        (MEASURES[share.measure], f"{share.right} of {share.questions}", f"{i.value:.0%}", f"{i.low:.0%}-{i.high:.0%}")
        for share in found
        for i in [share.interval]
    )
    print_table(("measure", "right", "share", "95%"), rows)
    out.print(describe_chance(len(run.run.rows)), markup=False)
    print_table(("result", "question"), ((describe_result(row), row.question) for row in run.run.rows))
