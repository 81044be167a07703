"""The sign of a terminal while a model is slow."""

import errno
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from sqlalchemy.exc import OperationalError
from typer.testing import CliRunner

from cli import terminal
from cli.main import app
from cli.terminal import PlainConsole, errors_end, spinner, watched
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.waiting import still_waiting
from tests.conftest import ROOT


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    monkeypatch.setattr(
        terminal,
        "err",
        Console(file=shown, force_terminal=True, force_interactive=True, width=80, _environ={"TERM": "xterm"}),
    )
    return shown


def test_a_slow_model_is_shown_with_the_seconds_it_has_taken(screen: io.StringIO) -> None:
    with spinner("Filling in the form"):
        still_waiting(73.4)
    assert "Filling in the form (73 s)" in screen.getvalue()


def test_a_pipe_gets_no_sign(capsys: pytest.CaptureFixture[str]) -> None:
    with spinner("Filling in the form"):
        still_waiting(73.4)
    assert capsys.readouterr().err == ""


def test_the_sign_says_what_is_done_and_goes_once_words_come(screen: io.StringIO) -> None:
    evidence = Evidence(QueryPlan("Why?", "en", ("why",)), (), ())
    parts = watched(iter([evidence, "Because ", "it is."]))
    assert next(parts) is evidence
    assert "Searching your documents" in screen.getvalue()
    assert next(parts) == "Because "
    assert "Writing the answer" in screen.getvalue()
    before = screen.getvalue()
    assert list(parts) == ["it is."]
    assert screen.getvalue() == before


@pytest.mark.parametrize("beneath", ["", "below"])
def test_a_file_in_the_place_of_the_workspace_is_a_sentence(tmp_path: Path, beneath: str) -> None:
    (tmp_path / "taken").write_text("A file.")
    result = CliRunner().invoke(app, ["list", "--workspace", str(tmp_path / "taken" / beneath)])
    assert result.exit_code == 2
    assert "cannot be a workspace" in " ".join(result.output.split())


def test_a_workspace_whose_path_is_not_utf_8_is_a_sentence_and_nothing_is_made(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["list", "--workspace", f"{tmp_path}/\udcff"])
    assert result.exit_code == 2
    assert "cannot be a workspace: its path is not UTF-8." in " ".join(result.output.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "failure",
    [
        OSError(errno.ENOSPC, "No space left on device", "/data/x"),
        PermissionError(errno.EACCES, "Permission denied", "/data/x"),
        OperationalError("INSERT", {}, Exception("database or disk is full")),
        OperationalError("INSERT", {}, Exception("attempt to write a readonly database")),
    ],
)
def test_a_disk_that_fails_ends_the_command_with_a_sentence(
    failure: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, errors_end(as_json=False):
        raise failure
    assert ended.value.exit_code == 2
    assert "See that the disk has room" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("hostile", ["\x1b[2J\x1b[31m", "\x9b2J", "\x1b]0;renamed\x07", "\r\x08\x7f", "\udcff"])
def test_no_title_acts_on_the_terminal_it_is_printed_on(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    title, shown = f"Flood{hostile} plan", io.StringIO()
    console = PlainConsole(file=shown, force_terminal=True, color_system=None, highlight=False, width=200)
    table = Table(title)
    table.add_row(title)
    for printed in (title, Text(title), table):
        console.print(printed, markup=False)
    assert not set(shown.getvalue()) & set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
    terminal.print_json({"title": title})
    written = capsys.readouterr().out
    assert not set(written) & set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))
    (shown.getvalue() + written).encode()
    assert json.loads(written) == {"title": title}
    assert isinstance(terminal.out, PlainConsole)
    assert isinstance(terminal.err, PlainConsole)


def test_a_pipe_gets_whole_cells_with_tabs_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 60
    terminal.print_table(
        (Column("code", no_wrap=True), Column("title", max_width=8, ratio=1)), [(1, long), ("A\t2", "")]
    )
    assert capsys.readouterr().out == f"code\ttitle\n1\t{long.strip()}\nA 2\t\n"
    terminal.print_table((), [("indexed", "[b]plan[/b].md\x1b[2J")])
    assert capsys.readouterr().out == "indexed\t[b]plan[/b].md[2J\n"
    terminal.print_table((), [])
    assert capsys.readouterr().out == ""


def test_a_table_is_as_wide_as_the_terminal_and_no_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    wide = PlainConsole(file=shown, force_terminal=True, color_system=None, highlight=False, width=60)
    monkeypatch.setattr(terminal, "out", wide)
    codes = ", ".join(f"A{number}" for number in range(100))
    terminal.print_table(("when", "on"), [("2026-11-28", codes)])
    lines = shown.getvalue().splitlines()
    assert lines[1].split()[0] == "2026-11-28"
    assert max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines[1:]).split()) == f"2026-11-28 {codes}"
    shown.seek(0)
    shown.truncate()
    columns = ("code", Column("title", no_wrap=True, overflow="ellipsis", ratio=1))
    terminal.print_table(columns, [("A1", "title " * 30)])
    assert [len(line.rstrip()) <= 60 for line in shown.getvalue().splitlines()] == [True, True]
    assert "…" in shown.getvalue()


def test_a_list_of_documents_is_not_cut_in_a_pipe(tmp_path: Path) -> None:
    title = "Plan of the river authority for floods and heat " * 3
    (tmp_path / "plan.md").write_text(f"# {title}\n\n" + "The mayor keeps the plan. " * 20)
    CliRunner().invoke(app, ["add", str(tmp_path / "plan.md"), "-w", str(tmp_path / "workspace")])
    listed = CliRunner().invoke(app, ["list", "-w", str(tmp_path / "workspace")]).stdout
    names, row = (line.split("\t") for line in listed.splitlines())
    assert names == ["id", "title", "file", "language", "date", "pages", "passages"]
    assert row[1:4] == [title.strip(), "plan.md", "en"]


def test_an_error_of_the_catalog_names_its_path_and_no_address(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").mkdir()
    result = CliRunner().invoke(app, ["list", "--workspace", str(tmp_path)])
    said = "".join(result.output.split())
    assert result.exit_code == 2
    assert f"Thecatalog{tmp_path}/catalog.sqlitecannotbeopened" in said
    assert "sqlite:" not in said


def test_what_the_command_writes_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("The mayor keeps the plan. " * 20)
    command = [sys.executable, "-m", "cli.main", "add", str(tmp_path / "plan.txt"), "--workspace"]
    subprocess.run([*command, str(tmp_path / "made")], cwd=ROOT, check=True, umask=0o022, capture_output=True)
    written = [path for path in (tmp_path / "made").rglob("*") if path.stat().st_mode & 0o077]
    assert written == []
